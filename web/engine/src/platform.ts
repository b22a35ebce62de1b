/** What differs between a browser and Node. The package's "#platform" is one of the two. */
import type { ModuleName } from './types.js';

/** One end of a channel to a worker. */
export interface Port {
    post(message: unknown, transfer?: ArrayBuffer[]): void;
    onMessage(handler: (message: unknown) => void): void;
    /** The other side died. */
    onError(handler: (error: Error) => void): void;
    close(): void;
}

export interface Platform {
    compile(name: ModuleName): Promise<WebAssembly.Module>;
    /** The text of all shaders. */
    shaders(): Promise<Uint8Array>;
    /** A worker (worker.ts), which hosts an instance or is a thread of one. */
    spawn(): Port;
    /** The way to who spawned this worker. */
    parent(): Port;
    cores(): number;
    /** Why memory cannot be shared between threads here; empty when it can. */
    unshared(): string;
    /** After what waits in the event loop. */
    tick(): Promise<void>;
    log(line: string): void;
    /** A small text that `remember` got on an earlier day; empty when there is none. */
    recall(): Promise<string>;
    /** Where it can be kept; else it is forgotten. */
    remember(text: string): Promise<void>;
}
