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
import { Backend } from './backend.svelte';
import { count, duration } from './format';
import type { Kept } from '../shelf/protocol';
import type { CorpusFacts, RunRecord } from '../shelf/record';
import { History } from './history.svelte';
import { Keeper } from './keeper.svelte';
import { inPlainWords, keepsAside, pace } from './knobs';
import { KernelLadder } from './ladder.svelte';
import { builtIn, ofBlob, type Source } from './source';

export type Phase = 'idle' | 'starting' | 'training' | 'pausing' | 'paused' | 'stopping' | 'stopped' | 'done' | 'failed';

/** A file's model and its moments, and what the engine needs besides. */
const ROOM = 1.5;
const ROOM_BYTES = 128e6;

export interface Failure {
    diverged: boolean;
    /** The GPU went away: the run can go on without. */
    lost: boolean;
    message: string;
    /** What could be kept of the run: its last good weights. */
    rescued: Blob | undefined;
}

export interface StartOptions {
    strict?: boolean;
    /** The kept run that it repeats with a knob changed. */
    comparedWith?: string;
    /** What its name begins with; its preset, when left out. */
    what?: string;
    /** A checkpoint of the run that failed: that run goes on with half its learning rate. */
    from?: Blob | undefined;
}

/** A run to be: from the beginning, or from a file. */
interface Beginning {
    source: Source;
    settings: RunSettings;
    steps: number;
    strict: boolean;
    history: History;
    model?: Blob | undefined;
    /** It went on from an earlier step with other settings, so that they do not tell its whole curve. */
    rewound?: boolean | undefined;
    /** The file's run goes on with half its learning rate. */
    halve?: boolean;
    paused?: boolean;
    comparedWith?: string | undefined;
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
    file = $state.raw<{ name: string; info: FileInfo; blob: Blob } | undefined>();
    /** It was asked for the bits of plain C: the same curve on every machine. */
    strict = $state(false);
    memoryBytes = $state(0);
    readonly backend = new Backend();
    /** Where the run is now. */
    device = $state<EngineInfo['device']>('cpu');
    /** Programs for the GPU that are being prepared, until the first step. */
    compiling = $state.raw<{ done: number; total: number } | undefined>();
    /** What is wrong with the GPU in use. */
    gpuRemark = $state('');
    /** What became of the run when its GPU went away. */
    restored = $state('');
    /** Of the key-value cache of whoever samples. */
    cacheBytes = $state(0);
    readonly announcer = new Announcer();
    readonly keeper = new Keeper(this);
    readonly ladder = new KernelLadder(this);
    /** The kept run that this one repeats with a knob changed. */
    comparedWith = $state<string | undefined>();
    private rewound: boolean | undefined;
    /** What it learns from. */
    source: Source | undefined;
    private run: Run | undefined;
    /** The checkpoint that a run sends as it ends, for the case that it fails. */
    private parting: FileParts | undefined;
    private open: Engine | undefined;
    /** The way on of a run that was over, or lost its GPU: until it is on its way it can be neither paused nor stopped. */
    private going: Promise<void> = Promise.resolve();
    /** What was asked for before the run could do it: it is done as soon as it can. */
    next = $state<'pause' | 'stop' | undefined>();

    get busy(): boolean {
        return ['starting', 'training', 'pausing', 'stopping'].includes(this.phase);
    }

    get controllable(): boolean {
        return this.phase === 'training' || this.phase === 'paused';
    }

    get unfinished(): boolean {
        return this.busy || this.phase === 'paused';
    }

    /** A run that another must not replace yet: it works, or what it did is not saved. */
    get inTheWay(): boolean {
        return this.busy || (this.phase === 'paused' && !this.keeper.upToDate);
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

    /** With what is needed, where the visitor wants it. */
    private make(needBytes: number, strict = false): Promise<Engine> {
        return createEngine({ needBytes, strict, ...this.backend.options(strict) });
    }

    private async take(engine: Engine): Promise<void> {
        this.open = engine;
        this.info = engine.info;
        Object.assign(this, { device: engine.info.device, compiling: undefined, gpuRemark: '', restored: '' });
        this.memoryBytes = await engine.memoryBytes();
    }

    /** For a run to come. */
    private getReady(): void {
        Object.assign(this, { phase: 'starting', next: undefined, going: Promise.resolve() });
    }

    /** The run is there: what was asked for before is done now. */
    private catchUp(): void {
        const { next } = this;
        this.next = undefined;
        if (next === 'pause') void this.pause();
        else if (next === 'stop') void this.stop();
    }

    async start(source: Source, settings: RunSettings, { strict = false, comparedWith, what, from }: StartOptions = {}): Promise<void> {
        if (this.busy) return;
        this.getReady();
        const steps = settings.steps ?? 0;
        const history = from ? this.history : new History(keepsAside(source.size, settings.ctx ?? 0));
        const beginning = { source, settings, steps, strict, comparedWith, history, model: from, rewound: from !== undefined, halve: from !== undefined };
        await this.keeper.leave();
        this.show(beginning);
        this.announcer.say('Getting ready to train.');
        try {
            const { bytes } = await planRun(settings);
            await this.leave();
            await this.take(await this.make(bytes, strict));
            await this.begin(beginning);
        } catch (error) {
            this.fail(error);
            return;
        }
        void this.keeper.begin(source, what ?? settings.preset ?? 'model');
        this.catchUp();
        await this.follow(this.run!);
    }

    private show({ source, settings, steps, strict, history, comparedWith, rewound }: Beginning): void {
        Object.assign(this, { history, settings, steps, strict, source, sourceName: source.name, comparedWith, rewound });
    }

    /** The run, in the engine that is open. */
    private async begin({ source, settings, steps, history, model, halve = false, paused = false }: Beginning): Promise<void> {
        const engine = this.open!;
        if (model) history.rewindTo((await engine.importModel(ofBlob(model, '').pieces(), model.size)).step);
        const onEvent = (event: RunEvent) => this.hear(history, event);
        const parting = (this.parting = new FileParts());
        const onChunk = (chunk: FileChunk) => parting === this.parting && !this.keeper.takes && parting.add(chunk);
        const asked = model ? { ...settings, steps, resume: true, halveLr: halve } : settings;
        this.run = await engine.train({ corpus: source.pieces(), corpusSize: source.size, settings: asked, onEvent, onChunk, paused });
        this.phase = paused ? 'paused' : 'training';
        this.cacheBytes = this.run.plan.cacheBytes;
        this.memoryBytes = await engine.memoryBytes();
    }

    /** A run from the shelf: everything as it was, and paused where it stood. What is here stays when that fails. */
    async restore(kept: Kept, release: () => void): Promise<void> {
        if (this.busy) {
            release();
            throw new Error('A run is under way here: stop it first.');
        }
        const { record, curve, model } = kept;
        const before = this.phase;
        let engine: Engine | undefined;
        this.getReady();
        try {
            const source = kept.corpus ? ofBlob(kept.corpus, record.corpus.name) : await builtIn();
            if (source.size !== record.corpus.bytes) throw new Error(`The text that it learned from has changed: it had ${record.corpus.bytes} bytes and has ${source.size}.`);
            const { settings, steps, strict } = record;
            const { bytes } = await planRun({ ...settings, steps, corpusBytes: source.size });
            engine = await this.make(bytes + model.size, strict);
            await this.keeper.leave();
            await this.leave();
            await this.take(engine);
            const history = History.of({ ...record, curve, gradNorm: record.gradNorm ?? undefined }, keepsAside(source.size, settings.ctx ?? 0));
            const beginning = { source, settings, steps, strict, history, model, rewound: record.rewound, paused: record.step < steps };
            this.show(beginning);
            await this.begin(beginning);
            this.keeper.adopt(record, release);
        } catch (error) {
            release();
            if (this.open === engine) this.fail(error);
            else {
                await engine?.close();
                Object.assign(this, { phase: before, next: undefined });
            }
            throw new Error(sentenceOf(error));
        }
        this.catchUp();
        void this.follow(this.run!);
    }

    /** Goes on with the run of the file that was opened, on this text. */
    async goOn(source: Source): Promise<void> {
        const file = this.file;
        if (!file || this.inTheWay) return;
        this.getReady();
        const { info, blob } = file;
        const { layers, dModel, heads, dMlp, ctx, vocab, step } = info;
        const steps = Math.max(step, info.run.steps ?? step);
        const settings = { ...info.run, ...pace(steps), layers, dModel, heads, dMlp, ctx, vocab };
        const beginning = { source, settings, steps: info.run.steps ?? step, strict: false, model: blob, paused: step < steps, history: new History(keepsAside(source.size, ctx), step) };
        try {
            const { bytes } = await planRun({ ...settings, corpusBytes: source.size });
            const engine = await this.make(bytes + blob.size);
            await this.leave();
            await this.take(engine);
            this.show(beginning);
            await this.begin(beginning);
        } catch (error) {
            this.fail(error);
            return;
        }
        void this.keeper.begin(source, file.name.replace(/\.tinygpt$/, ''));
        this.catchUp();
        await this.follow(this.run!);
    }

    private hear(history: History, event: RunEvent): void {
        history.hear(event);
        if (history === this.history) this.hearOfDevice(event);
        if (history !== this.history || event.type !== 'evaluated') return;
        const left = this.secondsLeft;
        const eta = left === undefined ? '' : `, about ${duration(left)} left`;
        this.announcer.say(`Step ${count(event.step)} of ${count(this.steps)}, checked loss ${event.loss.toFixed(2)}${eta}.`);
    }

    private hearOfDevice(event: RunEvent): void {
        if (event.type === 'compiling') {
            this.compiling = event.done < event.total ? event : undefined;
            if (event.remark) this.gpuRemark = event.remark;
        } else if (event.type === 'step' && this.compiling) this.compiling = undefined;
        else if (event.type === 'restored') {
            Object.assign(this, { device: event.device, restored: event.message });
            this.announcer.say(event.message);
        }
    }

    /** On from the last safe state of a run whose GPU went away, without it. */
    async useCpu(): Promise<void> {
        const run = this.run;
        if (!run || !this.failure?.lost) return;
        this.failure = undefined;
        this.phase = 'training';
        try {
            await (this.going = run.useCpu());
        } catch (error) {
            this.fail(error);
            return;
        }
        await this.follow(run);
    }

    private async follow(run: Run): Promise<void> {
        try {
            const over = await run.done;
            if (run !== this.run || !over || !this.busy) return;
            this.history.refresh();
            this.parting = this.next = undefined;
            this.phase = this.phase === 'stopping' ? 'stopped' : 'done';
            void this.keeper.save();
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
        const lost = error instanceof EngineError && error.status === 'LOST' && this.run !== undefined;
        this.failure = { diverged, lost, message: sentenceOf(error), rescued };
        this.phase = 'failed';
        this.next = undefined;
        this.announcer.say(`Training ended early. ${this.failure.message}`);
    }

    async pause(): Promise<void> {
        const run = this.run;
        if (this.phase === 'starting') this.next = 'pause';
        if (!run || this.phase !== 'training') return;
        this.phase = 'pausing';
        try {
            await this.going;
            await run.pause();
            if (await run.done) return;
            this.history.refresh();
            this.phase = 'paused';
            void this.keeper.save();
            this.announcer.say(`Paused at step ${count(this.history.count)}.`);
            this.catchUp();
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
        if (this.phase === 'starting' || this.phase === 'pausing') this.next = 'stop';
        if (!run || !this.controllable) return;
        this.phase = 'stopping';
        try {
            await this.going;
            await run.stop();
        } catch (error) {
            // a run at work that failed is told of by whoever follows it; of one at rest nobody else hears
            if (run === this.run && this.busy) this.fail(error);
            return;
        }
        await this.follow(run);
    }

    /** A run that is over goes on. */
    async trainOn(more: number): Promise<void> {
        const run = this.run;
        if (!run || (this.phase !== 'done' && this.phase !== 'stopped')) return;
        this.phase = 'training';
        const steps = this.history.count + more;
        try {
            await (this.going = run.continue(steps));
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

    /** The same in pieces; the step that it was saved at. */
    saveTo(take: (chunk: FileChunk) => void): Promise<number> {
        if (!this.run || !this.hasRun) throw new Error('There is no run to save.');
        return this.run.saveTo(take);
    }

    /** What is kept beside the weights of a step. */
    record({ id, name, created, corpus }: { id: string; name: string; created: string; corpus: CorpusFacts }, step: number): { record: RunRecord; curve: Float64Array<ArrayBuffer> } {
        const { curve, ...told } = this.history.snapshot(step);
        const { module = '', isa = '', version = '' } = this.info ?? {};
        const record: RunRecord = {
            format: 1, id, name, created, corpus, step, saved: new Date().toISOString(),
            settings: this.settings, steps: this.steps, strict: this.strict, rewound: this.rewound ?? false, engine: { module, isa, version },
            loss: curve.length ? curve[curve.length / 2 - 1] : undefined, ...told,
        };
        return { record, curve };
    }

    /** Opens a file. What is here stays when that fails. */
    async import(file: File): Promise<void> {
        if (this.inTheWay) return;
        let engine: Engine | undefined;
        try {
            engine = await this.make(file.size * ROOM + ROOM_BYTES);
            const info = await engine.importModel(ofBlob(file, file.name).pieces(), file.size);
            const { cacheBytes } = await engine.load();
            if (this.inTheWay) throw new Error('A run was begun meanwhile.');
            await this.keeper.leave();
            await this.leave();
            await this.take(engine);
            Object.assign(this, { phase: 'idle', history: new History(), file: { name: file.name, info, blob: file }, cacheBytes });
        } catch (error) {
            await engine?.close();
            throw new Error(`${file.name} cannot be opened. ${sentenceOf(error)}`);
        }
    }
}
