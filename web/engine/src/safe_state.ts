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

interface UnderWay {
    file: FileParts;
    /** It was asked for here alone, so nobody else hears of it. */
    quiet: boolean;
}

export class SafeState {
    /** The last whole one. */
    last: Saved | undefined;
    /** Another is to be asked for from then on. */
    private due = Infinity;
    private asked = false;
    private begunAt = 0;
    /** Those under way, the earliest first: bytes come at once, events after the poll, by when the next may have begun. */
    private underWay: UnderWay[] = [];
    private saveEvery = 0;
    /** Whether checkpoints are kept. */
    private kept = false;

    /** Of a new run; `params` is 0 where none is to be kept. One from a file needs the first at once, as the file may go. */
    begin({ saveEvery = 0, resume = false }: RunSettings, params: number): void {
        Object.assign(this, { last: undefined, underWay: [], asked: false, saveEvery });
        this.kept = params > 0 && params * PARAMETER_BYTES <= MOST_BYTES;
        this.due = !this.kept ? Infinity : performance.now() + (resume ? 0 : EVERY_MS);
    }

    /** Whether the run can be had again: from here, or from its beginning. */
    get enough(): boolean {
        return this.kept;
    }

    /** Nobody hears of the one that the next event is about. */
    get quiet(): boolean {
        return this.underWay[0]?.quiet ?? false;
    }

    /** The run that made those under way is no more. */
    abandon(): void {
        Object.assign(this, { underWay: [], asked: false });
    }

    /** Whether a checkpoint must be asked for now. */
    takeDue(): boolean {
        if (this.asked || this.underWay.length || performance.now() < this.due) return false;
        return (this.asked = true);
    }

    /** A piece. Returns whether others are to hear of it. */
    add(chunk: FileChunk, othersAsked: boolean): boolean {
        if (!this.kept) return true;
        if (chunk.position === 0) {
            this.underWay.push({ file: new FileParts(), quiet: this.asked && !othersAsked });
            this.asked = false;
            this.begunAt = performance.now();
        }
        const now = this.underWay.at(-1);
        now?.file.add({ position: chunk.position, data: chunk.data.slice() });
        return !now?.quiet;
    }

    /** The earliest under way is whole, or could not be made. */
    end(event: Saved['event']): void {
        const now = performance.now();
        const whole = this.underWay.shift();
        if (whole && !event.failed) this.last = { event, file: whole.file, told: !whole.quiet };
        if (this.kept) this.due = now + Math.max(EVERY_MS, (now - this.begunAt) / SHARE);
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
