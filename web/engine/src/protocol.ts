/** Messages between the client and the worker that hosts an instance. */
import type {
    EngineInfo,
    Evaluation,
    FileInfo,
    Kernel,
    Likely,
    LoadSettings,
    Look,
    ModuleName,
    OddsSettings,
    Plan,
    Preset,
    Probe,
    RunSettings,
    SampleSettings,
} from './types.js';

/** No call's id. */
export const RUN_EVENTS = 0;

export interface OpenOptions {
    module: ModuleName;
    threads: number;
    reasons: string[];
    fixedBytes?: number;
    device: 'cpu' | 'webgpu' | 'auto';
    softwareGpu: boolean | 'tried';
}

export interface LadderSettings {
    /** All, when left out. */
    kernels?: string[];
    sizes: number[];
}

/** What can be asked: argument and result of each. */
export interface Calls {
    open: { args: OpenOptions; result: EngineInfo };
    presets: { args: null; result: Preset[] };
    plan: { args: RunSettings; result: Plan };
    probe: { args: { ms: number; size: number }; result: Probe };
    /** Memory of the module now. */
    memory: { args: null; result: number };
    beginBytes: { args: { what: 'corpus' | 'file'; bytes: number }; result: null };
    fill: { args: { what: 'corpus' | 'file'; position: number; data: Uint8Array }; result: null };
    openFile: { args: null; result: FileInfo };
    /** Events: FileChunk. */
    safetensors: { args: null; result: null };
    train: { args: RunSettings; result: Plan };
    /** Works on the run until it is over or paused. RunEvent and FileChunk come as events of RUN_EVENTS, whoever asked. */
    run: { args: null; result: { paused: boolean } };
    pause: { args: null; result: null };
    stop: { args: null; result: null };
    /** The run leaves the GPU and goes on from its last safe state. */
    useCpu: { args: null; result: null };
    /** What is held on the GPU. */
    gpuMemory: { args: null; result: { buffers: number; bytes: number } };
    save: { args: null; result: null };
    continue: { args: { steps: number }; result: null };
    load: { args: LoadSettings; result: Plan };
    unload: { args: null; result: null };
    /** Events: {done, total}. */
    evaluate: { args: { text: Uint8Array }; result: Evaluation };
    /** Events: SampledToken[]. */
    sample: { args: SampleSettings; result: null };
    odds: { args: { settings: OddsSettings; logits: number[] }; result: Likely[] };
    look: { args: { text: Uint8Array }; result: Look };
    lens: { args: { layer: number; top: number }; result: { values: Float32Array<ArrayBuffer>; top?: Likely[][] } };
    attention: { args: { layer: number }; result: Float32Array<ArrayBuffer> };
    kernels: { args: null; result: Kernel[] };
    /** Events: Rung. */
    ladder: { args: LadderSettings; result: null };
    /** Ends a call that is under way; it then fails with INTERRUPTED. */
    cancel: { args: { id: number }; result: null };
    close: { args: null; result: null };
}

export type CallName = keyof Calls;

export interface Request {
    id: number;
    call: CallName;
    args: unknown;
}

export type Response =
    | { id: number; event: unknown }
    | { id: number; result: unknown }
    | { id: number; failure: { status: string; message: string } };
