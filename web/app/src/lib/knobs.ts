/** The settings that the page offers: what each is called, what it may be, and why one would turn it. */
import type { Preset, RunSettings } from 'posttrain-engine';

export type KnobName = 'steps' | 'batch' | 'lr' | 'seed' | 'ctx' | 'layers' | 'dModel' | 'heads' | 'warmup' | 'dropout';
export type Schedule = NonNullable<RunSettings['schedule']>;

export interface Settings extends Record<KnobName, number | undefined> {
    preset: string;
    schedule: Schedule;
}

export interface Knob {
    name: KnobName;
    /** In plain words, and as the literature says. */
    label: string;
    term: string;
    min: number;
    max: number;
    step: number | 'any';
    why: string;
}

export const modelKnobs: Knob[] = [
    {
        name: 'layers', label: 'Depth', term: 'layers', min: 1, max: 48, step: 1,
        why: 'How many blocks the text passes through, one after another. More can find more involved patterns; time and memory grow in proportion.',
    },
    {
        name: 'dModel', label: 'Width', term: 'd_model', min: 8, max: 2048, step: 1,
        why: 'How many numbers stand for each character inside the model. Doubling it makes about four times the parameters. It must be a multiple of the heads.',
    },
    {
        name: 'heads', label: 'Attention heads', term: 'heads', min: 1, max: 64, step: 1,
        why: 'Each head looks back at the text for something of its own. They share the width between them.',
    },
    {
        name: 'ctx', label: 'How far it looks back', term: 'context', min: 8, max: 2048, step: 1,
        why: 'How many bytes the model sees at once. It cannot use anything that stands further back.',
    },
    {
        name: 'dropout', label: 'Forgetting on purpose', term: 'dropout', min: 0, max: 0.9, step: 'any',
        why: 'The share of values set to zero at random in each step. It helps when a small text is read many times; otherwise leave it at 0.',
    },
];

export const runKnobs: Knob[] = [
    {
        name: 'steps', label: 'How long', term: 'steps', min: 1, max: 1_000_000, step: 1,
        why: 'How many times the weights are corrected. The loss falls fast at first, then ever more slowly.',
    },
    {
        name: 'batch', label: 'Examples per step', term: 'batch size', min: 1, max: 512, step: 1,
        why: 'How many passages are read before each correction. More make the direction surer and each step slower.',
    },
    {
        name: 'lr', label: 'Size of a correction', term: 'learning rate', min: 0, max: 1000, step: 'any',
        why: 'The knob that matters most. Too small and nothing is learned in time; too large and the loss jumps about or becomes infinite. Small models bear more.',
    },
    {
        name: 'warmup', label: 'Gentle start', term: 'warm-up steps', min: 0, max: 1_000_000, step: 1,
        why: 'The learning rate grows from nothing over so many steps, because the first directions are the worst.',
    },
    {
        name: 'seed', label: 'Luck', term: 'seed', min: 0, max: Number.MAX_SAFE_INTEGER, step: 1,
        why: 'Where the random numbers begin: first weights, order of the passages. The same seed gives the same run on the same machine.',
    },
];

export const schedules: { value: Schedule; label: string }[] = [
    { value: 'cosine', label: 'cosine: falls smoothly' },
    { value: 'wsd', label: 'WSD: falls at the end' },
    { value: 'constant', label: 'constant: stays' },
];
export const scheduleWhy =
    'How the learning rate changes on the way. Cosine falls smoothly to zero; WSD (warm-up, stable, decay) stays and falls in the last tenth; constant stays. Falling towards the end lets the model settle and usually gives the lower loss.';

/** A token is a byte. */
export const VOCAB = 256;
export const presetNames = ['tiny', 'small', 'medium', 'large', 'xl', 'huge', 'massive', 'mega', 'behemoth'];

export function fromPreset(preset: Preset): Settings {
    const { name, layers, dModel, heads, ctx, batch, steps } = preset;
    return { preset: name, layers, dModel, heads, ctx, batch, steps, lr: 2e-3, warmup: 50, seed: 42, dropout: 0, schedule: 'cosine' };
}

/** With all its digits, while they can be read. */
export function figure(value: number): string {
    return Math.abs(value) < 1e16 ? value.toLocaleString('en', { maximumFractionDigits: 20 }) : String(value);
}

/** What is wrong with a knob's value, for people; undefined when nothing is. */
export function problemOf(knob: Knob, value: number | undefined): string | undefined {
    if (value === undefined || !Number.isFinite(value)) return `${knob.label}: give a number.`;
    if (value < knob.min || value > knob.max) return `${knob.label} is ${figure(value)}; it can be ${knob.min} to ${figure(knob.max)}.`;
    if (knob.step === 1 && !Number.isInteger(value)) return `${knob.label} is ${figure(value)}; give a whole number.`;
    return undefined;
}

export function rangeOf(knob: Knob): string {
    if (knob.name === 'seed') return '0 or more';
    return `${knob.min} to ${figure(knob.max)}`;
}

/** Whether a text is long enough for the trainer to keep its last tenth aside. */
export function keepsAside(size: number, ctx: number): boolean {
    const tenth = Math.ceil(size / 10);
    return tenth > ctx && size - tenth > ctx;
}

/** What the engine is asked for. */
export function runSettings(s: Settings, corpusBytes: number): RunSettings {
    const given = Object.fromEntries([...modelKnobs, ...runKnobs].map(({ name }) => [name, s[name]]));
    const steps = s.steps ?? 1;
    return {
        ...given,
        preset: s.preset,
        schedule: s.schedule,
        dMlp: 4 * (s.dModel ?? 0),
        ...pace(steps),
        corpusBytes,
    };
}

/** How often a run of so many steps is looked at: some twenty times, a long one more often, so that its numbers are never old. A check is
 * of as many batches as take about a twelfth of the time until the next. */
export function pace(steps: number) {
    const evalEvery = within(1, Math.round(steps / 20), 100);
    return { evalEvery, evalBatches: within(2, Math.round(evalEvery / 4), 20), sampleEvery: within(1, Math.round(steps / 10), 400), sampleTokens: 200 };
}

function within(least: number, n: number, most: number): number {
    return Math.max(least, Math.min(n, most));
}

/** Back from what the engine was asked for to what the page offers. */
export function fromRun(s: RunSettings): Settings {
    const preset = { name: s.preset ?? '', layers: s.layers, dModel: s.dModel, heads: s.heads, ctx: s.ctx, batch: s.batch, steps: s.steps };
    const { lr, warmup = 0, dropout = 0, schedule = 'constant' } = s;
    const { name, ...shape } = preset;
    return { preset: name, ...shape, lr, warmup, seed: Number(s.seed ?? 42), dropout, schedule };
}

/** The engine's sentences name options as the command line does. */
export function inPlainWords(message: string): string {
    const names: Record<string, string> = {
        ctx: 'context', lr: 'learning rate', 'd-model': 'width', warmup: 'warm-up', batch: 'batch size', n_heads: 'heads',
    };
    const words = message.replace(/--([a-z-]+)/g, (_, name: string) => names[name] ?? name);
    return words.charAt(0).toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? '' : '.');
}
