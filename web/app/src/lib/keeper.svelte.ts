/** Saves the page's run on the shelf, from time to time and whenever it rests. Training goes on meanwhile, and when a
 * save fails nothing but that save is lost. */
import type { FileChunk } from 'posttrain-engine';
import { hold, Taken } from '../shelf/lock';
import type { CorpusFacts, RunRecord } from '../shelf/record';
import { Shelf, ShelfError, whyNoShelf } from '../shelf/shelf';
import { bytes } from './format';
import { inPlainWords } from './knobs';
import type { Lab } from './lab.svelte';
import { opened } from './last_run';
import { recall, remember } from './remembered';
import type { Source } from './source';

const EVERY = 'posttrain.saveEvery';
export const USUAL_SECONDS = 30;
export const MOST_SECONDS = 3600;

/** As History.mark, of what was saved. */
function markOf({ step, checks, samples }: RunRecord): string {
    return `${step} ${checks.length} ${samples.length}`;
}

/** The run that is being saved. */
interface Current {
    id: string;
    name: string;
    created: string;
    corpus: CorpusFacts;
}

function usualName(what: string, text: string, now: Date): string {
    const when = now.toLocaleString('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
    return `${what} on ${text}, ${when}`;
}

function remembered(): number {
    const seconds = Number(recall('all', EVERY) ?? USUAL_SECONDS);
    return Number.isFinite(seconds) && seconds >= 0 && seconds <= MOST_SECONDS ? seconds : USUAL_SECONDS;
}

export class Keeper {
    readonly shelf = new Shelf();
    readonly whyNot = whyNoShelf();
    current = $state.raw<Current | undefined>();
    /** Seconds between two saves; 0: only when the run rests. */
    every = $state(remembered());
    saving = $state(false);
    savedStep = $state<number | undefined>();
    savedAt = $state.raw<Date | undefined>();
    /** Why the last save did not succeed. */
    problem = $state('');
    /** Deleted by the visitor, so not saved any more. */
    gone = $state(false);
    /** What must be said about a run that was opened, or could not be. */
    told = $state.raw<string[]>([]);
    /** Grows whenever the shelf may look different. */
    version = $state(0);
    private readonly lab: Lab;
    private release: (() => void) | undefined;
    private work: Promise<void> = Promise.resolve();
    /** What has come since the save under way began is to be saved after it. */
    private again = false;
    private taking = false;
    private savedMark = $state('');
    /** Which run it is about: what was begun for another comes too late. */
    private turn = 0;

    constructor(lab: Lab) {
        this.lab = lab;
        if (this.whyNot) return;
        setInterval(() => this.tick(), 1000);
        document.addEventListener('visibilitychange', () => document.hidden && void this.save());
        void this.sweep();
    }

    /** Whether pieces of a checkpoint go to the shelf now, which takes them away. */
    get takes(): boolean {
        return this.taking;
    }

    /** Nothing would be lost if the tab went away. */
    get upToDate(): boolean {
        return this.current !== undefined && !this.gone && this.savedMark === this.lab.history.mark;
    }

    setEvery(seconds: number): void {
        this.every = seconds;
        remember('all', EVERY, String(seconds));
    }

    private tick(): void {
        const due = this.every > 0 && Date.now() - (this.savedAt?.getTime() ?? 0) >= 1000 * this.every;
        if (due && !this.saving && this.lab.phase === 'training') void this.save();
    }

    /** Lets the run go that was saved until now, once its save is over. */
    async leave(): Promise<void> {
        this.turn++;
        await this.work;
        this.letGo();
        Object.assign(this, { savedStep: undefined, savedAt: undefined, savedMark: '', problem: '', gone: false, told: [] });
    }

    private letGo(): void {
        this.release?.();
        this.release = this.current = undefined;
        opened(undefined);
    }

    /** Deletes for good what was deleted. */
    async sweep(): Promise<void> {
        if (this.gone) this.letGo();
        await this.shelf.call('sweep', null).catch(() => undefined);
        this.version++;
    }

    /** A run that has just begun; `what` begins its name. */
    async begin(source: Source, what: string): Promise<void> {
        if (this.whyNot) return;
        const turn = ++this.turn;
        const now = new Date();
        const id = crypto.randomUUID();
        const name = usualName(what, source.name, now);
        let release: (() => void) | undefined;
        try {
            release = await hold(id);
            const sha256 = await this.shelf.call('text', { id, text: source.blob, keep: !source.builtIn });
            const corpus = { name: source.name, bytes: source.size, sha256, builtIn: source.builtIn };
            if (turn !== this.turn) return release?.();
            Object.assign(this, { release, current: { id, name, created: now.toISOString(), corpus }, savedAt: now });
            opened(id);
        } catch (error) {
            release?.();
            if (turn === this.turn) this.problem = this.sentenceOf(error);
        }
        if (!this.lab.busy) await this.save(); // it came to rest meanwhile
    }

    /** The lock of a kept run, before anything else is done with it. */
    async claim(id: string): Promise<() => void> {
        const release = await hold(id);
        if (!release) throw new Taken(id);
        return release;
    }

    adopt(record: RunRecord, release: () => void): void {
        this.turn++;
        this.release = release;
        const { id, name, created, corpus } = record;
        Object.assign(this, { current: { id, name, created, corpus }, savedStep: record.step, savedAt: new Date(record.saved), savedMark: markOf(record) });
        opened(id);
    }

    /** There is something that a save would keep. */
    private get hasNews(): boolean {
        return this.current !== undefined && !this.gone && !this.upToDate && this.lab.hasRun;
    }

    /** Saves what is new. Calls while a save is under way wait for it, and for another of what it began too early for. */
    save(): Promise<void> {
        if (this.saving) this.again = true;
        else if (this.hasNews) this.work = this.saveAll();
        return this.work;
    }

    private async saveAll(): Promise<void> {
        this.saving = true;
        do {
            this.again = false;
            await this.saveNow(this.current!);
        } while (this.again && this.hasNews);
        this.saving = false;
    }

    private async saveNow(current: Current): Promise<void> {
        try {
            await this.shelf.call('begin', { id: current.id });
            this.taking = true;
            const step = await this.lab.saveTo((chunk: FileChunk) => void this.shelf.write(chunk));
            this.taking = false;
            const { record, curve } = this.lab.record(current, step);
            await this.shelf.call('commit', { record, curve }, [curve.buffer]);
            if (current.id === this.current?.id) Object.assign(this, { savedStep: step, savedMark: markOf(record), problem: '' });
        } catch (error) {
            this.problem = this.sentenceOf(error);
            await this.shelf.call('abort', null).catch(() => undefined);
        }
        this.taking = false;
        this.savedAt = new Date();
        this.version++;
    }

    private sentenceOf(error: unknown): string {
        const before = this.savedStep === undefined ? 'There is no earlier save of it.' : `Its save of step ${this.savedStep} is still there.`;
        if (error instanceof ShelfError && error.full) return `The browser gives this page no more room, so the run could not be saved; training is not affected. ${before} Delete runs that you no longer need, or save this one as a file.`;
        return `The run could not be saved; training is not affected. ${inPlainWords((error as Error).message)} ${before}`;
    }

    /** Of a run, or of the one that is here. */
    async rename(id: string, name: string): Promise<void> {
        await this.shelf.call('rename', { id, name });
        if (this.current?.id === id) this.current = { ...this.current, name };
        this.version++;
    }

    async discard(id: string, gone: boolean): Promise<void> {
        const mine = this.current?.id === id;
        if (mine) await this.work;
        const release = mine ? undefined : await this.claim(id);
        try {
            await this.shelf.call('discard', { id, gone });
            if (mine) this.gone = gone;
        } finally {
            release?.();
        }
        this.version++;
    }
}

export function roomSentence(used: number, quota: number): string {
    return `${bytes(used)} of the ${bytes(quota)} that the browser gives this page`;
}
