/** A page in Chromium that uses the package as built, and what it tells. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { corpus, folder } from './support.ts';

export const chromium = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) => {
    try {
        return [execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()];
    } catch {
        return [];
    }
})[0];

/** A GPU that is emulated on the processor, as slow as that is. */
const SOFTWARE_GPU = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--remote-debugging-port=0'];

const types: Record<string, string> = { '.wgsl': 'text/plain', '.js': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html' };

/** What a bundler does: the package's "#platform" is the browser's. */
function fileOf(path: string, script: string, prelude: string): Buffer | string {
    if (path === 'page.html') return '<!doctype html><title>test</title><script type="module" src="./page.js"></script>';
    if (path === 'page.js') return script;
    if (path === 'corpus') return Buffer.from(corpus);
    const bytes = readFileSync(new URL(`../${path}`, import.meta.url));
    if (extname(path) !== '.js') return bytes;
    return (path === 'dist/worker.js' ? prelude : '') + bytes.toString().replaceAll("'#platform'", "'./platform_web.js'");
}

/** The port that Chromium listens on, once it does. */
async function debuggerOf(profile: string): Promise<string> {
    for (;;) {
        try {
            const [port, path] = readFileSync(join(profile, 'DevToolsActivePort'), 'utf8').split('\n');
            return `ws://127.0.0.1:${port}${path}`;
        } catch {
            await sleep(50);
        }
    }
}

/** Ends the process that Chromium keeps for the GPU, as a driver's fault would. */
async function crashGpu(profile: string): Promise<void> {
    const socket = new WebSocket(await debuggerOf(profile));
    await new Promise((ready) => socket.addEventListener('open', ready));
    socket.send(JSON.stringify({ id: 1, method: 'Browser.crashGpuProcess' }));
    await new Promise((answered) => socket.addEventListener('message', answered));
    socket.close();
}

function serve(script: string, prelude: string, heard: (result: unknown) => void, crash: () => Promise<void>) {
    return createServer((request, response) => {
        const [, page, ...rest] = (request.url ?? '/').split('/');
        if (rest[0] === 'crash-gpu') {
            void crash().then(() => response.end());
            return;
        }
        if (rest[0] === 'result') {
            let body = '';
            request.on('data', (data) => (body += data));
            request.on('end', () => heard(JSON.parse(body)));
            response.end();
            return;
        }
        if (page === 'isolated') {
            response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
            response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
        }
        try {
            const path = rest.join('/');
            response.setHeader('Content-Type', types[extname(path)] ?? 'application/octet-stream');
            response.end(fileOf(path, script, prelude));
        } catch {
            response.statusCode = 404;
            response.end();
        }
    });
}

/** Opens /isolated/page.html, whose script may go to /plain/page.html, and waits until `n` times a result was posted to
 * ./result. With a GPU, an emulated one, whose process ends when ./crash-gpu is fetched.
 * The prelude is what the engine's workers do first. */
export async function resultsOf(t: TestContext, script: string, n: number, seconds: number, { gpu = false, prelude = '' } = {}): Promise<unknown[]> {
    const results: unknown[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const profile = mkdtempSync(join(folder, 'chromium-'));
    const server = serve(script, prelude, (result) => results.push(result) === n && resolve(), () => crashGpu(profile));
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/isolated/page.html`;
    const flags = ['--headless=new', '--no-sandbox', '--no-first-run', `--user-data-dir=${profile}`, ...(gpu ? SOFTWARE_GPU : ['--disable-gpu'])];
    const browser = spawn(chromium!, [...flags, url], { stdio: 'ignore' });
    browser.on('exit', (code) => reject(new Error(`Chromium ended with ${code}`)));
    const timer = setTimeout(() => reject(new Error(`no answer; so far: ${JSON.stringify(results)}`)), seconds * 1000);
    t.after(() => {
        clearTimeout(timer);
        browser.removeAllListeners('exit');
        browser.kill();
        server.closeAllConnections();
        server.close();
    });
    await promise;
    return results;
}
