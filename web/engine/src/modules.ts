/** Which module this host can run, and its memory. */
import { platform } from '#platform';
import { EngineError, type ModuleName } from './types.js';

const PAGE = 65536;
/** The highest maxima that were ever granted, and what to try where a host refuses. */
const PAGES_32 = [65536, 32768, 16384, 8192];
const PAGES_64 = [262144, 131072, 98304];
/** At first. A module's data and stack take a quarter of it. */
const PAGES_AT_FIRST = 64;

interface ModuleFacts {
    threads: boolean;
    relaxed: boolean;
    wide: boolean;
}

export const facts: Record<ModuleName, ModuleFacts> = {
    wasm32: { threads: false, relaxed: false, wide: false },
    scalar: { threads: false, relaxed: false, wide: false },
    'wasm32-threads': { threads: true, relaxed: false, wide: false },
    'wasm32-relaxed': { threads: true, relaxed: true, wide: false },
    'wasm64-threads': { threads: true, relaxed: false, wide: true },
    'wasm64-relaxed': { threads: true, relaxed: true, wide: true },
};

const HEADER = [0, 97, 115, 109, 1, 0, 0, 0];
const FUNCTION_OF_V128 = [1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0];

function validates(bytes: number[]): boolean {
    return WebAssembly.validate(new Uint8Array([...HEADER, ...bytes]));
}

/** i32.const 0, i8x16.splat, i8x16.popcnt */
function hasSimd(): boolean {
    return validates([...FUNCTION_OF_V128, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);
}

/** two splats, i8x16.relaxed_swizzle */
function hasRelaxedSimd(): boolean {
    return validates([...FUNCTION_OF_V128, 10, 15, 1, 13, 0, 65, 1, 253, 15, 65, 2, 253, 15, 253, 128, 2, 11]);
}

interface Limits {
    initial: number | bigint;
    maximum?: number | bigint;
    shared?: boolean;
    address?: 'i64';
}

function makeMemory(limits: Limits): WebAssembly.Memory | undefined {
    try {
        return new WebAssembly.Memory(limits as WebAssembly.MemoryDescriptor);
    } catch {
        return undefined;
    }
}

function hasMemory64(): boolean {
    return makeMemory({ address: 'i64', initial: 1n, maximum: 1n, shared: true }) !== undefined;
}

let refused = '';

/** From now on modules without threads are chosen, though the host may have them; `why` is told as the reason. */
export function refuseThreads(why: string): void {
    refused = why;
}

function whyUnshared(): string {
    return refused || platform.unshared();
}

/** What the host can do, for people. */
export interface HostAbilities {
    simd: boolean;
    relaxedSimd: boolean;
    memory64: boolean;
    /** Why there can be no threads; empty where there can. */
    unshared: string;
    cores: number;
}

export function hostAbilities(): HostAbilities {
    return { simd: hasSimd(), relaxedSimd: hasRelaxedSimd(), memory64: hasMemory64(), unshared: whyUnshared(), cores: platform.cores() };
}

export interface Choice {
    module: ModuleName;
    reasons: string[];
}

export interface ChoiceOptions {
    /** Bytes that must be reachable. */
    needBytes?: number;
    /** The bits of plain C on every machine, at the cost of speed. */
    strict?: boolean;
}

const REACH_32 = 4 * 2 ** 30;
const REACH_64 = 16 * 2 ** 30;

/** Bytes that a run can have here at most. */
export function reachableBytes(): number {
    return !whyUnshared() && hasMemory64() && hasRelaxedSimd() ? REACH_64 : REACH_32;
}

/** The fastest module that this host can run and that reaches far enough. */
export function chooseModule(options: ChoiceOptions = {}): Choice {
    const reasons: string[] = [];
    if (!hasSimd()) throw new EngineError('UNSUPPORTED', 'this browser has no WebAssembly SIMD: update it');
    const unshared = whyUnshared();
    const need = options.needBytes ?? 0;
    const large = need > REACH_32;
    const tooLarge = `this needs ${(need / 1e9).toFixed(1)} GB of memory, and `;
    if (unshared) {
        if (large) throw new EngineError('NO_MEMORY', `${tooLarge}a 32-bit module reaches 4.3 GB: ${unshared}`);
        return { module: 'wasm32', reasons: [unshared] };
    }
    const relaxed = hasRelaxedSimd();
    if (options.strict) reasons.push('the bits of plain C were asked for');
    else if (!relaxed) reasons.push('this browser has no relaxed SIMD, so no fused multiply-adds');
    if (!large) return { module: options.strict || !relaxed ? 'wasm32-threads' : 'wasm32-relaxed', reasons };
    if (!hasMemory64() || !relaxed)
        throw new EngineError('NO_MEMORY', `${tooLarge}this browser has no 64-bit WebAssembly memory with relaxed SIMD, so the limit is 4.3 GB`);
    if (need > REACH_64) throw new EngineError('NO_MEMORY', `${tooLarge}browsers give at most 17.2 GB`);
    reasons.push(`${(need / 1e9).toFixed(1)} GB are needed, so addresses must have 64 bits`);
    return { module: options.strict ? 'wasm64-threads' : 'wasm64-relaxed', reasons };
}

export interface ModuleMemory {
    memory: WebAssembly.Memory;
    maxBytes: number;
}

/** A memory for the module. It grows when a run is planned, never in a step. With `fixedBytes` it has that size from the
 * start and cannot grow: for hosts whose shared memories break when they do. */
export function memoryFor(module: ModuleName, fixedBytes?: number): ModuleMemory {
    if (fixedBytes && !(fixedBytes >= PAGES_AT_FIRST * PAGE))
        throw new EngineError('NO_MEMORY', `a memory of ${fixedBytes} bytes is too small: give at least ${PAGES_AT_FIRST * PAGE}`);
    const { threads, wide } = facts[module];
    const cast = (pages: number) => (wide ? BigInt(pages) : pages);
    const limits = (initial: number, maximum: number): Limits => ({
        initial: cast(initial),
        ...(threads ? { maximum: cast(maximum), shared: true } : {}),
        ...(wide ? { address: 'i64' as const } : {}),
    });
    const maxima = fixedBytes ? [Math.ceil(fixedBytes / PAGE)] : wide ? PAGES_64 : PAGES_32;
    for (const maximum of maxima) {
        const memory = makeMemory(limits(fixedBytes ? maximum : PAGES_AT_FIRST, maximum));
        if (memory) return { memory, maxBytes: maximum * PAGE };
    }
    throw new EngineError('NO_MEMORY', `the host gives no memory of ${maxima.at(-1)! * PAGE} bytes`);
}
