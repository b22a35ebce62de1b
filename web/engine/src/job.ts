/** What the engine has one of: a run, or a file's model. It begins it, works on it in slices, hands on its checkpoints, and brings it back
 * when its GPU was lost. */
import type { Abi } from './abi.js';
import type { FileParts } from './file_parts.js';
import { OUT_OF_MEMORY } from './gpu.js';
import type { GpuInUse } from './gpu_in_use.js';
import { SafeState } from './safe_state.js';
import { EngineError, type FileChunk, type LoadSettings, type Plan, type RunEvent, type RunSettings } from './types.js';

/** Long enough that the way to the event loop and back does not count. */
const SLICE_MS = 50;

type FailedEvent = { type: 'failed'; status: string; message: string };

export class Job {
    private readonly engine: () => Abi;
    private readonly gpu: GpuInUse;
    private readonly tell: (event: RunEvent | FileChunk, transfer?: ArrayBuffer[]) => void;
    /** What was asked for: to have it again on another device. */
    private wanted: { what: 'train' | 'load'; settings: RunSettings & LoadSettings } | undefined;
    private readonly safe = new SafeState();
    private recovering: Promise<void> | undefined;
    private running = false;
    private pausing = false;
    private stopping = false;
    private over = false;
    /** Grows with each run or model, and when it is let go. */
    private generation = 0;
    /** Of the checkpoints that were asked for: how many, how many the one under way is for, and how many are had. */
    private saves = { asked: 0, begun: 0, done: 0 };

    constructor(engine: () => Abi, gpu: GpuInUse, tell: (event: RunEvent | FileChunk, transfer?: ArrayBuffer[]) => void) {
        this.engine = engine;
        this.gpu = gpu;
        this.tell = tell;
    }

    /* ---- which there is ---- */

    /** A run, or the file's model. A GPU that failed before is replaced first, and one that has no memory for it afterwards. */
    async place(what: 'train' | 'load', settings: RunSettings & LoadSettings): Promise<Plan> {
        if (this.gpu.failed) await this.gpu.renew();
        let plan: Plan | undefined;
        try {
            plan = this.replace(() => this.engine().callWith(what, settings) as Plan);
            await this.gpu.now?.allocated();
            this.engine().call('submit');
            this.wanted = { what, settings: { ...settings } };
            this.safe.begin(settings, this.gpu.now && what === 'train' ? plan.params : 0);
            return plan;
        } catch (error) {
            const scarce = this.gpu.now?.failure === OUT_OF_MEMORY;
            if (this.gpu.failed) await this.gpu.renew();
            if (scarce && plan && what === 'train' && !settings.resume) await this.refuse(settings, plan);
            throw error;
        }
    }

    /** Says what the GPU gives, and what would fit, where it is less than the plan needs. The one in use has nothing on it. */
    private async refuse(settings: RunSettings, { bytes, arenas }: Plan): Promise<void> {
        const gpuBytes = await this.gpu.now!.room(bytes - arenas.host);
        if (this.gpu.failed) await this.gpu.renew();
        const { refusal } = this.engine().callWith('plan', { ...settings, gpuBytes }) as Plan;
        if (refusal) throw new EngineError('NO_MEMORY', refusal);
    }

    unload(): void {
        this.replace(() => this.engine().unload());
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

    /** Before the first op on a GPU: how far its trial is, and what is wrong with it, is told. */
    ready(): Promise<void> {
        return this.gpu.ready((progress) => this.tell({ type: 'compiling', ...progress }));
    }

    /* ---- a run at work ---- */

    async run(): Promise<{ paused: boolean }> {
        if (this.running) throw new EngineError('BAD_INPUT', 'the run is at work already');
        this.running = true;
        this.pausing = false;
        try {
            await this.readyOrRecovered();
            for (;;) {
                if (this.gpu.now && this.safe.takeDue()) this.engine().call('train_save');
                const state = this.slice(SLICE_MS);
                if (state === 'over') {
                    this.over = true;
                    return { paused: false };
                }
                if (state === 'lost') await this.recover();
                else await this.gpu.rest(state === 'waits');
                if (this.pausing) return { paused: true };
            }
        } finally {
            this.running = false;
        }
    }

    pause(): void {
        this.pausing = true;
    }

    stop(): void {
        this.stopping = true;
        this.engine().call('train_stop');
    }

    continue(steps: number): void {
        this.engine().call('train_continue', steps);
        this.stopping = this.over = false;
        if (this.wanted) this.wanted.settings.steps = steps;
    }

    /** A piece of the run: whether there is more, and whether that waits. */
    private slice(ms: number): 'over' | 'more' | 'waits' | 'lost' {
        const { again, waits, result } = this.engine().poll('train_poll', ms);
        const events = result as (RunEvent | FailedEvent)[];
        const end = events.at(-1);
        const lost = this.gpu.now !== undefined && end?.type === 'failed' && end.status === 'LOST';
        for (const event of events) {
            if (lost && (event === end || (event.type === 'saved' && event.failed))) continue; // it is saved once it is restored
            if (event.type === 'failed') {
                this.tellUntold(true);
                throw new EngineError(event.status, event.message);
            }
            this.hear(event);
        }
        if (lost) return 'lost';
        const compiling = this.gpu.compiling();
        if (compiling) this.tell({ type: 'compiling', ...compiling });
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
        if (!quiet || (event.type !== 'saving' && event.type !== 'saved')) this.tell(event);
    }

    /* ---- its checkpoints ---- */

    /** A run at work comes to it by itself; while it is not, it is polled for the checkpoint alone. One that is under way is not the
     * one that was asked for: whoever asks has not seen its beginning. */
    async save(): Promise<void> {
        const { generation } = this;
        const stillThere = () => {
            if (generation !== this.generation) throw new EngineError('INTERRUPTED', 'the run was let go before it was saved');
        };
        await this.readyOrRecovered();
        stillThere();
        this.engine().call('train_save');
        const mine = ++this.saves.asked;
        while (this.saves.done < mine) {
            const state = this.running ? 'waits' : this.slice(0);
            if (state === 'lost') await this.recover();
            else await this.gpu.rest(state === 'waits');
            stillThere();
        }
    }

    /** A piece of one. */
    write(chunk: FileChunk): void {
        if (this.safe.add(chunk, this.saves.asked > this.saves.done)) this.tell(chunk, [chunk.data.buffer]);
    }

    /** One that was made for the safe state alone is told after all when it is one of those that whoever trains expects. */
    private tellUntold(over: boolean): void {
        const saved = this.safe.untold(over);
        if (!saved) return;
        this.tell({ type: 'saving', step: saved.event.step });
        for (const chunk of saved.file) this.tell(chunk);
        this.tell(saved.event);
    }

    /* ---- a GPU that was lost ---- */

    /** A fresh GPU in place of the lost one, and on it what was there. Whoever finds the loss calls this; it is done once. */
    recover(): Promise<void> {
        return (this.recovering ??= this.recoverNow().finally(() => (this.recovering = undefined)));
    }

    private async recoverNow(): Promise<void> {
        if (this.gpu.lostAgain() && this.wanted) throw new EngineError('LOST', 'The GPU was lost twice within a minute. The run can go on from its last safe state on the processor.');
        try {
            await this.gpu.renew();
        } catch (error) {
            throw new EngineError('LOST', `The GPU was lost, and none can be had now: ${(error as Error).message}`);
        }
        await this.ready();
        this.restore('webgpu', 'The GPU restarted.', 'continuing');
        while (this.over) {
            /* what was due at its end is due anew */
            const state = this.slice(SLICE_MS);
            if (state === 'over') break;
            if (state === 'lost') throw new EngineError('LOST', 'The GPU was lost again.');
            await this.gpu.rest(state === 'waits');
        }
    }

    /** Of an error: when the GPU was lost, that is mended. */
    async recoverFrom(error: unknown): Promise<void> {
        if (!(error instanceof EngineError && error.status === 'LOST' && this.gpu.now)) throw error;
        await this.recover();
    }

    private readyOrRecovered(): Promise<void> {
        return this.ready().catch((error) => this.recoverFrom(error));
    }

    useCpu(): void {
        if (!this.gpu.now) return;
        this.gpu.leave();
        this.restore('cpu', 'The processor took over.', 'continuing');
        this.safe.begin({}, 0);
    }

    /** The run from its last safe state, or the model from its file, on the device that is in use now. */
    private restore(device: 'cpu' | 'webgpu', why: string, how: string): void {
        const { wanted } = this;
        if (!wanted) return;
        if (wanted.what === 'load') {
            this.engine().callWith('load', device === 'cpu' ? { ...wanted.settings, weights: 'f32' } : wanted.settings);
            return;
        }
        if (!this.safe.enough) throw new EngineError('LOST', `${why} The run is too large to be kept in memory beside it: go on from its last save.`);
        this.safe.abandon();
        const { last } = this.safe;
        if (last) this.openFile(last.file);
        this.engine().callWith('train', last ? { ...wanted.settings, resume: true, halveLr: false } : wanted.settings);
        if (this.saves.asked > this.saves.done) this.engine().call('train_save');
        if (this.stopping) this.engine().call('train_stop');
        const step = last?.event.step ?? 0;
        this.tell({ type: 'restored', step, device, message: `${why} Restored step ${step}, ${how}.` });
    }

    private openFile(file: FileParts): void {
        this.engine().beginBytes('file', file.size);
        for (const { position, data } of file) this.engine().fill('file', position, data);
        this.engine().call('file_open');
    }
}
