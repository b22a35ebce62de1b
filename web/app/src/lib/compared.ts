/** Two runs beside each other: their curves on the same steps, and what was different in setting them up. */
import type { Kept } from '../shelf/protocol';
import type { RunRecord } from '../shelf/record';
import { History, type Curve } from './history.svelte';
import { count } from './format';
import { fromRun, keepsAside, modelKnobs, runKnobs, schedules } from './knobs';

const MOST_POINTS = 600;
const LAST = 10;

export interface Difference {
    label: string;
    term: string;
    values: [string, string];
}

const rows: { label: string; term: string; of: (record: RunRecord) => string }[] = [
    ...[...runKnobs, ...modelKnobs].map(({ name, label, term }) => ({ label, term, of: (record: RunRecord) => String(fromRun(record.settings)[name] ?? 'unknown') })),
    { label: 'Learning rate over time', term: 'schedule', of: ({ settings }) => schedules.find(({ value }) => value === settings.schedule)?.label ?? 'constant' },
    { label: 'Text', term: 'corpus', of: ({ corpus }) => `${corpus.name}, ${corpus.sha256.slice(0, 8)}` },
    { label: 'Arithmetic', term: 'instruction set', of: ({ engine, strict }) => `${engine.isa}${strict ? ', exact' : ''}` },
    { label: 'Trained on', term: 'later plans', of: ({ steps, settings }) => (steps === settings.steps ? 'no' : `to step ${count(steps)}`) },
    { label: 'Steps before the curve', term: 'first step', of: ({ first }) => String(first) },
];

export function differences(a: RunRecord, b: RunRecord): Difference[] {
    const all = rows.map(({ label, term, of }): Difference => ({ label, term, values: [of(a), of(b)] }));
    return all.filter(({ values }) => values[0] !== values[1]);
}

export interface Curves {
    steps: number[];
    a: Curve;
    b: Curve;
    /** On `steps`: a's training and held-out losses, then b's. */
    lines: (number | null)[][];
    width: number;
}

export function historyOf({ record, curve }: Kept): History {
    return History.of({ ...record, curve, gradNorm: record.gradNorm ?? undefined }, keepsAside(record.corpus.bytes, record.settings.ctx ?? 0));
}

function onSteps(steps: number[], curve: Curve, values: (number | null)[]): (number | null)[] {
    const at = new Map(curve.steps.map((step, i) => [step, values[i] ?? null]));
    return steps.map((step) => at.get(step) ?? null);
}

export function curvesOf(a: History, b: History): Curves {
    const width = Math.max(1, Math.ceil(Math.max(a.losses.length, b.losses.length) / MOST_POINTS));
    const curves = [a.curve(MOST_POINTS, width), b.curve(MOST_POINTS, width)] as const;
    const steps = [...new Set(curves.flatMap((curve) => curve.steps))].sort((x, y) => x - y);
    const lines = curves.flatMap((curve) => [onSteps(steps, curve, curve.train), onSteps(steps, curve, curve.checked)]);
    return { steps, a: curves[0], b: curves[1], lines, width };
}

/** The mean of the last few losses, up to so many steps: one alone says little. */
export function lastLoss({ losses }: History, steps = losses.length): number | undefined {
    const last = losses.slice(Math.max(0, steps - LAST), steps);
    return last.length ? last.reduce((sum, loss) => sum + loss, 0) / last.length : undefined;
}
