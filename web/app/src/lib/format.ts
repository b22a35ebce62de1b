/** Numbers as people read them. */
const RAISED = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const whole = new Intl.NumberFormat('en');

export function count(n: number): string {
    return whole.format(Math.round(n));
}

/** With so many decimals, or as a power of ten when it is huge. */
export function decimal(n: number, places: number): string {
    return Math.abs(n) < 10_000 ? n.toFixed(places) : n.toExponential(1).replace(/e\+(\d+)/, (_, e: string) => ` × 10${[...e].map((digit) => RAISED[Number(digit)]).join('')}`);
}

/** Three figures, as short as they go. */
export function short(n: number): string {
    return String(Number(n.toPrecision(3)));
}

export function bytes(n: number): string {
    if (n < 1000) return n === 1 ? '1 byte' : `${n} bytes`;
    const [unit, size] = n < 1e6 ? ['kB', 1e3] : n < 1e9 ? ['MB', 1e6] : ['GB', 1e9];
    const value = n / size;
    return `${value.toFixed(value < 10 && unit !== 'kB' ? 1 : 0)} ${unit}`;
}

export function duration(seconds: number): string {
    const s = Math.max(0, Math.round(seconds));
    if (s < 60) return `${s} s`;
    if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
    return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

/** The same, as one says it of an estimate. */
export function roughly(seconds: number): string {
    const sizes: [number, string][] = [[86400, 'days'], [3600, 'h'], [60, 'min'], [1, 's']];
    const [size, unit] = sizes.find(([length]) => seconds >= 1.5 * length) ?? [1, 's'];
    const n = Math.max(1, seconds / size);
    return `${n < 3 && size > 1 ? Math.round(2 * n) / 2 : count(n)} ${unit}`;
}

export function percent(p: number): string {
    if (p > 0 && p < 0.001) return '< 0.1 %';
    return `${(100 * p).toFixed(1)} %`;
}

/** A byte as something to look at: some have no ink, and some are no character by themselves. */
export function visible(id: number, text: string): string {
    if (text === ' ') return 'space';
    if (text === '\n') return 'newline';
    if (text === '\t') return 'tab';
    if (text === '\r') return 'return';
    return id < 32 || id > 126 ? `byte 0x${id.toString(16).padStart(2, '0').toUpperCase()}` : text;
}

/** The same, as one sign. */
export function sign(id: number, text: string): string {
    const signs: Record<string, string> = { ' ': '␣', '\n': '⏎', '\t': '⇥', '\r': '␍' };
    return signs[text] ?? (id > 32 && id < 127 ? text : '▯');
}
