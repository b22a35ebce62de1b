/** Two saves of each run: while one is written, the other is whole.
 *
 * A slot's files count for nothing without its seal. The seal goes before the first byte is written, and comes back,
 * with the next number, once all of them are proved. So whenever the tab is killed, the slot that is sealed is whole. */

export const slots = ['a', 'b'] as const;
export type Slot = (typeof slots)[number];

export const slotFiles = ['model.tinygpt', 'curve.f64', 'record.json'] as const;
export type SlotFile = (typeof slotFiles)[number];

export interface Seal {
    /** Grows with each save of the run. */
    number: number;
    step: number;
    files: Record<SlotFile, { bytes: number; print: string }>;
}

export type Seals = Record<Slot, Seal | undefined>;

const isCount = (v: unknown): v is number => Number.isSafeInteger(v) && (v as number) >= 0;

/** Undefined for what is no seal: one that was cut short, say. */
export function readSeal(text: string): Seal | undefined {
    try {
        const seal = JSON.parse(text) as Seal;
        const whole = slotFiles.every((name) => isCount(seal.files[name].bytes) && typeof seal.files[name].print === 'string');
        return whole && isCount(seal.number) && isCount(seal.step) ? seal : undefined;
    } catch {
        return undefined;
    }
}

/** The slots that may be read, the newest first. */
export function toRead(seals: Seals): Slot[] {
    return slots.filter((slot) => seals[slot]).sort((x, y) => seals[y]!.number - seals[x]!.number);
}

/** The slot whose loss costs least. */
export function toWrite(seals: Seals): Slot {
    return slots.find((slot) => !seals[slot]) ?? toRead(seals)[1]!;
}

export function nextNumber(seals: Seals): number {
    return 1 + Math.max(0, ...slots.map((slot) => seals[slot]?.number ?? 0));
}
