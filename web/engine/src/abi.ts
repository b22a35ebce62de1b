/** One instance of a module: its exports (src/wasm/exports.c), its imports (src/base/platform_wasm.c, src/wasm/host.h),
 * and bytes and JSON in and out of its memory. */
import { platform } from '#platform';
import { gpuImports, GpuShelf } from './gpu_imports.js';
import { EngineError } from './types.js';

/** An address or size: a BigInt in a 64-bit module. */
export type Word = number | bigint;

interface Exports {
    pt_wasm_input(n: Word): Word;
    pt_wasm_output(): Word;
    pt_wasm_output_bytes(): Word;
    pt_wasm_values(): Word;
    pt_wasm_values_count(): number;
    pt_wasm_logits(): Word;
    pt_wasm_logits_count(): number;
    pt_wasm_corpus_bytes(): Word;
    pt_wasm_file_bytes(): Word;
    pt_wasm_unload(): void;
    pt_wasm_ladder_end(): void;
    pt_wasm_close(): void;
}

/** Calls that answer 0, 1 or 2: those without arguments or with numbers, and those with text or settings. */
export type PlainCall =
    | 'open'
    | 'about'
    | 'presets'
    | 'probe'
    | 'corpus'
    | 'file'
    | 'file_open'
    | 'file_safetensors'
    | 'use_gpu'
    | 'ready_poll'
    | 'submit'
    | 'train_poll'
    | 'train_stop'
    | 'train_save'
    | 'train_continue'
    | 'evaluate_poll'
    | 'sample_poll'
    | 'lens'
    | 'attention'
    | 'look_poll'
    | 'lens_top'
    | 'kernels'
    | 'ladder'
    | 'ladder_poll'
    | 'ladder_stop';
export type InputCall = 'shaders' | 'plan' | 'train' | 'load' | 'evaluate' | 'sample' | 'odds' | 'look';

export interface ThreadStart {
    (thread: number, stackTop: number, tls: number): boolean;
}

export interface Imports {
    memory: WebAssembly.Memory;
    threads: number;
    startThread: ThreadStart;
    write: (position: number, bytes: Uint8Array<ArrayBuffer>) => void;
    /** What it may open; none, when left out. */
    gpus?: GpuShelf;
}

/** The result; whether to call again; and whether nothing is to be gained by it before the GPU has told something. */
export interface Answer {
    again: boolean;
    waits: boolean;
    result: unknown;
}

/** A copy, because text cannot be decoded from, nor messages made of, shared memory. */
function copy(memory: WebAssembly.Memory, at: Word, n: Word): Uint8Array<ArrayBuffer> {
    return new Uint8Array(new Uint8Array(memory.buffer, Number(at), Number(n)));
}

export function importsOf(host: Imports): WebAssembly.Imports {
    return {
        gpu: gpuImports(host.memory, host.gpus ?? new GpuShelf()),
        env: {
            memory: host.memory,
            pt_host_monotonic_ms: () => performance.timeOrigin + performance.now(),
            pt_host_unix_ms: () => Date.now(),
            pt_host_log: (text: Word, n: Word) =>
                platform.log(new TextDecoder().decode(copy(host.memory, text, n))),
            pt_host_cpu_count: () => host.threads,
            pt_host_thread_start: (thread: Word, stackTop: Word, tls: Word) =>
                host.startThread(Number(thread), Number(stackTop), Number(tls)) ? 1 : 0,
            pt_host_write: (position: number, bytes: Word, n: Word) =>
                host.write(position, copy(host.memory, bytes, n)),
        },
    };
}

/** For JSON, which has no word for some values: NaN would become null, and that means "left out". Numbers of lists are judged by who reads them. */
function sayable(this: unknown, key: string, value: unknown): unknown {
    if (typeof value === 'number' && !Number.isFinite(value) && !Array.isArray(this)) throw new EngineError('BAD_INPUT', `${key} is ${value}, which is no number`);
    if (typeof value === 'bigint') return String(value);
    return typeof value === 'string' ? value.toWellFormed() : value;
}

export class Abi {
    private readonly exports: Exports;
    readonly memory: WebAssembly.Memory;
    private readonly wide: boolean;
    /** Bytes that may be filled. */
    private readonly room = { corpus: 0, file: 0 };

    constructor(module: WebAssembly.Module, wide: boolean, host: Imports) {
        const instance = new WebAssembly.Instance(module, importsOf(host));
        this.exports = instance.exports as unknown as Exports;
        this.memory = host.memory;
        this.wide = wide;
    }

    private word(n: number): Word {
        return this.wide ? BigInt(n) : n;
    }

    private output(): unknown {
        const n = this.exports.pt_wasm_output_bytes();
        if (Number(n) === 0) return undefined;
        const text = new TextDecoder().decode(copy(this.memory, this.exports.pt_wasm_output(), n));
        return JSON.parse(text);
    }

    private finish(name: string, ...args: Word[]): Answer {
        const call = (this.exports as unknown as Record<string, (...args: Word[]) => number>)[`pt_wasm_${name}`];
        if (!call) throw new Error(`the module has no pt_wasm_${name}`);
        const answer = call(...args);
        const result = this.output();
        if (answer === 2) {
            const failure = result as { status: string; message: string };
            throw new EngineError(failure.status, failure.message);
        }
        return { again: answer === 1 || answer === 3, waits: answer === 3, result };
    }

    call(name: PlainCall, ...args: number[]): unknown {
        return this.finish(name, ...args).result;
    }

    poll(name: PlainCall, ms: number): Answer {
        return this.finish(name, ms);
    }

    callWith(name: InputCall, input: Uint8Array | object): unknown {
        const bytes = input instanceof Uint8Array ? input : new TextEncoder().encode(JSON.stringify(input ?? null, sayable));
        const at = this.exports.pt_wasm_input(this.word(bytes.length));
        if (Number(at) === 0) throw new EngineError('NO_MEMORY', `no memory for ${bytes.length} bytes of input`);
        new Uint8Array(this.memory.buffer, Number(at), bytes.length).set(bytes);
        return this.finish(name, this.word(bytes.length)).result;
    }

    /** Memory for a corpus or a file, in place of the one before. */
    beginBytes(what: 'corpus' | 'file', bytes: number): void {
        this.room[what] = 0;
        this.call(what, bytes);
        this.room[what] = bytes;
    }

    /** Puts bytes into the corpus or the file that was begun. */
    fill(what: 'corpus' | 'file', position: number, bytes: Uint8Array): void {
        if (!(position >= 0 && position + bytes.length <= this.room[what])) throw new EngineError('BAD_INPUT', `more than the ${this.room[what]} bytes of the ${what} that was begun`);
        const at = what === 'corpus' ? this.exports.pt_wasm_corpus_bytes() : this.exports.pt_wasm_file_bytes();
        if (Number(at) === 0) throw new EngineError('BAD_INPUT', `no ${what} was begun`);
        new Uint8Array(this.memory.buffer, Number(at) + position, bytes.length).set(bytes);
    }

    private floats(at: Word, n: number): Float32Array<ArrayBuffer> {
        return new Float32Array(copy(this.memory, at, n * 4).buffer);
    }

    /** A copy of the values of the last lens or attention. */
    values(): Float32Array<ArrayBuffer> {
        return this.floats(this.exports.pt_wasm_values(), this.exports.pt_wasm_values_count());
    }

    /** A copy of the logits of the last poll of a sample, token after token. */
    logits(): Float32Array<ArrayBuffer> {
        return this.floats(this.exports.pt_wasm_logits(), this.exports.pt_wasm_logits_count());
    }

    unload(): void {
        this.exports.pt_wasm_unload();
    }

    endLadder(): void {
        this.exports.pt_wasm_ladder_end();
    }

    close(): void {
        this.exports.pt_wasm_close();
    }
}
