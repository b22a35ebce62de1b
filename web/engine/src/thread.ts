/** A worker that is a thread of an instance (see threads.ts). */
import { importsOf, type Word } from './abi.js';
import type { Port } from './platform.js';
import { IDLE, RUN, type ThreadInit } from './threads.js';

interface ThreadExports {
    __stack_pointer: WebAssembly.Global;
    __wasm_init_tls(tls: Word): void;
    pt_platform_thread_main(thread: Word): void;
}

function serve({ module, memory, wide, mailbox }: ThreadInit, ready: () => void): never {
    const instance = new WebAssembly.Instance(
        module,
        importsOf({ memory, threads: 1, startThread: () => false, write: () => {} }),
    );
    const exports = instance.exports as unknown as ThreadExports;
    const word = (n: number): Word => (wide ? BigInt(n) : n);
    const state = new Int32Array(mailbox, 0, 1);
    const what = new Float64Array(mailbox, 8, 3);
    ready();
    for (;;) {
        while (Atomics.load(state, 0) !== RUN) Atomics.wait(state, 0, IDLE);
        const [thread = 0, stackTop = 0, tls = 0] = what;
        exports.__stack_pointer.value = word(stackTop);
        exports.__wasm_init_tls(word(tls));
        exports.pt_platform_thread_main(word(thread));
        /* Idle before done: who joins may start another thread at once. */
        Atomics.store(state, 0, IDLE);
        const done = new Int32Array(memory.buffer, thread, 1);
        Atomics.store(done, 0, 1);
        Atomics.notify(done, 0);
    }
}

/** Never returns, unless the thread could not begin. */
export function serveThread(init: ThreadInit, parent: Port): void {
    try {
        serve(init, () => parent.post('ready'));
    } catch (error) {
        parent.post(`thread: ${error instanceof Error ? error.stack : String(error)}`);
    }
}
