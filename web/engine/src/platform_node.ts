import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { parentPort, Worker, type MessagePort, type Transferable } from 'node:worker_threads';
import type { Platform, Port } from './platform.js';
import type { ModuleName } from './types.js';

function portOf(end: Worker | MessagePort): Port {
    return {
        post: (message, transfer) => end.postMessage(message, transfer as Transferable[] | undefined),
        onMessage: (handler) => void end.on('message', handler),
        onError: (handler) => void end.on('error', handler as (error: unknown) => void),
        close: () => void (end instanceof Worker ? end.terminate() : end.close()),
    };
}

export const platform: Platform = {
    compile: async (name: ModuleName) =>
        WebAssembly.compile(await readFile(new URL(`./${name}.wasm`, import.meta.url))),
    shaders: () => readFile(new URL('./shaders.wgsl', import.meta.url)),
    spawn: () => portOf(new Worker(new URL('./worker.js', import.meta.url))),
    parent: () => {
        if (!parentPort) throw new Error('this file runs in a worker');
        return portOf(parentPort);
    },
    cores: () => availableParallelism(),
    unshared: () => '',
    tick: () => new Promise((resolve) => setImmediate(resolve)),
    log: (line) => void process.stderr.write(line + '\n'),
    recall: async () => '',
    remember: async () => undefined,
};
