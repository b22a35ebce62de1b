/** A run trained again with one knob changed. */
import type { RunRecord } from '../shelf/record';
import { fromRun, modelKnobs, problemOf, runKnobs, type KnobName, type Settings } from './knobs';

export const turnable = [...runKnobs, ...modelKnobs];

/** What to try, where the visitor has no idea yet. */
export function suggestion(record: RunRecord, name: KnobName): number {
    const value = fromRun(record.settings)[name] ?? 0;
    if (name === 'seed') return value + 1;
    if (name === 'dropout') return value ? 0 : 0.1;
    if (name === 'lr') return Number((value / 4).toPrecision(3));
    if (name === 'warmup') return value ? 0 : 50;
    if (name === 'heads') return value > 1 ? value / 2 : 2;
    return value * 2;
}

export function turned(record: RunRecord, name: KnobName, value: number | undefined): { settings: Settings; problem: string | undefined } {
    const before = fromRun(record.settings);
    const knob = turnable.find((one) => one.name === name)!;
    const problem = problemOf(knob, value) ?? (value === before[name] ? `${knob.label} is ${value} already: give another value.` : undefined);
    return { settings: { ...before, [name]: value }, problem };
}

/** Only what this page set up itself can be set up again: a run that came as a file began elsewhere, and one
 * that went back had other settings before. */
export function repeatable(record: RunRecord): boolean {
    return record.first === 0 && !record.rewound && record.settings.preset !== undefined;
}
