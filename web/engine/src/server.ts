/** The worker's side of the protocol: each call and its answer. One that takes long works in slices and goes back to the event loop between
 * them, so that others can be heard: a run (job.ts) goes on while its model is evaluated. */
import { platform } from '#platform';
import { Abi, type PlainCall } from './abi.js';
import { GpuInUse } from './gpu_in_use.js';
import { Job } from './job.js';
import { Ladder } from './ladder.js';
import { facts, memoryFor } from './modules.js';
import type { Port } from './platform.js';
import { RUN_EVENTS, type CallName, type Calls, type OpenOptions, type Request } from './protocol.js';
import { Threads } from './threads.js';
import { EngineError, type EngineInfo, type FileChunk, type LoadSettings, type Plan, type RunSettings, type SampledToken } from './types.js';

/** Of what someone waits for: short. */
const SLICE_MS = 15;

type Handlers = { [C in CallName]: (args: Calls[C]['args'], id: number) => Calls[C]['result'] | Promise<Calls[C]['result']> };
/** What the engine does one of at a time. */
type Single = 'evaluate' | 'sample' | 'look' | 'ladder';

export class Server {
    private readonly port: Port;
    private abi: Abi | undefined;
    private threads: Threads | undefined;
    private readonly gpu = new GpuInUse(() => this.engine());
    private readonly job = new Job(() => this.engine(), this.gpu, (event, transfer) => this.tell(RUN_EVENTS, event, transfer));
    private readonly ladder = new Ladder(() => this.engine(), this.gpu);
    /** Whose pieces of a file are written: a run's, or a call's. */
    private writer = RUN_EVENTS;
    private readonly cancelled = new Set<number>();
    /** Who waits for what the engine has one of. */
    private readonly last: Record<Single, Promise<unknown>> = { evaluate: Promise.resolve(), sample: Promise.resolve(), look: Promise.resolve(), ladder: Promise.resolve() };

    constructor(port: Port) {
        this.port = port;
    }

    async serve({ id, call, args }: Request): Promise<void> {
        try {
            const handler = this.handlers[call] as (args: unknown, id: number) => unknown;
            const result = await handler(args, id);
            this.port.post({ id, result }, transferable(result));
        } catch (error) {
            const status = error instanceof EngineError ? error.status : 'INTERNAL';
            const message = error instanceof Error ? error.message : String(error);
            this.port.post({ id, failure: { status, message } });
        }
        this.cancelled.delete(id);
    }

    private tell(id: number, event: unknown, transfer?: ArrayBuffer[]): void {
        this.port.post({ id, event }, transfer);
    }

    private engine(): Abi {
        if (!this.abi) throw new EngineError('BAD_INPUT', 'the engine is not open');
        return this.abi;
    }

    private async open({ module: name, threads: wanted, reasons, fixedBytes, device, softwareGpu }: OpenOptions): Promise<EngineInfo> {
        const module = await platform.compile(name);
        const { memory, maxBytes } = memoryFor(name, fixedBytes);
        const { threads: canThread, wide } = facts[name];
        const others = canThread ? wanted - 1 : 0;
        const threads = others ? await Threads.start(others, { module, memory, wide }) : undefined;
        const count = 1 + (threads?.count ?? 0);
        this.threads = threads;
        this.abi = new Abi(module, wide, {
            memory,
            threads: count,
            startThread: (thread, stackTop, tls) => threads?.run(thread, stackTop, tls) ?? false,
            write: (position, data) => this.write({ position, data }),
            gpus: this.gpu.shelf,
        });
        this.abi.call('open', count);
        const whyNoGpu = device === 'cpu' ? '' : await this.gpu.open(softwareGpu);
        if (whyNoGpu && device === 'webgpu') throw new EngineError('UNSUPPORTED', whyNoGpu);
        const about = this.abi.call('about') as Omit<EngineInfo, 'module' | 'reasons' | 'memoryBytes' | 'device'>;
        const { now: gpu } = this.gpu;
        return { ...about, device: gpu ? 'webgpu' : 'cpu', ...(gpu && { gpu: gpu.info }), ...(whyNoGpu && { whyNoGpu }), module: name, memoryBytes: maxBytes, reasons };
    }

    private write(chunk: FileChunk): void {
        if (this.writer === RUN_EVENTS) this.job.write(chunk);
        else this.tell(this.writer, chunk, [chunk.data.buffer]);
    }

    /** Until the engine has nothing left to do, telling each slice's result. */
    private async poll(id: number, name: PlainCall, told: (result: unknown) => void): Promise<unknown> {
        for (;;) {
            const { again, waits, result } = this.engine().poll(name, SLICE_MS);
            if (!again) return result;
            told(result);
            await this.gpu.rest(waits);
            if (this.cancelled.has(id)) throw new EngineError('INTERRUPTED', 'it was cancelled');
        }
    }

    /** Each token with its share of the logits of the last poll. */
    private withLogits(tokens: SampledToken[]): SampledToken[] {
        const all = this.engine().logits();
        const vocab = all.length / tokens.length;
        return tokens.map((token, i) => ({ ...token, logits: all.slice(i * vocab, (i + 1) * vocab) }));
    }

    /** Asked of the model: when its GPU goes away meanwhile, that fails, and the model is brought back. */
    private async orLost<T>(work: () => Promise<T>): Promise<T> {
        try {
            await this.job.ready();
            return await work();
        } catch (error) {
            await this.job.recoverFrom(error);
            throw new EngineError('LOST', 'The GPU restarted meanwhile, and the model is back: ask again.');
        }
    }

    /** One after another: they share their values. */
    private alone<T>(what: Single, id: number, work: () => Promise<T>): Promise<T> {
        const mine = this.last[what].then(() => {
            if (this.cancelled.has(id)) throw new EngineError('INTERRUPTED', 'it was cancelled');
            return work();
        });
        this.last[what] = mine.catch(() => undefined);
        return mine;
    }

    private askModel<T>(what: Single, id: number, work: () => Promise<T>): Promise<T> {
        return this.alone(what, id, () => this.orLost(work));
    }

    /** Nothing is measured beside a run or a model. */
    private async endLadder(): Promise<void> {
        this.ladder.stop();
        await this.last.ladder;
    }

    private async place(what: 'train' | 'load', settings: RunSettings & LoadSettings): Promise<Plan> {
        await this.endLadder();
        return this.job.place(what, settings);
    }

    private close(): null {
        this.abi?.close();
        this.threads?.close();
        this.abi = this.threads = undefined;
        return null;
    }

    private plain(name: PlainCall, ...args: number[]): null {
        this.engine().call(name, ...args);
        return null;
    }

    private readonly handlers: Handlers = {
        open: (options) => this.open(options),
        presets: () => this.engine().call('presets') as Calls['presets']['result'],
        plan: (settings) => this.engine().callWith('plan', settings) as Calls['plan']['result'],
        probe: ({ ms, size }) => {
            if (!Number.isFinite(ms)) throw new EngineError('BAD_INPUT', `ms is ${ms}, which is no number`);
            return this.engine().call('probe', ms, whole('size', size)) as Calls['probe']['result'];
        },
        memory: () => this.engine().memory.buffer.byteLength,
        beginBytes: ({ what, bytes }) => {
            this.engine().beginBytes(what, bytes);
            return null;
        },
        fill: ({ what, position, data }) => {
            this.engine().fill(what, position, data);
            return null;
        },
        openFile: () => this.engine().call('file_open') as Calls['openFile']['result'],
        safetensors: (_, id) => {
            this.writer = id;
            try {
                return this.plain('file_safetensors');
            } finally {
                this.writer = RUN_EVENTS;
            }
        },
        train: (settings) => this.place('train', settings),
        run: () => this.job.run(),
        pause: () => {
            this.job.pause();
            return null;
        },
        stop: () => {
            this.job.stop();
            return null;
        },
        useCpu: () => {
            this.job.useCpu();
            return null;
        },
        gpuMemory: () => ({ ...(this.gpu.now?.live ?? { buffers: 0, bytes: 0 }) }),
        save: async () => {
            await this.job.save();
            return null;
        },
        continue: ({ steps }) => {
            if (!Number.isSafeInteger(steps)) throw new EngineError('BAD_INPUT', `steps is ${steps}, it must be a whole number`);
            this.job.continue(steps);
            return null;
        },
        load: (settings) => this.place('load', settings),
        unload: async () => {
            await this.endLadder();
            this.job.unload();
            return null;
        },
        evaluate: ({ text }, id) =>
            this.askModel('evaluate', id, async () => {
                this.engine().callWith('evaluate', text);
                return (await this.poll(id, 'evaluate_poll', (result) => this.tell(id, result))) as Calls['evaluate']['result'];
            }),
        sample: (settings, id) =>
            this.askModel('sample', id, async () => {
                this.engine().callWith('sample', settings);
                const tell = (tokens: unknown) => this.tell(id, settings.logits ? this.withLogits(tokens as SampledToken[]) : tokens);
                tell(await this.poll(id, 'sample_poll', tell));
                return null;
            }),
        odds: (question) => this.engine().callWith('odds', question) as Calls['odds']['result'],
        look: ({ text }, id) =>
            this.askModel('look', id, async () => this.engine().callWith('look', text) as Calls['look']['result']),
        lens: ({ layer, top }, id) =>
            this.askModel('look', id, async () => {
                this.engine().call('lens', whole('layer', layer));
                await this.poll(id, 'look_poll', () => {});
                const values = this.engine().values();
                if (!top) return { values };
                return { values, top: this.engine().call('lens_top', whole('top', top)) as NonNullable<Calls['lens']['result']['top']> };
            }),
        attention: ({ layer }, id) =>
            this.askModel('look', id, async () => {
                this.engine().call('attention', whole('layer', layer));
                await this.poll(id, 'look_poll', () => {});
                return this.engine().values();
            }),
        kernels: () => this.ladder.kernels(),
        ladder: (settings, id) => {
            const taken = this.ladder.watch();
            const whyEnd = () => (taken() ? 'a run or a model took the engine' : this.cancelled.has(id) ? 'it was cancelled' : '');
            return this.alone('ladder', id, async () => {
                await this.ladder.climb(settings, (rung) => this.tell(id, [rung]), whyEnd);
                return null;
            });
        },
        cancel: ({ id }) => {
            this.cancelled.add(id);
            return null;
        },
        close: () => this.close(),
    };
}

/** For the module, which would cut off what is too large for 32 bits, or no number. */
function whole(what: string, n: number): number {
    if ((n | 0) !== n) throw new EngineError('BAD_INPUT', `${what} is ${n}, it must be a whole number`);
    return n;
}

/** Large results are handed over rather than copied. */
function transferable(result: unknown): ArrayBuffer[] {
    if (result instanceof Float32Array && result.buffer instanceof ArrayBuffer) return [result.buffer];
    if (typeof result === 'object' && result !== null && 'values' in result) return transferable(result.values);
    return [];
}
