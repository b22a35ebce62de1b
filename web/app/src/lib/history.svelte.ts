/** What a run told so far. Events come hundreds a second; the page hears of them a few times a second. */
import type { RunEvent } from 'posttrain-engine';
import { count, decimal } from './format';
import { MILESTONES, trendOf, trendWords, verdictOn, type Milestone, type Verdict } from './verdict';

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
    /** The same to draw a line through: without the check before any step, from which a line would run high above the curve. */
    checked: (number | null)[];
    lr: number[];
    /** Steps of a column. */
    width: number;
}

/** All of it up to a step, to be kept. */
export interface Snapshot {
    /** Losses, then learning rates. */
    curve: Float64Array<ArrayBuffer>;
    first: number;
    gradNorm: number | undefined;
    checks: [number, number][];
    samples: { step: number; text: string }[];
    spikes: number;
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

    /** Steps before the first that was heard of: those of a file. */
    readonly first: number;
    private readonly loss: number[] = [];
    private readonly lr: number[] = [];
    private readonly checks = new Map<number, number>();
    private latest: Step | undefined;
    private timer: ReturnType<typeof setTimeout> | undefined;

    constructor(aside = true, first = 0) {
        this.aside = aside;
        this.first = first;
    }

    /** As it was kept. */
    static of({ curve, first, gradNorm, checks, samples, spikes }: Snapshot, aside: boolean): History {
        const history = new History(aside, first);
        const n = curve.length / 2;
        for (let i = 0; i < n; i++) {
            history.loss.push(curve[i]!);
            history.lr.push(curve[n + i]!);
            history.passMilestones();
        }
        for (const [step, loss] of checks) history.checks.set(step, loss);
        const held = checks.at(-1);
        if (held) history.held = { step: held[0], loss: held[1] };
        if (n) history.latest = { type: 'step', step: first + n, loss: curve[n - 1]!, lr: curve[2 * n - 1]!, gradNorm: gradNorm ?? NaN, seconds: 0, tokensPerSecond: 0 };
        Object.assign(history, { samples, spikes });
        history.refresh();
        return history;
    }

    snapshot(step: number): Snapshot {
        const n = step - this.first;
        const curve = new Float64Array(2 * n);
        curve.set(this.loss.slice(0, n));
        curve.set(this.lr.slice(0, n), n);
        return {
            curve,
            first: this.first,
            gradNorm: this.latest?.gradNorm,
            checks: [...this.checks].filter(([at]) => at <= step),
            samples: this.samples.filter((sample) => sample.step <= step),
            spikes: this.spikes,
        };
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
            // A run that goes on does again what was due when it was saved.
            this.samples = [...this.samples.filter(({ step }) => step !== event.step), { step: event.step, text: event.text }];
        } else if (event.type === 'spiked') {
            this.spikes++;
        } else if (event.type === 'restored') {
            this.rewindTo(event.step);
        }
        if (this.latest && !this.last) this.refresh();
        else this.timer ??= setTimeout(() => this.refresh(), REFRESH_MS);
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
            this.milestones = [...this.milestones, { step: this.count, below, words }];
        }
    }

    /** The mean of the last few steps. */
    get recent(): number {
        const n = this.loss.length;
        return n ? mean(this.loss, Math.max(0, n - RECENT), n) : NaN;
    }

    /** How much worse it did on text that it never sees, at the last check; undefined where none is held out, and before the first step. */
    get gap(): number | undefined {
        const n = this.held ? this.held.step - this.first : 0;
        return this.held && this.aside && n > 0 ? this.held.loss - mean(this.loss, Math.max(0, n - RECENT), n) : undefined;
    }

    verdict(): Verdict | undefined {
        const checks = [...this.checks].map(([step, loss]) => ({ step, loss }));
        return verdictOn(this.loss, this.aside ? checks : []);
    }

    /** What came after a step is forgotten: the run goes on from there. */
    rewindTo(step: number): void {
        this.loss.length = this.lr.length = Math.max(0, Math.min(step - this.first, this.loss.length));
        const n = this.loss.length;
        if (this.latest && this.latest.step > step) this.latest = n ? { ...this.latest, step, loss: this.loss[n - 1]!, lr: this.lr[n - 1]! } : undefined;
        for (const at of this.checks.keys()) if (at > step) this.checks.delete(at);
        this.samples = this.samples.filter((sample) => sample.step <= step);
        this.milestones = this.milestones.filter((milestone) => milestone.step <= step);
        this.held = [...this.checks].map(([at, loss]) => ({ step: at, loss })).at(-1);
        this.refresh();
    }

    /** Steps done. */
    get count(): number {
        return this.first + this.loss.length;
    }

    /** Differs when there is something new to save. */
    get mark(): string {
        return `${this.count} ${this.checks.size} ${this.samples.length}`;
    }

    /** The loss of step `first + i + 1`, for each i. */
    get losses(): readonly number[] {
        return this.loss;
    }

    /** At most `most` columns, each the mean of its steps. */
    curve(most = MOST_POINTS, width = Math.max(1, Math.ceil(this.loss.length / most))): Curve {
        const curve: Curve = { steps: [], train: [], validation: [], checked: [], lr: [], width };
        for (let from = 0; from < this.loss.length; from += width) {
            const to = Math.min(from + width, this.loss.length);
            curve.steps.push(this.first + to);
            curve.train.push(mean(this.loss, from, to));
            curve.lr.push(this.lr[to - 1]!);
            curve.validation.push(null);
            curve.checked.push(null);
        }
        // A check comes after as many steps as its number says; the first, before any, stands with the first step.
        for (const [step, loss] of this.checks) {
            const column = Math.max(0, Math.ceil((step - this.first) / width) - 1);
            if (column >= curve.steps.length) continue;
            curve.validation[column] = loss;
            if (step > 0 || this.checks.size === 1) curve.checked[column] = loss;
        }
        return curve;
    }

    /** Of which step the last check is: it may be old. */
    get heldWhen(): string {
        return this.held?.step ? `at step ${count(this.held.step)}` : 'before step 1';
    }

    /** A sentence for who cannot, or need not, see the curve. */
    summary(): string {
        const n = this.loss.length;
        if (n === 0) return 'No step is done yet.';
        const tenth = Math.max(1, Math.min(100, Math.floor(n / 10)));
        const now = mean(this.loss, n - tenth, n);
        const first = this.loss[0]!;
        const held = this.held ? ` On ${this.aside ? 'text it never learns from' : 'the same text again'}: ${decimal(this.held.loss, 2)}, ${this.heldWhen}.` : '';
        if (n < 20) return `Loss ${decimal(first, 2)} at first, ${decimal(now, 2)} after ${n === 1 ? 'one step' : `${n} steps`}.${held}`;
        return `Loss went from ${decimal(first, 2)} to ${decimal(now, 2)} in ${count(n)} steps, ${trendWords(trendOf(this.loss).fell)}.${held}`;
    }
}
