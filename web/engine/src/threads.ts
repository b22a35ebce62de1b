/** The threads of an instance: workers that were started beforehand and sleep on a mailbox in shared memory, because a
 * thread must begin without its starter returning to the event loop. */
import { platform } from '#platform';
import type { Port } from './platform.js';

/** A mailbox: i32 state, then thread, stack top and TLS block as f64. */
export const MAILBOX_BYTES = 32;
export const IDLE = 0;
export const RUN = 1;

export interface ThreadInit {
    module: WebAssembly.Module;
    memory: WebAssembly.Memory;
    wide: boolean;
    mailbox: SharedArrayBuffer;
}

interface Thread {
    port: Port;
    mailbox: SharedArrayBuffer;
}

function startOne(init: Omit<ThreadInit, 'mailbox'>): Promise<Thread> {
    const port = platform.spawn();
    const mailbox = new SharedArrayBuffer(MAILBOX_BYTES);
    return new Promise((resolve, reject) => {
        port.onError(reject);
        port.onMessage((message) => {
            if (message === 'ready') resolve({ port, mailbox });
            else reject(new Error(String(message)));
        });
        port.post({ ...init, mailbox } satisfies ThreadInit);
    });
}

export class Threads {
    private readonly threads: Thread[];
    private constructor(threads: Thread[]) {
        this.threads = threads;
    }

    static async start(n: number, init: Omit<ThreadInit, 'mailbox'>): Promise<Threads> {
        const started = await Promise.allSettled(Array.from({ length: n }, () => startOne(init)));
        const threads = started.flatMap((s) => (s.status === 'fulfilled' ? [s.value] : []));
        for (const s of started)
            if (s.status === 'rejected') platform.log(`a thread could not start: ${String(s.reason)}`);
        return new Threads(threads);
    }

    get count(): number {
        return this.threads.length;
    }

    /** pt_host_thread_start: false when none is idle. */
    run(thread: number, stackTop: number, tls: number): boolean {
        for (const { mailbox } of this.threads) {
            const state = new Int32Array(mailbox, 0, 1);
            if (Atomics.load(state, 0) !== IDLE) continue;
            new Float64Array(mailbox, 8, 3).set([thread, stackTop, tls]);
            Atomics.store(state, 0, RUN);
            Atomics.notify(state, 0);
            return true;
        }
        return false;
    }

    close(): void {
        for (const { port } of this.threads) port.close();
    }
}
