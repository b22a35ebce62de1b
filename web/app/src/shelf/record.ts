/** What is kept of a run beside its weights, its curve and its text. */
import type { RunSettings } from 'posttrain-engine';

export interface CorpusFacts {
    name: string;
    bytes: number;
    /** Of all its bytes, in hexadecimal. */
    sha256: string;
    /** It comes with the page and is not kept again. */
    builtIn: boolean;
}

export interface RunRecord {
    format: 1;
    id: string;
    name: string;
    /** ISO dates. */
    created: string;
    saved: string;
    /** As it was begun. */
    settings: RunSettings;
    /** Steps that it has, and shall have; and those before its curve begins, of a run that came as a file. */
    step: number;
    steps: number;
    first: number;
    strict: boolean;
    /** It went on from an earlier step with other settings: they do not tell its whole curve. */
    rewound?: boolean;
    engine: { module: string; isa: string; version: string };
    corpus: CorpusFacts;
    loss: number | undefined;
    gradNorm: number | undefined;
    /** Step and loss. */
    checks: [number, number][];
    samples: { step: number; text: string }[];
    spikes: number;
}

type Shape = { [key: string]: (value: unknown) => boolean };

const isText = (v: unknown) => typeof v === 'string';
const isCount = (v: unknown) => Number.isSafeInteger(v) && (v as number) >= 0;
const isNumber = (v: unknown) => typeof v === 'number';
const isSwitch = (v: unknown) => typeof v === 'boolean';
const isObject = (v: unknown): v is Record<string, unknown> => typeof v === 'object' && v !== null && !Array.isArray(v);
const maybe = (is: (v: unknown) => boolean) => (v: unknown) => v === undefined || v === null || is(v);
const listOf = (is: (v: unknown) => boolean) => (v: unknown) => Array.isArray(v) && v.every(is);
const fits = (shape: Shape) => (v: unknown) => isObject(v) && Object.entries(shape).every(([key, is]) => is(v[key]));

const FORMAT = 1;

const isRecord = fits({
    format: (v) => v === FORMAT,
    id: isText,
    name: isText,
    created: isText,
    saved: isText,
    settings: isObject,
    step: isCount,
    steps: isCount,
    first: isCount,
    strict: isSwitch,
    rewound: maybe(isSwitch),
    engine: fits({ module: isText, isa: isText, version: isText }),
    corpus: fits({ name: isText, bytes: isCount, sha256: isText, builtIn: isSwitch }),
    loss: maybe(isNumber),
    gradNorm: maybe(isNumber),
    checks: listOf((v) => Array.isArray(v) && v.length === 2 && isCount(v[0]) && isNumber(v[1])),
    samples: listOf(fits({ step: isCount, text: isText })),
    spikes: isCount,
});

/** Undefined for what is no record. */
export function readRecord(text: string): RunRecord | 'newer' | undefined {
    try {
        const value: unknown = JSON.parse(text);
        if (isObject(value) && Number.isSafeInteger(value['format']) && (value['format'] as number) > FORMAT) return 'newer';
        return isRecord(value) ? (value as RunRecord) : undefined;
    } catch {
        return undefined;
    }
}
