/** What a run told so far. Events come hundreds a second; the page hears of them a few times a second. */
import type { RunEvent } from 'posttrain-engine';
import { count, decimal } from './format';
import { MILESTONES, verdictOn, type Milestone, type Verdict } from './verdict';

const REFRESH_MS = 250;
const MOST_POINTS = 1500;
/** Steps whose mean stands for the loss now. */
const RECENT = 20;

type Step = Extract<RunEvent, { type: 'step' }>;

/** A column for each step or, of a long run, for each few steps. */
export interface Curve {
    steps: number[];
    train: number[];
    validation: (number | null)[];
    lr: number[];
}

function mean(values: number[], from: number, to: number): number {
    let sum = 0;
    for (let i = from; i < to; i++) sum += values[i]!;
    return sum / (to - from);
}

export class History {
    last = $state.raw<Step | undefined>();
    held = $state.raw<{ step: number; loss: number } | undefined>();
    samples = $state.raw<{ step: number; text: string }[]>([]);
    spikes = $state(0);
    milestones = $state.raw<Milestone[]>([]);
    /** Grows with each refresh: what depends on the curve depends on it. */
    version = $state(0);

    /** Whether there is text that is not learned from. */
    readonly aside: boolean;

    private readonly loss: number[] = [];
    private readonly lr: number[] = [];
    private readonly checks = new Map<number, number>();
    private latest: Step | undefined;
    private timer: ReturnType<typeof setTimeout> | undefined;

    constructor(aside = true) {
        this.aside = aside;
    }

    hear(event: RunEvent): void {
        if (event.type === 'step') {
            this.latest = event;
            this.loss.push(event.loss);
            this.lr.push(event.lr);
            this.passMilestones();
        } else if (event.type === 'evaluated') {
            this.checks.set(event.step, event.loss);
            this.held = { step: event.step, loss: event.loss };
        } else if (event.type === 'sampled') {
            this.samples = [...this.samples, { step: event.step, text: event.text }];
        } else if (event.type === 'spiked') {
            this.spikes++;
        }
        this.timer ??= setTimeout(() => this.refresh(), REFRESH_MS);
    }

    refresh(): void {
        clearTimeout(this.timer);
        this.timer = undefined;
        this.last = this.latest;
        this.version++;
    }

    private passMilestones(): void {
        const now = this.recent;
        for (const { below, words } of MILESTONES.slice(this.milestones.length)) {
            if (this.loss.length < RECENT || now >= below) return;
            this.milestones = [...this.milestones, { step: this.loss.length, below, words }];
        }
    }

    /** The mean of the last few steps. */
    get recent(): number {
        const n = this.loss.length;
        return n ? mean(this.loss, Math.max(0, n - RECENT), n) : NaN;
    }

    /** How much worse it does on text that it never sees; undefined where none is held out. */
    get gap(): number | undefined {
        return this.held && this.aside && this.loss.length ? this.held.loss - this.recent : undefined;
    }

    verdict(): Verdict | undefined {
        const checks = [...this.checks].map(([step, loss]) => ({ step, loss }));
        return verdictOn(this.loss, this.aside ? checks : []);
    }

    /** What came after a step is forgotten: the run goes on from there. */
    rewindTo(step: number): void {
        this.loss.length = this.lr.length = Math.min(step, this.loss.length);
        for (const at of this.checks.keys()) if (at > step) this.checks.delete(at);
        this.samples = this.samples.filter((sample) => sample.step <= step);
        this.milestones = this.milestones.filter((milestone) => milestone.step <= step);
        this.held = [...this.checks].map(([at, loss]) => ({ step: at, loss })).at(-1);
        this.refresh();
    }

    get count(): number {
        return this.loss.length;
    }

    /** At most `most` columns, each the mean of its steps. */
    curve(most = MOST_POINTS): Curve {
        const width = Math.max(1, Math.ceil(this.loss.length / most));
        const curve: Curve = { steps: [], train: [], validation: [], lr: [] };
        for (let from = 0; from < this.loss.length; from += width) {
            const to = Math.min(from + width, this.loss.length);
            curve.steps.push(to);
            curve.train.push(mean(this.loss, from, to));
            curve.lr.push(this.lr[to - 1]!);
            curve.validation.push(null);
        }
        // A check comes after as many steps as its number says; the first, before any, stands with the first step.
        for (const [step, loss] of this.checks) {
            const column = Math.max(0, Math.ceil(step / width) - 1);
            if (column < curve.steps.length) curve.validation[column] = loss;
        }
        return curve;
    }

    /** A sentence for who cannot, or need not, see the curve. */
    summary(): string {
        const n = this.loss.length;
        if (n === 0) return 'No step is done yet.';
        const tenth = Math.max(1, Math.min(100, Math.floor(n / 10)));
        const now = mean(this.loss, n - tenth, n);
        const first = this.loss[0]!;
        const held = this.held ? ` On ${this.aside ? 'text it never learns from' : 'the same text again'}: ${decimal(this.held.loss, 2)}.` : '';
        if (n < 20) return `Loss ${decimal(first, 2)} at first, ${decimal(now, 2)} after ${n === 1 ? 'one step' : `${n} steps`}.${held}`;
        const fell = mean(this.loss, n - 2 * tenth, n - tenth) - now;
        const trend = fell > 0.01 ? 'still falling' : fell < -0.02 ? 'rising of late' : 'level of late';
        return `Loss went from ${decimal(first, 2)} to ${decimal(now, 2)} in ${count(n)} steps, ${trend}.${held}`;
    }
}
