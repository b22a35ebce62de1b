import type { Platform, Port } from './platform.js';
import type { ModuleName } from './types.js';

/** Bundlers find files by these very words. The three that most hosts can choose from share a file: see pack.mjs. */
const engine32 = new URL('./engine32.wasm', import.meta.url);
const engine64 = new URL('./engine64.wasm', import.meta.url);
const shaders = new URL('./shaders.wgsl', import.meta.url);
const urls: Partial<Record<ModuleName, URL>> = {
    wasm32: engine32,
    'wasm32-threads': engine32,
    'wasm32-relaxed': engine32,
    'wasm64-relaxed': engine64,
};

/** A cache of the browser's, which outlives the page, and the name of what is in it. */
const MEMORY = 'posttrain.memory';
const nameThere = () => new URL('./webgpu.json', globalThis.location.href).href;

async function bytesOf(url: URL): Promise<ArrayBuffer> {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url.href}: ${response.status} ${response.statusText}`);
    return response.arrayBuffer();
}

async function compile(name: ModuleName): Promise<WebAssembly.Module> {
    const url = urls[name];
    if (!url) throw new Error(`the package has no module ${name} for browsers`);
    const pack = await WebAssembly.compile(await bytesOf(url));
    const [module] = WebAssembly.Module.customSections(pack, name);
    if (!module) throw new Error(`${url.href} has no module ${name}`);
    return WebAssembly.compile(module);
}

function portOf(end: Worker | DedicatedWorkerGlobalScope): Port {
    return {
        post: (message, transfer) => end.postMessage(message, transfer ?? []),
        onMessage: (handler) =>
            end.addEventListener('message', (event) => handler((event as MessageEvent).data)),
        onError: (handler) =>
            end.addEventListener('error', (event) =>
                handler(new Error((event as ErrorEvent).message || 'the worker could not start')),
            ),
        close: () => ('terminate' in end ? end.terminate() : end.close()),
    };
}

const channel = new MessageChannel();
const waiting: (() => void)[] = [];
channel.port1.onmessage = () => waiting.shift()?.();

export const platform: Platform = {
    compile,
    shaders: async () => new Uint8Array(await bytesOf(shaders)),
    spawn: () => portOf(new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })),
    parent: () => portOf(self as DedicatedWorkerGlobalScope),
    cores: () => navigator.hardwareConcurrency || 1,
    unshared: () =>
        globalThis.crossOriginIsolated && typeof SharedArrayBuffer !== 'undefined'
            ? ''
            : 'the page is not cross-origin isolated (COOP and COEP headers), so there are no threads',
    tick: () =>
        new Promise((resolve) => {
            waiting.push(resolve);
            channel.port2.postMessage(0);
        }),
    log: (line) => console.error(line),
    recall: async () => {
        try {
            const held = await (await caches.open(MEMORY)).match(nameThere());
            return (await held?.text()) ?? '';
        } catch {
            return '';
        }
    },
    remember: async (text) => {
        try {
            await (await caches.open(MEMORY)).put(nameThere(), new Response(text));
        } catch {
            // a browser that keeps nothing
        }
    },
};
