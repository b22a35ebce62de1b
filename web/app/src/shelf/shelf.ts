/** The shelf as the page sees it: saved runs, which a worker reads and writes. */
import type { FileChunk } from 'posttrain-engine';
import type { CallName, Calls, Response } from './protocol';

/** `full`: the browser gives no more room. */
export class ShelfError extends Error {
    readonly full: boolean;
    constructor(message: string, full: boolean) {
        super(message);
        this.name = 'ShelfError';
        this.full = full;
    }
}

/** Why runs cannot be kept here; empty where they can. */
export function whyNoShelf(): string {
    if (!isSecureContext) return 'This page does not come over https or from this machine, so the browser lets it keep nothing.';
    if (!navigator.storage?.getDirectory || !navigator.locks) return 'This browser has no private file system for pages: use a newer one to keep runs.';
    return '';
}

interface Pending {
    resolve: (result: unknown) => void;
    reject: (error: Error) => void;
}

export class Shelf {
    private worker: Worker | undefined;
    private readonly pending = new Map<number, Pending>();
    private nextId = 1;

    private start(): Worker {
        const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
        worker.addEventListener('message', (event: MessageEvent<Response>) => this.receive(event.data));
        worker.addEventListener('error', (event) => this.die(event.message || 'the shelf could not start'));
        return worker;
    }

    private receive(message: Response): void {
        const pending = this.pending.get(message.id);
        this.pending.delete(message.id);
        if ('failure' in message) pending?.reject(new ShelfError(message.failure.message, message.failure.full));
        else pending?.resolve(message.result);
    }

    private die(message: string): void {
        for (const { reject } of this.pending.values()) reject(new ShelfError(message, false));
        this.pending.clear();
        this.worker = undefined;
    }

    call<C extends CallName>(call: C, args: Calls[C]['args'], transfer: Transferable[] = []): Promise<Calls[C]['result']> {
        const why = whyNoShelf();
        if (why) return Promise.reject(new ShelfError(why, false));
        const id = this.nextId++;
        return new Promise((resolve, reject) => {
            this.pending.set(id, { resolve: resolve as (result: unknown) => void, reject });
            (this.worker ??= this.start()).postMessage({ id, call, args }, transfer);
        });
    }

    /** The bytes are handed over, not copied. */
    write(chunk: FileChunk): Promise<null> {
        return this.call('write', chunk, [chunk.data.buffer]);
    }
}

export interface Room {
    used: number;
    quota: number;
    /** The browser promised to keep it even when room gets scarce. */
    lasting: boolean;
}

export async function room(): Promise<Room> {
    const { usage = 0, quota = 0 } = await navigator.storage.estimate();
    return { used: usage, quota, lasting: await navigator.storage.persisted() };
}
