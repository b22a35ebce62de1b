/** What the engine takes and gives. Names of settings are those of src/wasm/settings.c. */

/** The modules that the package ships, and two for tests and measurements. */
export type ModuleName =
    | 'wasm32'
    | 'wasm32-threads'
    | 'wasm32-relaxed'
    | 'wasm64-relaxed'
    | 'wasm64-threads'
    | 'scalar';

export interface ModelSettings {
    /** Sizes to start from; the fields below replace its own. */
    preset?: string;
    layers?: number;
    dModel?: number;
    heads?: number;
    dMlp?: number;
    ctx?: number;
    vocab?: number;
    dropout?: number;
}

export interface RunSettings extends ModelSettings {
    steps?: number;
    /** Windows per micro-batch. */
    batch?: number;
    /** Micro-batches per step. */
    accum?: number;
    lr?: number;
    /** Of cosine and wsd: the rate of the last step. With constant it is refused. */
    minLr?: number;
    warmup?: number;
    schedule?: 'constant' | 'cosine' | 'wsd';
    /** Of wsd: steps of falling rate at the end (0: a tenth), and their shape. */
    decaySteps?: number;
    decayShape?: '1-sqrt' | 'linear' | 'cosine';
    /** When a step's loss is a spike; there is no rollback here. */
    onSpike?: 'off' | 'warn' | 'skip' | 'stop';
    beta1?: number;
    beta2?: number;
    eps?: number;
    weightDecay?: number;
    /** Largest gradient norm; 0 = off. */
    clip?: number;
    /** Below 2^64; as text where a number could not hold it. */
    seed?: number | string;
    evalEvery?: number;
    evalBatches?: number;
    sampleEvery?: number;
    sampleTokens?: number;
    samplePrompt?: string;
    saveEvery?: number;
    readEvery?: number;
    recompute?: 'none' | 'cheap' | 'block';
    init?: 'default' | 'upstream';
    /** Windows per call when a text is evaluated (those of a batch, at most 8). */
    evalRows?: number;
    /** Memory for looking inside (true). */
    inspect?: boolean;
    /** Of a plan without a corpus (1 MiB). */
    corpusBytes?: number;
    /** Of a plan, for its `refusal`: the memory that can be had (what the module reaches), and a GPU's limits (GpuInfo's), where the run
     * is to be there. */
    memoryBytes?: number;
    gpuBufferBytes?: number;
    gpuBindingBytes?: number;
    /** What a GPU gives in all, where that is known. */
    gpuBytes?: number;
    /** Go on where the imported file's run stood: its model's sizes, weights, moments, step and losses. The seed and the
     * samples per step must be its own. */
    resume?: boolean;
    /** Of a run that goes on: with half the learning rate it had, as after a rollback. */
    halveLr?: boolean;
}

/** Of the imported file's model. */
export interface LoadSettings extends Pick<RunSettings, 'inspect' | 'evalRows'> {
    /** What linear layers, token embedding and head are kept in ('f32'). The others need half or a quarter of the memory, and a GPU:
     * on the processor they are UNSUPPORTED. A model that leaves its GPU is loaded anew in f32. */
    weights?: 'f32' | 'f16' | 'int8';
}

export interface SampleSettings {
    /** Empty: a newline. */
    prompt?: string;
    tokens?: number;
    /** 0: always the likeliest. */
    temperature?: number;
    topK?: number;
    topP?: number;
    minP?: number;
    repetitionPenalty?: number;
    seed?: number | string;
    /** Likeliest tokens told with each, up to 64. */
    top?: number;
    /** Tell all logits with each. */
    logits?: boolean;
}

/** How a sampler narrows what may be drawn: of SampleSettings, what needs no text. Temperature is 1, and the others off, where left out. */
export type OddsSettings = Pick<SampleSettings, 'temperature' | 'topK' | 'topP' | 'minP'>;

export interface Preset {
    name: string;
    layers: number;
    dModel: number;
    heads: number;
    dMlp: number;
    ctx: number;
    vocab: number;
    batch: number;
    steps: number;
    params: number;
}

export interface Plan {
    params: number;
    /** Of everything: model, run, corpus, and what the module itself needs. */
    bytes: number;
    arenas: { model: number; run: number; step: number; call: number; host: number };
    /** What the module that answered can reach, and whether it is enough. */
    addressableBytes: number;
    fits: boolean;
    /** A sentence, where there is no room for the run: what it needs, what there is, and which batch would do. */
    refusal?: string;
    /** Of the key-value cache that sampling fills. */
    cacheBytes: number;
}

/** A GPU as the browser tells of it. */
export interface GpuInfo {
    /** What it is called. */
    adapter: string;
    /** It is emulated on the processor. */
    software: boolean;
    f16: boolean;
    subgroups: boolean;
    /** Products of small matrices by a group of threads (experimental in browsers). */
    subgroupMatrix: boolean;
    timestamps: boolean;
    /** The largest buffer, and the most of it that a program reaches at once. */
    bufferBytes: number;
    bindingBytes: number;
    /** Memory and threads of a workgroup. */
    workgroupBytes: number;
    invocations: number;
}

export interface EngineInfo {
    /** Where runs and models are. */
    device: 'cpu' | 'webgpu';
    /** That of the device. */
    gpu?: GpuInfo;
    /** Why the processor, though a GPU would have done; for people. */
    whyNoGpu?: string;
    version: string;
    module: ModuleName;
    /** "wasm-relaxed": fused multiply-adds; "wasm": the bits of plain C. */
    isa: string;
    addressBits: 32 | 64;
    threads: number;
    /** The most that its memory may grow to. */
    memoryBytes: number;
    /** Why this module and not a faster one, for people. */
    reasons: string[];
}

export interface FileInfo {
    version: number;
    dtype: 'f32' | 'f32 weights' | 'f16' | 'int4';
    layers: number;
    dModel: number;
    heads: number;
    dMlp: number;
    ctx: number;
    vocab: number;
    step: number;
    params: number;
    /** To go on with its run: what the file tells of the settings it was trained with, defaults for the rest. */
    run: RunSettings;
    /** The file's whole header, as it stands there. */
    header: Record<string, unknown>;
}

export type RunEvent =
    | {
          type: 'step';
          step: number;
          /** Nats per token, of the step's targets, before its update. */
          loss: number;
          gradNorm: number;
          lr: number;
          seconds: number;
          /** 0 while unknown. */
          tokensPerSecond: number;
      }
    | { type: 'spiked'; step: number; loss: number; limit: number; did: string }
    | { type: 'evaluated'; step: number; loss: number }
    | { type: 'sampled'; step: number; text: string }
    | { type: 'saving'; step: number }
    | { type: 'saved'; step: number; bytes: number; failed: boolean }
    /** Before the first step: kernels of a GPU that are tried, then the programs of the run. The remark, with the last kernel: which of
     * them failed and are not used. */
    | { type: 'compiling'; done: number; total: number; remark?: string }
    /** The GPU was lost, or left; the run goes on from this step, whose successors are told anew. */
    | { type: 'restored'; step: number; device: 'cpu' | 'webgpu'; message: string };

/** A piece of a checkpoint: bytes from `position` on. They come in order, but for corrections of bytes that came
 * before, which come last. What `FileSystemWritableFileStream.write` takes. */
export interface FileChunk {
    position: number;
    data: Uint8Array<ArrayBuffer>;
}

export interface Likely {
    id: number;
    p: number;
    text: string;
}

export interface SampledToken {
    id: number;
    /** The characters that became complete with this token; may be empty. */
    text: string;
    /** Of this token, at temperature 1. */
    p: number;
    top?: Likely[];
    /** Of the distribution that it came from, after the repetition penalty. */
    logits?: Float32Array<ArrayBuffer>;
}

export interface Evaluation {
    /** Nats per token. */
    loss: number;
    perplexity: number;
    bits: number;
    tokens: number;
}

export interface Look {
    tokens: { id: number; text: string }[];
    layers: number;
    heads: number;
    vocab: number;
}

export interface Probe {
    gflops: number;
    seconds: number;
}

/** A way to multiply matrices: a kernel of the GPU in use, or the processor. */
export interface Kernel {
    name: string;
    device: 'webgpu' | 'cpu';
    /** What it needs and this GPU lacks: "subgroups". */
    lacks?: string;
}

/** How long one product takes, measured in blocks of many. */
export interface Timing {
    /** Of one product: the median over the blocks. */
    seconds: number;
    gflops: number;
    blocks: number;
    /** Of a block: its products, and the seconds of the shortest (0.01 at least). */
    products: number;
    shortest: number;
}

/** One kernel at one size: how long it takes, or why that is not known; for people. */
export type Rung = { kernel: string; size: number } & (Timing | { why: string });

/** What went wrong: the engine's status and its sentence. */
export class EngineError extends Error {
    readonly status: string;
    constructor(status: string, message: string) {
        super(message);
        this.name = 'EngineError';
        this.status = status;
    }
}
