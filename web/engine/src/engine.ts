/** The client: an engine in a worker of its own. */
import { platform } from '#platform';
import { Abi } from './abi.js';
import { FileParts } from './file_parts.js';
import { Link } from './link.js';
import { chooseModule, facts, memoryFor, type Choice } from './modules.js';
import type { CallName, Calls } from './protocol.js';
import { Run, type Bytes, type TrainOptions } from './run.js';
import {
    EngineError,
    type EngineInfo,
    type Evaluation,
    type FileChunk,
    type FileInfo,
    type Kernel,
    type Likely,
    type LoadSettings,
    type Look,
    type ModuleName,
    type OddsSettings,
    type Plan,
    type Preset,
    type Probe,
    type RunSettings,
    type Rung,
    type SampledToken,
    type SampleSettings,
} from './types.js';

export interface EngineOptions {
    /** Chosen by what the host can do, when left out. */
    module?: ModuleName;
    /** Every processor, when left out. */
    threads?: number;
    /** The bits of plain C: the same losses on every machine, at the cost of speed. */
    strict?: boolean;
    /** Bytes that the run will need (planRun's), for the choice between 32 and 64-bit addresses. */
    needBytes?: number;
    /** A memory of this size from the start, which never grows. */
    fixedBytes?: number;
    /** Where runs and models are: the processor ('cpu', when left out); a GPU, or no engine; or a GPU where there is one ('auto'). */
    device?: 'cpu' | 'webgpu' | 'auto';
    /** A GPU that is emulated on the processor will do, for tests; 'tried': and one of its kernels is put on trial, as those of a real one are. */
    softwareGpu?: boolean | 'tried';
}

/** Text as its bytes. Whoever writes no TypeScript may give anything. */
function bytesOf(text: string | Uint8Array): Uint8Array {
    if (typeof text === 'string') return new TextEncoder().encode(text);
    if (text instanceof Uint8Array) return text;
    throw new EngineError('BAD_INPUT', 'a text must be a string or a Uint8Array');
}

function sizeOf(bytes: Bytes, size: number | undefined, what: string): number {
    if (typeof bytes !== 'object' || bytes === null) throw new EngineError('BAD_INPUT', `the ${what} must be a Uint8Array, or pieces of that kind`);
    const whole = size ?? (bytes instanceof Uint8Array ? bytes.length : undefined);
    if (whole === undefined) throw new EngineError('BAD_INPUT', `say how large the ${what} is`);
    if (!Number.isSafeInteger(whole) || whole < 0) throw new EngineError('BAD_INPUT', `the ${what} cannot have ${whole} bytes`);
    return whole;
}

interface Stoppable {
    signal?: AbortSignal;
}

export interface LadderOptions {
    /** By name; all, when left out. */
    kernels?: string[];
    /** Of the matrices: 256, 512 … 4096, when left out. */
    sizes?: number[];
}

const SIZES = [256, 512, 1024, 2048, 4096];

export class Engine {
    readonly info: EngineInfo;
    private readonly link: Link;
    private run: Run | undefined;
    /** What changes which run, model or file there is: one such call after another. */
    private turn: Promise<unknown> = Promise.resolve();

    constructor(link: Link, info: EngineInfo) {
        this.link = link;
        this.info = info;
        link.onRunEvent = (event) => this.run?.hear(event);
    }

    call<C extends CallName>(name: C, args: Calls[C]['args'], event?: (event: unknown) => void): Promise<Calls[C]['result']> {
        return this.link.call(name, args, event).result;
    }

    presets(): Promise<Preset[]> {
        return this.call('presets', null);
    }

    /** The planned memory and number of parameters of a run. */
    plan(settings: RunSettings): Promise<Plan> {
        return this.call('plan', settings);
    }

    /** How fast this machine multiplies matrices of size by size, with all threads of the module. */
    probe(ms = 200, size = 384): Promise<Probe> {
        return this.call('probe', { ms, size });
    }

    /** Bytes of the module's memory now. */
    memoryBytes(): Promise<number> {
        return this.call('memory', null);
    }

    /** What is held on the GPU: buffers and their bytes. */
    gpuMemory(): Promise<{ buffers: number; bytes: number }> {
        return this.call('gpuMemory', null);
    }

    private inTurn<T>(work: () => Promise<T>): Promise<T> {
        const mine = this.turn.then(work);
        this.turn = mine.catch(() => undefined);
        return mine;
    }

    private async leaveRun(): Promise<void> {
        await this.run?.leave();
        this.run = undefined;
    }

    private async give(what: 'corpus' | 'file', size: number, bytes: Bytes): Promise<void> {
        await this.call('beginBytes', { what, bytes: size });
        let position = 0;
        for await (const data of bytes instanceof Uint8Array ? [bytes] : bytes) {
            if (!(data instanceof Uint8Array)) throw new EngineError('BAD_INPUT', `a piece of the ${what} is no Uint8Array`);
            if (position + data.length > size) throw new EngineError('BAD_INPUT', `more than the ${size} bytes that were announced`);
            await this.call('fill', { what, position, data });
            position += data.length;
        }
        if (position !== size) throw new EngineError('BAD_INPUT', `${position} bytes, ${size} were announced`);
    }

    /** Opens a .tinygpt file: its bytes, or pieces of them and the size of all. Then load it, or train with `resume`. */
    importModel(bytes: Bytes, size?: number): Promise<FileInfo> {
        return this.inTurn(async () => {
            await this.give('file', sizeOf(bytes, size, 'file'), bytes);
            return this.call('openFile', null);
        });
    }

    /** The imported file's weights as a .safetensors file. */
    async safetensors(): Promise<Uint8Array<ArrayBuffer>> {
        const parts = new FileParts();
        await this.call('safetensors', null, (chunk) => parts.add(chunk as FileChunk));
        return parts.bytes();
    }

    /** Begins a run. What was loaded or trained before is gone. */
    train(options: TrainOptions): Promise<Run> {
        return this.inTurn(async () => {
            const { corpus, settings } = options ?? {};
            await this.leaveRun();
            if (corpus !== undefined) {
                const bytes = typeof corpus === 'string' ? bytesOf(corpus) : corpus;
                const size = sizeOf(bytes, options.corpusSize, 'corpus');
                await this.call('unload', null);
                await this.give('corpus', size, bytes);
            }
            const plan = await this.call('train', settings);
            return (this.run = new Run(this, plan, options));
        });
    }

    /** Makes the imported file's model ready to be evaluated, sampled, looked into. */
    load(settings: LoadSettings = {}): Promise<Plan> {
        return this.inTurn(async () => {
            await this.leaveRun();
            return this.call('load', settings);
        });
    }

    /** Lets go of the run or the loaded model. */
    unload(): Promise<void> {
        return this.inTurn(async () => {
            await this.leaveRun();
            await this.call('unload', null);
        });
    }

    /** Cancels a call when the signal says so, or has said so before. Returns what ends that. */
    private cancelOn(signal: AbortSignal | undefined, id: number): () => void {
        const cancel = () => void this.call('cancel', { id }).catch(() => undefined);
        if (signal?.aborted) cancel();
        signal?.addEventListener('abort', cancel, { once: true });
        return () => signal?.removeEventListener('abort', cancel);
    }

    /** The loss of a text: every byte but the first is scored once. */
    async evaluate(
        text: string | Uint8Array,
        options: { onProgress?: (progress: { done: number; total: number }) => void; signal?: AbortSignal } = {},
    ): Promise<Evaluation> {
        const { result, id } = this.link.call('evaluate', { text: bytesOf(text) }, (event) =>
            options.onProgress?.(event as { done: number; total: number }),
        );
        return result.finally(this.cancelOn(options.signal, id));
    }

    /** What a call tells, as it tells it. */
    private async *told<T>(name: 'sample' | 'ladder', args: Calls['sample' | 'ladder']['args'], signal: AbortSignal | undefined): AsyncGenerator<T, void, undefined> {
        if (signal?.aborted) return;
        const ready: T[] = [];
        let wake = () => {};
        let over = false;
        const { result, id } = this.link.call(name, args, (event) => {
            ready.push(...(event as T[]));
            wake();
        });
        const forget = this.cancelOn(signal, id);
        const finished = result.finally(() => {
            forget();
            over = true;
            wake();
        });
        finished.catch(() => undefined);
        try {
            for (;;) {
                while (ready.length) yield ready.shift()!;
                if (over) break;
                await new Promise<void>((resolve) => (wake = resolve));
            }
            await finished;
        } catch (error) {
            const aborted = signal?.aborted && error instanceof EngineError && error.status === 'INTERRUPTED';
            if (!aborted) throw error;
        } finally {
            if (!over) this.cancelOn(AbortSignal.abort(), id);
            await finished.catch(() => undefined);
        }
    }

    /** Tokens as they are made. Breaking out of the loop, or the signal, ends it. */
    sample(settings: SampleSettings, { signal }: Stoppable = {}): AsyncGenerator<SampledToken, void, undefined> {
        return this.told('sample', settings, signal);
    }

    /** The ways to multiply matrices here: the kernels of the GPU in use, and the processor. */
    kernels(): Promise<Kernel[]> {
        return this.call('kernels', null);
    }

    /** How fast each of them is on square matrices, smaller ones first: rungs as they are measured, some seconds for each size. Breaking out of the
     * loop, or the signal, ends it, and so does a run or a model that takes the engine; beside one it is refused. What one product
     * would hold up for too long is left out, and why is told. */
    ladder({ kernels, sizes = SIZES }: LadderOptions = {}, { signal }: Stoppable = {}): AsyncGenerator<Rung, void, undefined> {
        return this.told('ladder', { sizes, ...(kernels && { kernels }) }, signal);
    }

    /** What a sampler with these settings could draw from these logits, likeliest first, and how likely each is. Needs no model, and does no
     * forward pass. */
    async odds(logits: Float32Array, settings: OddsSettings = {}): Promise<Likely[]> {
        if (!(logits instanceof Float32Array)) throw new EngineError('BAD_INPUT', 'logits must be a Float32Array');
        return this.call('odds', { settings, logits: [...logits] });
    }

    /** Runs a text through the model to look inside; then lens and attention. */
    async look(text: string | Uint8Array): Promise<Look> {
        return this.call('look', { text: bytesOf(text) });
    }

    /** The logits (tokens x vocab) that the head would give after `layer` blocks, and with `top` the likeliest next
     * tokens of each position. As many as there are blocks: the model's own. */
    lens(layer: number, top = 0): Promise<{ values: Float32Array<ArrayBuffer>; top?: Likely[][] }> {
        return this.call('lens', { layer, top });
    }

    /** The attention weights of a block, heads x tokens x tokens: row i is where token i looks. */
    attention(layer: number): Promise<Float32Array<ArrayBuffer>> {
        return this.call('attention', { layer });
    }

    async close(): Promise<void> {
        await this.run?.pause().catch(() => undefined);
        await this.call('close', null).catch(() => undefined);
        this.link.close();
    }
}

/** Each is a worker. */
const MOST_THREADS = 256;

/** An engine in a worker of its own, with the fastest module that this host can run. */
export async function createEngine(options: EngineOptions = {}): Promise<Engine> {
    const { threads: wanted = Math.min(MOST_THREADS, platform.cores()), device = 'cpu', softwareGpu = false } = options;
    if (!['cpu', 'webgpu', 'auto'].includes(device)) throw new EngineError('BAD_INPUT', `device is '${device}', it must be cpu, webgpu or auto`);
    if (options.module && !Object.hasOwn(facts, options.module)) throw new EngineError('BAD_INPUT', `there is no module '${options.module}'`);
    if (!Number.isInteger(wanted) || wanted < 1 || wanted > MOST_THREADS) throw new EngineError('BAD_INPUT', `threads is ${wanted}, it must be 1 to ${MOST_THREADS}`);
    const choice: Choice = options.module ? { module: options.module, reasons: ['it was asked for'] } : chooseModule(options);
    const threads = facts[choice.module].threads ? wanted : 1;
    const link = new Link(platform.spawn());
    try {
        const info = await link.call('open', {
            ...choice,
            threads,
            device,
            softwareGpu,
            ...(options.fixedBytes ? { fixedBytes: options.fixedBytes } : {}),
        }).result;
        return new Engine(link, info);
    } catch (error) {
        link.close();
        throw error;
    }
}

/** Plans allocate nothing large. */
const PLANNER_BYTES = 32 << 20;

/** The module that runs are likely to use, so that it is fetched once; on this thread, with no other. */
let planner: Promise<Abi> | undefined;

function getPlanner(): Promise<Abi> {
    return (planner ??= (async () => {
        const { module } = chooseModule();
        const { memory } = memoryFor(module, PLANNER_BYTES);
        const host = { memory, threads: 1, startThread: () => false, write: () => {} };
        const abi = new Abi(await platform.compile(module), facts[module].wide, host);
        abi.call('open', 1);
        return abi;
    })());
}

/** The planned memory and number of parameters of a run, without an engine; its `bytes` are createEngine's needBytes. */
export async function planRun(settings: RunSettings): Promise<Plan> {
    return (await getPlanner()).callWith('plan', settings) as Plan;
}

export async function listPresets(): Promise<Preset[]> {
    return (await getPlanner()).call('presets') as Preset[];
}
