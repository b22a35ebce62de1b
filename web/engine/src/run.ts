/** A run, as whoever trains has it. */
import type { Engine } from './engine.js';
import { FileParts } from './file_parts.js';
import { EngineError, type FileChunk, type Plan, type RunEvent, type RunSettings } from './types.js';

export type Bytes = Uint8Array | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

function isChunk(event: RunEvent | FileChunk): event is FileChunk {
    return 'position' in event;
}

export interface TrainOptions {
    /** What to learn from: text, its bytes, or pieces of them. Kept from one run to the next when left out. */
    corpus?: string | Bytes;
    /** Of pieces: the size of all. */
    corpusSize?: number;
    settings: RunSettings;
    onEvent?: (event: RunEvent) => void;
    /** Pieces of every checkpoint (saveEvery, save, the end), in order. */
    onChunk?: (chunk: FileChunk) => void;
    /** It begins paused: nothing is done before resume(). */
    paused?: boolean;
}

/** A run. It works on its own; `done` settles when it is over or paused. */
export class Run {
    readonly plan: Plan;
    private readonly engine: Engine;
    private readonly options: TrainOptions;
    private readonly listeners = new Set<(event: RunEvent | FileChunk) => void>();
    private working: Promise<boolean>;
    /** Whether it is to work, once what was asked of it before is done. */
    private wanted: boolean;
    private gone = false;

    constructor(engine: Engine, plan: Plan, options: TrainOptions) {
        this.engine = engine;
        this.plan = plan;
        this.options = options;
        this.wanted = !options.paused;
        this.working = this.watched(this.wanted ? this.work() : Promise.resolve(false));
    }

    /** Who asks for `done` only later still hears of a failure; until then it is not one that nobody handles. */
    private watched(work: Promise<boolean>): Promise<boolean> {
        work.catch(() => undefined);
        return work;
    }

    private async work(): Promise<boolean> {
        this.check();
        return !(await this.engine.call('run', null)).paused;
    }

    private check(): void {
        if (this.gone) throw new EngineError('BAD_INPUT', 'this run was let go: the engine has another run or model now, or none');
    }

    /** From the engine, which lets it go: what is asked of it from now on must not reach another. */
    async leave(): Promise<void> {
        await this.pause().catch(() => undefined);
        this.gone = true;
    }

    /** From the engine. */
    hear(event: RunEvent | FileChunk): void {
        for (const listener of this.listeners) listener(event);
        if (isChunk(event)) this.options.onChunk?.(event);
        else this.options.onEvent?.(event);
    }

    /** True when the run is over, false when it was paused. Rejects when the run failed. */
    get done(): Promise<boolean> {
        return this.working;
    }

    /** Between two pieces of work. The model can be evaluated, sampled, saved meanwhile. */
    async pause(): Promise<void> {
        const { working } = this;
        this.wanted = false;
        if (!this.gone) await this.engine.call('pause', null);
        await working;
    }

    /** Goes on after a pause. */
    resume(): void {
        if (this.wanted) return;
        this.wanted = true;
        this.working = this.watched(this.working.then((over) => over || (this.wanted && this.work())));
    }

    /** Ends after the step under way; it is then saved. */
    async stop(): Promise<void> {
        this.check();
        await this.engine.call('stop', null);
        this.resume();
        await this.working;
    }

    /** A run that is over, or was stopped, goes on up to `steps` in all. */
    async continue(steps: number): Promise<void> {
        await this.working;
        this.check();
        await this.engine.call('continue', { steps });
        this.wanted = true;
        this.working = this.watched(this.work());
    }

    /** Leaves a GPU that was lost, or is not wanted any more: the run goes on from its last safe state, on the processor. */
    async useCpu(): Promise<void> {
        await this.pause().catch(() => undefined);
        this.check();
        await this.engine.call('useCpu', null);
        this.wanted = true;
        this.working = this.watched(this.work());
    }

    /** The run as a .tinygpt file, with AdamW's moments: while it works, is paused, or is over. */
    async save(): Promise<Uint8Array<ArrayBuffer>> {
        const parts = new FileParts();
        await this.saveTo((chunk) => parts.add(chunk));
        return parts.bytes();
    }

    /** The same in pieces, which whoever takes them may keep. Resolves with the step that it was saved at. */
    async saveTo(take: (chunk: FileChunk) => void): Promise<number> {
        this.check();
        let begun = false;
        const { promise, resolve, reject } = Promise.withResolvers<number>();
        const listener = (event: RunEvent | FileChunk) => {
            if (isChunk(event)) {
                begun ||= event.position === 0;
                if (begun) take(event);
            } else if (event.type === 'saved' && event.failed) reject(new EngineError('IO', 'the run could not be saved'));
            else if (event.type === 'saved' && begun) resolve(event.step);
        };
        this.listeners.add(listener);
        this.working.catch(reject);
        try {
            const [step] = await Promise.all([promise, this.engine.call('save', null)]);
            return step;
        } finally {
            this.listeners.delete(listener);
        }
    }
}
