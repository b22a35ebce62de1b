/** A run as a link: all settings, the seed, and what the text's bytes are. Whoever opens it gets the same curve.
 *
 * `#run=1&preset=tiny&…&sha256=…`: after the version every key of it once, none else. A page that wants another key takes
 * another version. */
import type { CorpusFacts } from '../shelf/record';
import { modelKnobs, presetNames, problemOf, runKnobs, schedules, type KnobName, type Settings } from './knobs';

const BEGIN = '#run=';
const VERSION = '1';
const LONGEST = 2000;
const LONGEST_NAME = 80;
const MOST_BYTES = 4e9;
const knobs = [...modelKnobs, ...runKnobs];
const keys = ['run', 'preset', ...knobs.map(({ name }) => name), 'schedule', 'text', 'bytes', 'sha256'];

export interface Shared {
    settings: Settings;
    text: { name: string; bytes: number; sha256: string };
}

export function isShared(hash: string): boolean {
    return hash.startsWith(BEGIN);
}

export function linkOf(settings: Settings, corpus: CorpusFacts): string {
    const fields = new URLSearchParams({ run: VERSION, preset: settings.preset });
    for (const { name } of knobs) fields.set(name, String(settings[name]));
    fields.set('schedule', settings.schedule);
    fields.set('text', [...corpus.name.replace(/\p{Cc}/gu, ' ')].slice(0, LONGEST_NAME).join(''));
    fields.set('bytes', String(corpus.bytes));
    fields.set('sha256', corpus.sha256);
    return `#${fields}`;
}

/** For an error message: short, and nothing but what can be read. */
function quote(text: string): string {
    const plain = text.replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '?');
    return `“${plain.length > 30 ? `${plain.slice(0, 30)}…` : plain}”`;
}

function number(text: string, what: string): number {
    if (!/^\d{1,20}(\.\d{1,20})?(e-?\d{1,3})?$/.test(text)) throw new Error(`${what} is ${quote(text)}, which is no number`);
    return Number(text);
}

function knobsOf(fields: URLSearchParams): Record<KnobName, number> {
    const values = knobs.map((knob) => {
        const value = number(fields.get(knob.name)!, knob.label);
        const problem = problemOf(knob, value);
        if (problem) throw new Error(problem.replace(/\.$/, ''));
        return [knob.name, value];
    });
    return Object.fromEntries(values) as Record<KnobName, number>;
}

function textOf(fields: URLSearchParams): Shared['text'] {
    const name = fields.get('text')!;
    const bytes = number(fields.get('bytes')!, 'the size of the text');
    const sha256 = fields.get('sha256')!;
    if (name.length > 2 * LONGEST_NAME || /\p{Cc}/u.test(name)) throw new Error('the name of the text is none');
    if (!Number.isSafeInteger(bytes) || bytes < 1 || bytes > MOST_BYTES) throw new Error(`the text would have ${quote(String(bytes))} bytes`);
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw new Error('the hash of the text is no SHA-256');
    return { name, bytes, sha256 };
}

/** Throws what is wrong with the link, to stand after a colon. */
function read(hash: string): Shared {
    if (hash.length > LONGEST) throw new Error(`it has ${hash.length} characters, at most ${LONGEST} make sense`);
    const fields = new URLSearchParams(hash.slice(1));
    const version = fields.get('run')!;
    if (version !== VERSION) throw new Error(`it is of version ${quote(version)}, and this page reads version ${VERSION}`);
    for (const key of fields.keys()) {
        if (!keys.includes(key)) throw new Error(`this page has no setting ${quote(key)}`);
        if (fields.getAll(key).length > 1) throw new Error(`it says ${quote(key)} twice`);
    }
    const missing = keys.find((key) => !fields.has(key));
    if (missing) throw new Error(`it does not say ${quote(missing)}`);
    const preset = fields.get('preset')!;
    const schedule = schedules.find(({ value }) => value === fields.get('schedule'))?.value;
    if (!presetNames.includes(preset)) throw new Error(`there is no size ${quote(preset)}`);
    if (!schedule) throw new Error(`there is no schedule ${quote(fields.get('schedule')!)}`);
    return { settings: { preset, schedule, ...knobsOf(fields) }, text: textOf(fields) };
}

/** The run, or one sentence. */
export function readLink(hash: string): { shared: Shared } | { problem: string } {
    try {
        return { shared: read(hash) };
    } catch (error) {
        return { problem: `This link cannot be followed: ${(error as Error).message}.` };
    }
}
