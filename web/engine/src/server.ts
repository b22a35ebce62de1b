/** The worker's side of the protocol. Each call that takes long works in slices and goes back to the event loop between
 * them, so that others can be heard: a run goes on while its model is evaluated. */
import { platform } from '#platform';
import { Abi, type PlainCall } from './abi.js';
import type { FileParts } from './file_parts.js';
import { FINE, Gpu } from './gpu.js';
import { GpuShelf } from './gpu_imports.js';
import { facts, memoryFor } from './modules.js';
import type { Port } from './platform.js';
import { RUN_EVENTS, type CallName, type Calls, type OpenOptions, type Request } from './protocol.js';
import { SafeState } from './safe_state.js';
import { Threads } from './threads.js';
import { EngineError, type EngineInfo, type FileChunk, type Plan, type RunEvent, type RunSettings, type SampledToken } from './types.js';

/** Of a run: long enough that the way to the event loop and back does not count. Of what someone waits for: short. */
const RUN_SLICE_MS = 50;
const SLICE_MS = 15;
/** A GPU that is lost twice within this time is not trusted any more. */
const TRUST_MS = 60_000;

type Handlers = { [C in CallName]: (args: Calls[C]['args'], id: number) => Calls[C]['result'] | Promise<Calls[C]['result']> };
/** What the engine does one of at a time. */
type Single = 'evaluate' | 'sample' | 'look';
type FailedEvent = { type: 'failed'; status: string; message: string };

export class Server {
    private readonly port: Port;
    private abi: Abi | undefined;
    private threads: Threads | undefined;
    /** In use; its successor takes its place. */
    private gpu: Gpu | undefined;
    private readonly gpus = new GpuShelf();
    private softwareGpu = false;
    private lostAt = -Infinity;
    private recovering: Promise<void> | undefined;
    /** What was asked for: to have it again on another device. */
    private wanted: { what: 'train' | 'load'; settings: RunSettings } | undefined;
    private readonly safe = new SafeState();
    private compiled = 0;
    private running = false;
    private pausing = false;
    private stopping = false;
    private over = false;
    /** Grows with each run or model, and when it is let go. */
    private generation = 0;
    /** Of the checkpoints that were asked for: how many, how many the one under way is for, and how many are had. */
    private saves = { asked: 0, begun: 0, done: 0 };
    /** Whose pieces of a file are written: a run's, or a call's. */
    private writer = RUN_EVENTS;
    private readonly cancelled = new Set<number>();
    /** Who waits for what the engine has one of. */
    private readonly last: Record<Single, Promise<unknown>> = { evaluate: Promise.resolve(), sample: Promise.resolve(), look: Promise.resolve() };

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
            gpus: this.gpus,
        });
        this.abi.call('open', count);
        const whyNoGpu = device === 'cpu' ? '' : await this.tryGpu(softwareGpu);
        if (whyNoGpu && device === 'webgpu') throw new EngineError('UNSUPPORTED', whyNoGpu);
        const about = this.abi.call('about') as Omit<EngineInfo, 'module' | 'reasons' | 'memoryBytes' | 'device'>;
        const { gpu } = this;
        return { ...about, device: gpu ? 'webgpu' : 'cpu', ...(gpu && { gpu: gpu.info }), ...(whyNoGpu && { whyNoGpu }), module: name, memoryBytes: maxBytes, reasons };
    }

    private write(chunk: FileChunk): void {
        const run = this.writer === RUN_EVENTS;
        if (run && !this.safe.add(chunk, this.saves.asked > this.saves.done)) return;
        this.tell(this.writer, chunk, [chunk.data.buffer]);
    }

    /** Why there is no GPU to use; empty when there is one. */
    private async tryGpu(software: boolean): Promise<string> {
        this.softwareGpu = software;
        try {
            const text = platform.shaders();
            text.catch(() => undefined);
            await this.freshGpu();
            this.engine().callWith('shaders', await text);
            return '';
        } catch (error) {
            if (!(error instanceof EngineError)) throw error;
            return error.message;
        }
    }

    /** In place of the one in use, if any; what was on that is gone. */
    private async freshGpu(): Promise<void> {
        const gpu = await Gpu.open({ software: this.softwareGpu });
        this.gpus.offer(gpu);
        this.engine().call('use_gpu', 1);
        this.gpu = gpu;
        this.compiled = 0;
    }

    /** Until the engine has nothing left to do, telling each slice's result. */
    private async poll(id: number, name: PlainCall, told: (result: unknown) => void): Promise<unknown> {
        for (;;) {
            const { again, waits, result } = this.engine().poll(name, SLICE_MS);
            if (!again) return result;
            told(result);
            await this.rest(waits);
            if (this.cancelled.has(id)) throw new EngineError('INTERRUPTED', 'it was cancelled');
        }
    }

    /** Each token with its share of the logits of the last poll. */
    private withLogits(tokens: SampledToken[]): SampledToken[] {
        const all = this.engine().logits();
        const vocab = all.length / tokens.length;
        return tokens.map((token, i) => ({ ...token, logits: all.slice(i * vocab, (i + 1) * vocab) }));
    }

    /** Back to the event loop: at once, or until the GPU has told something. */
    private rest(waits: boolean): Promise<void> {
        return waits && this.gpu ? this.gpu.news() : platform.tick();
    }

    /** A slice of the run: whether there is more, and whether that waits. */
    private train(ms: number): 'over' | 'more' | 'waits' | 'lost' {
        const { again, waits, result } = this.engine().poll('train_poll', ms);
        const events = result as (RunEvent | FailedEvent)[];
        const end = events.at(-1);
        const lost = this.gpu !== undefined && end?.type === 'failed' && end.status === 'LOST';
        for (const event of events) {
            if (lost && (event === end || (event.type === 'saved' && event.failed))) continue; // it is saved once it is restored
            if (event.type === 'failed') {
                this.tellUntold(true);
                throw new EngineError(event.status, event.message);
            }
            this.hear(event);
        }
        if (lost) return 'lost';
        if (this.gpu) this.tellCompiling(this.gpu);
        if (again) return waits ? 'waits' : 'more';
        this.tellUntold(true);
        return 'over';
    }

    private hear(event: RunEvent): void {
        const { quiet } = this.safe;
        if (event.type === 'saving' && !quiet) this.saves.begun = this.saves.asked;
        if (event.type === 'saved') {
            if (!quiet) this.saves.done = this.saves.begun;
            this.safe.end(event);
            this.tellUntold(false);
        }
        if (!quiet || (event.type !== 'saving' && event.type !== 'saved')) this.tell(RUN_EVENTS, event);
    }

    /** A checkpoint that was made for the safe state alone is told after all when it is one of those that whoever trains expects. */
    private tellUntold(over: boolean): void {
        const saved = this.safe.untold(over);
        if (!saved) return;
        this.tell(RUN_EVENTS, { type: 'saving', step: saved.event.step } satisfies RunEvent);
        for (const chunk of saved.file) this.tell(RUN_EVENTS, chunk);
        this.tell(RUN_EVENTS, saved.event);
    }

    private tellCompiling({ compiling: { done, total } }: Gpu): void {
        if (this.compiled === done) return;
        this.compiled = done;
        this.tell(RUN_EVENTS, { type: 'compiling', done, total } satisfies RunEvent);
    }

    private async run(): Promise<{ paused: boolean }> {
        if (this.running) throw new EngineError('BAD_INPUT', 'the run is at work already');
        this.running = true;
        this.pausing = false;
        try {
            for (;;) {
                if (this.gpu && this.safe.takeDue()) this.plain('train_save');
                const state = this.train(RUN_SLICE_MS);
                if (state === 'over') {
                    this.over = true;
                    return { paused: false };
                }
                if (state === 'lost') await this.recover();
                else await this.rest(state === 'waits');
                if (this.pausing) return { paused: true };
            }
        } finally {
            this.running = false;
        }
    }

    /* ---- a GPU that was lost ---- */

    /** A fresh GPU in place of the lost one, and on it what was there. Whoever finds the loss calls this; it is done once. */
    private recover(): Promise<void> {
        return (this.recovering ??= this.recoverNow().finally(() => (this.recovering = undefined)));
    }

    private async recoverNow(): Promise<void> {
        const again = performance.now() - this.lostAt < TRUST_MS;
        this.lostAt = performance.now();
        if (again && this.wanted) throw new EngineError('LOST', 'The GPU was lost twice within a minute. The run can go on from its last safe state on the processor.');
        try {
            await this.freshGpu();
        } catch (error) {
            throw new EngineError('LOST', `The GPU was lost, and none can be had now: ${(error as Error).message}`);
        }
        this.restore('webgpu', 'The GPU restarted.', 'continuing');
        while (this.over) {
            /* what was due at its end is due anew */
            const state = this.train(RUN_SLICE_MS);
            if (state === 'over') break;
            if (state === 'lost') throw new EngineError('LOST', 'The GPU was lost again.');
            await this.rest(state === 'waits');
        }
    }

    /** The run from its last safe state, or the model from its file, on the device that is in use now. */
    private restore(device: 'cpu' | 'webgpu', why: string, how: string): void {
        const { wanted } = this;
        if (!wanted) return;
        if (wanted.what === 'load') {
            this.engine().callWith('load', wanted.settings);
            return;
        }
        if (!this.safe.enough) throw new EngineError('LOST', `${why} The run is too large to be kept in memory beside it: go on from its last save.`);
        this.safe.abandon();
        const { last } = this.safe;
        if (last) this.openFile(last.file);
        this.engine().callWith('train', last ? { ...wanted.settings, resume: true, halveLr: false } : wanted.settings);
        if (this.saves.asked > this.saves.done) this.plain('train_save');
        if (this.stopping) this.plain('train_stop');
        const step = last?.event.step ?? 0;
        this.tell(RUN_EVENTS, { type: 'restored', step, device, message: `${why} Restored step ${step}, ${how}.` } satisfies RunEvent);
    }

    private openFile(file: FileParts): void {
        this.engine().beginBytes('file', file.size);
        for (const { position, data } of file) this.engine().fill('file', position, data);
        this.plain('file_open');
    }

    private useCpu(): null {
        if (!this.gpu) return null;
        this.engine().call('use_gpu', 0);
        this.gpu = undefined;
        this.restore('cpu', 'The processor took over.', 'continuing');
        this.safe.begin({}, 0);
        return null;
    }

    /** Asked of the model: when its GPU goes away meanwhile, that fails, and the model is brought back. */
    private async orLost<T>(work: () => Promise<T>): Promise<T> {
        try {
            return await work();
        } catch (error) {
            if (!(error instanceof EngineError && error.status === 'LOST' && this.gpu)) throw error;
            await this.recover();
            throw new EngineError('LOST', 'The GPU restarted meanwhile, and the model is back: ask again.');
        }
    }

    /** A run at work comes to it by itself; while it is not, it is polled for the checkpoint alone. One that is under way is not the
     * one that was asked for: whoever asks has not seen its beginning. */
    private async save(): Promise<null> {
        this.plain('train_save');
        const mine = ++this.saves.asked;
        const { generation } = this;
        while (this.saves.done < mine) {
            const state = this.running ? 'waits' : this.train(0);
            if (state === 'lost') await this.recover();
            else await this.rest(state === 'waits');
            if (generation !== this.generation) throw new EngineError('INTERRUPTED', 'the run was let go before it was saved');
        }
        return null;
    }

    /** One after another: they share their values. */
    private alone<T>(what: Single, id: number, work: () => Promise<T>): Promise<T> {
        const mine = this.last[what].then(() => {
            if (this.cancelled.has(id)) throw new EngineError('INTERRUPTED', 'it was cancelled');
            return this.orLost(work);
        });
        this.last[what] = mine.catch(() => undefined);
        return mine;
    }

    /** Another run or model, or none. */
    private replace<T>(work: () => T): T {
        this.generation++;
        this.saves.done = this.saves.asked;
        this.wanted = undefined;
        this.stopping = this.over = false;
        this.safe.begin({}, 0);
        return work();
    }

    /** A run, or the file's model. A GPU that failed before is replaced first, and one that has no memory for it afterwards. */
    private async place(what: 'train' | 'load', settings: RunSettings): Promise<Plan> {
        if (this.gpu && this.gpu.failure !== FINE) await this.freshGpu();
        try {
            const plan = this.replace(() => this.engine().callWith(what, settings) as Plan);
            await this.gpu?.allocated();
            this.engine().call('submit');
            this.wanted = { what, settings: { ...settings } };
            this.safe.begin(settings, this.gpu && what === 'train' ? plan.params : 0);
            return plan;
        } catch (error) {
            if (this.gpu && this.gpu.failure !== FINE) await this.freshGpu();
            throw error;
        }
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
        run: () => this.run(),
        pause: () => {
            this.pausing = true;
            return null;
        },
        stop: () => {
            this.stopping = true;
            return this.plain('train_stop');
        },
        useCpu: () => this.useCpu(),
        gpuMemory: () => ({ ...(this.gpu?.live ?? { buffers: 0, bytes: 0 }) }),
        save: () => this.save(),
        continue: ({ steps }) => {
            if (!Number.isSafeInteger(steps)) throw new EngineError('BAD_INPUT', `steps is ${steps}, it must be a whole number`);
            this.plain('train_continue', steps);
            this.stopping = this.over = false;
            if (this.wanted) this.wanted.settings.steps = steps;
            return null;
        },
        load: (settings) => this.place('load', settings),
        unload: () => {
            this.replace(() => this.engine().unload());
            return null;
        },
        evaluate: ({ text }, id) =>
            this.alone('evaluate', id, async () => {
                this.engine().callWith('evaluate', text);
                return (await this.poll(id, 'evaluate_poll', (result) => this.tell(id, result))) as Calls['evaluate']['result'];
            }),
        sample: (settings, id) =>
            this.alone('sample', id, async () => {
                this.engine().callWith('sample', settings);
                const tell = (tokens: unknown) => this.tell(id, settings.logits ? this.withLogits(tokens as SampledToken[]) : tokens);
                tell(await this.poll(id, 'sample_poll', tell));
                return null;
            }),
        odds: (question) => this.engine().callWith('odds', question) as Calls['odds']['result'],
        look: ({ text }, id) =>
            this.alone('look', id, async () => this.engine().callWith('look', text) as Calls['look']['result']),
        lens: ({ layer, top }, id) =>
            this.alone('look', id, async () => {
                this.engine().call('lens', whole('layer', layer));
                await this.poll(id, 'look_poll', () => {});
                const values = this.engine().values();
                if (!top) return { values };
                return { values, top: this.engine().call('lens_top', whole('top', top)) as NonNullable<Calls['lens']['result']['top']> };
            }),
        attention: ({ layer }, id) =>
            this.alone('look', id, async () => {
                this.engine().call('attention', whole('layer', layer));
                await this.poll(id, 'look_poll', () => {});
                return this.engine().values();
            }),
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
