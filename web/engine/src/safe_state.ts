/** The last checkpoint of a run on a GPU, kept in memory in case that the GPU is lost. */
import { FileParts } from './file_parts.js';
import type { FileChunk, RunEvent, RunSettings } from './types.js';

const EVERY_MS = 15_000;
/** Of the time that passes, what saving may take. */
const SHARE = 0.1;
const MOST_BYTES = 2 ** 30;
/** Of a checkpoint, for each parameter: itself and two moments. */
const PARAMETER_BYTES = 12;

export interface Saved {
    event: Extract<RunEvent, { type: 'saved' }>;
    file: FileParts;
    /** Whoever trains has heard of it. */
    told: boolean;
}

export class SafeState {
    /** The last whole one. */
    last: Saved | undefined;
    /** Another is to be asked for from then on. */
    private due = Infinity;
    private asked = false;
    private begunAt = 0;
    private parts: FileParts | undefined;
    /** The one under way was asked for here alone, so nobody else hears of it. */
    quiet = false;
    private saveEvery = 0;
    /** Whether checkpoints are kept. */
    private kept = false;

    /** Of a new run; `params` is 0 where none is to be kept. One from a file needs the first at once, as the file may go. */
    begin({ saveEvery = 0, resume = false }: RunSettings, params: number): void {
        Object.assign(this, { last: undefined, parts: undefined, asked: false, quiet: false, saveEvery });
        this.kept = params > 0 && params * PARAMETER_BYTES <= MOST_BYTES;
        this.due = !this.kept ? Infinity : performance.now() + (resume ? 0 : EVERY_MS);
    }

    /** Whether the run can be had again: from here, or from its beginning. */
    get enough(): boolean {
        return this.kept;
    }

    /** Whether a checkpoint must be asked for now. */
    takeDue(): boolean {
        if (this.asked || performance.now() < this.due) return false;
        return (this.asked = true);
    }

    /** A piece. Returns whether others are to hear of it. */
    add(chunk: FileChunk, othersAsked: boolean): boolean {
        if (!this.kept) return true;
        if (chunk.position === 0) {
            this.quiet = this.asked && !othersAsked;
            this.asked = false;
            this.parts = new FileParts();
            this.begunAt = performance.now();
        }
        this.parts?.add({ position: chunk.position, data: chunk.data.slice() });
        return !this.quiet;
    }

    /** The checkpoint under way is whole, or could not be made. */
    end(event: Saved['event']): void {
        const now = performance.now();
        if (this.parts && !event.failed) this.last = { event, file: this.parts, told: !this.quiet };
        if (this.kept) this.due = now + Math.max(EVERY_MS, (now - this.begunAt) / SHARE);
        this.parts = undefined;
    }

    /** One that whoever trains expects, but was not told of; it is taken to be told now. At a step that is due by itself, and at the end. */
    untold(over: boolean): Saved | undefined {
        const { last } = this;
        const expected = last && !last.told && (over || (this.saveEvery > 0 && last.event.step % this.saveEvery === 0));
        if (!expected) return undefined;
        last.told = true;
        return last;
    }
}
