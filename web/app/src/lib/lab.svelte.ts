/** What the page holds: settings, the engine, the run or the model that was opened. Views read it and call it. */
import {
    createEngine,
    EngineError,
    FileParts,
    planRun,
    type Engine,
    type EngineInfo,
    type FileChunk,
    type FileInfo,
    type Run,
    type RunEvent,
    type RunSettings,
} from 'posttrain-engine';
import { Announcer } from './announcer.svelte';
import { count, duration } from './format';
import { History } from './history.svelte';
import { inPlainWords, keepsAside } from './knobs';
import { ofBlob, type Source } from './source';

export type Phase = 'idle' | 'starting' | 'training' | 'pausing' | 'paused' | 'stopping' | 'stopped' | 'done' | 'failed';

/** A file's model and its moments, and what the engine needs besides. */
const ROOM = 1.5;
const ROOM_BYTES = 128e6;

export interface Failure {
    diverged: boolean;
    message: string;
    /** What could be kept of the run: its last good weights. */
    rescued: Blob | undefined;
}

function blobOf(file: FileParts | Uint8Array<ArrayBuffer>): Blob {
    return new Blob([file instanceof FileParts ? file.bytes() : file], { type: 'application/octet-stream' });
}

function sentenceOf(error: unknown): string {
    return inPlainWords(error instanceof Error ? error.message : String(error));
}

export class Lab {
    phase = $state<Phase>('idle');
    failure = $state.raw<Failure | undefined>();
    info = $state.raw<EngineInfo | undefined>();
    history = $state.raw(new History());
    /** Of the run: how many steps it will have, and what it was asked for. */
    steps = $state(0);
    settings = $state.raw<RunSettings>({});
    sourceName = $state('');
    /** The model that was opened from a file, when there is no run. */
    file = $state.raw<{ name: string; info: FileInfo } | undefined>();
    memoryBytes = $state(0);
    /** Of the key-value cache of whoever samples. */
    cacheBytes = $state(0);
    readonly announcer = new Announcer();
    private run: Run | undefined;
    /** The checkpoint that a run sends as it ends, for the case that it fails. */
    private parting: FileParts | undefined;
    private open: Engine | undefined;

    get busy(): boolean {
        return ['starting', 'training', 'pausing', 'stopping'].includes(this.phase);
    }

    get controllable(): boolean {
        return this.phase === 'training' || this.phase === 'paused';
    }

    get unfinished(): boolean {
        return this.busy || this.phase === 'paused';
    }

    get hasRun(): boolean {
        return ['training', 'pausing', 'paused', 'stopping', 'stopped', 'done'].includes(this.phase);
    }

    /** A file can be had: of the run, or of what is left of it. */
    get canSave(): boolean {
        return this.hasRun || this.failure?.rescued !== undefined;
    }

    get hasModel(): boolean {
        return this.hasRun || this.file !== undefined;
    }

    /** Whoever samples. */
    get engine(): Engine {
        if (!this.open || !this.hasModel) throw new Error('There is no model yet: train one or open a file.');
        return this.open;
    }

    /** Seconds left, once that is known. */
    get secondsLeft(): number | undefined {
        const last = this.history.last;
        if (!last?.tokensPerSecond) return undefined;
        const tokens = (this.settings.batch ?? 1) * (this.settings.ctx ?? 1);
        return ((this.steps - last.step) * tokens) / last.tokensPerSecond;
    }

    /** Closes the engine: a module's memory never shrinks, so the next run or model has a fresh one. */
    private async leave(): Promise<void> {
        const old = this.open;
        this.open = this.run = undefined;
        this.file = this.info = undefined;
        this.failure = undefined;
        await old?.close();
    }

    private async take(engine: Engine): Promise<void> {
        this.open = engine;
        this.info = engine.info;
        this.memoryBytes = await engine.memoryBytes();
    }

    /** With `from`, a checkpoint of the run that failed, that run goes on with half its learning rate. */
    async start(source: Source, settings: RunSettings, from?: Blob): Promise<void> {
        if (this.busy) return;
        this.phase = 'starting';
        const history = from ? this.history : new History(keepsAside(source.size, settings.ctx ?? 0));
        Object.assign(this, { history, settings, steps: settings.steps ?? 0, sourceName: source.name });
        this.announcer.say('Getting ready to train.');
        try {
            const { bytes } = await planRun(settings);
            await this.leave();
            const engine = await createEngine({ needBytes: bytes });
            await this.take(engine);
            if (from) history.rewindTo((await engine.importModel(ofBlob(from, 'checkpoint').pieces(), from.size)).step);
            const onEvent = (event: RunEvent) => this.hear(history, event);
            const parting = (this.parting = new FileParts());
            const onChunk = (chunk: FileChunk) => parting === this.parting && parting.add(chunk);
            this.run = await engine.train({ corpus: source.pieces(), corpusSize: source.size, settings: from ? { ...settings, resume: true, halveLr: true } : settings, onEvent, onChunk });
            this.phase = 'training';
            this.cacheBytes = this.run.plan.cacheBytes;
            this.memoryBytes = await engine.memoryBytes();
        } catch (error) {
            this.fail(error);
            return;
        }
        await this.follow(this.run);
    }

    private hear(history: History, event: RunEvent): void {
        history.hear(event);
        if (history !== this.history || event.type !== 'evaluated') return;
        const left = this.secondsLeft;
        const eta = left === undefined ? '' : `, about ${duration(left)} left`;
        this.announcer.say(`Step ${count(event.step)} of ${count(this.steps)}, checked loss ${event.loss.toFixed(2)}${eta}.`);
    }

    private async follow(run: Run): Promise<void> {
        try {
            const over = await run.done;
            if (run !== this.run || !over || !this.busy) return;
            this.history.refresh();
            this.parting = undefined;
            this.phase = this.phase === 'stopping' ? 'stopped' : 'done';
            this.announcer.say(`${this.phase === 'done' ? 'Training is done' : 'Training was stopped'}. ${this.history.summary()}`);
        } catch (error) {
            if (run === this.run && this.busy) this.fail(error);
        }
    }

    private fail(error: unknown): void {
        this.history.refresh();
        const diverged = error instanceof EngineError && error.status === 'DIVERGED';
        const rescued = diverged && this.parting?.begun ? blobOf(this.parting) : undefined;
        this.parting = undefined;
        this.failure = { diverged, message: sentenceOf(error), rescued };
        this.phase = 'failed';
        this.announcer.say(`Training ended early. ${this.failure.message}`);
    }

    async pause(): Promise<void> {
        const run = this.run;
        if (!run || this.phase !== 'training') return;
        this.phase = 'pausing';
        try {
            await run.pause();
            if (await run.done) return;
            this.history.refresh();
            this.phase = 'paused';
            this.announcer.say(`Paused at step ${count(this.history.count)}.`);
        } catch {
            // follow() tells how the run failed
        }
    }

    resume(): void {
        if (!this.run || this.phase !== 'paused') return;
        this.phase = 'training';
        this.run.resume();
        void this.follow(this.run);
    }

    async stop(): Promise<void> {
        const run = this.run;
        if (!run || !this.controllable) return;
        this.phase = 'stopping';
        await run.stop().catch(() => undefined);
        await this.follow(run);
    }

    /** A run that is over goes on. */
    async trainOn(more: number): Promise<void> {
        const run = this.run;
        if (!run || (this.phase !== 'done' && this.phase !== 'stopped')) return;
        this.phase = 'training';
        const steps = this.history.count + more;
        try {
            await run.continue(steps);
        } catch (error) {
            this.fail(error);
            return;
        }
        this.steps = steps;
        await this.follow(run);
    }

    /** The run as a .tinygpt file. */
    async save(): Promise<Blob> {
        if (this.failure?.rescued) return this.failure.rescued;
        if (!this.run || !this.hasRun) throw new Error('There is no run to save.');
        return blobOf(await this.run.save());
    }

    /** Opens a file. What is here stays when that fails. */
    async import(file: File): Promise<void> {
        if (this.unfinished) return;
        let engine: Engine | undefined;
        try {
            engine = await createEngine({ needBytes: file.size * ROOM + ROOM_BYTES });
            const info = await engine.importModel(ofBlob(file, file.name).pieces(), file.size);
            const { cacheBytes } = await engine.load();
            await this.leave();
            await this.take(engine);
            Object.assign(this, { phase: 'idle', history: new History(), file: { name: file.name, info }, cacheBytes });
        } catch (error) {
            await engine?.close();
            throw new Error(`${file.name} cannot be opened. ${sentenceOf(error)}`);
        }
    }
}
