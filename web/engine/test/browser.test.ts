/** The same package in Chromium, where there is one: in a page with shared memory and in one without. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { test } from 'node:test';
import { createEngine, type EngineInfo } from '../dist/index.js';
import { corpus, folder, small, train } from './support.ts';

const chromium = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) => {
    try {
        return [execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()];
    } catch {
        return [];
    }
})[0];

interface Result {
    page: string;
    info?: EngineInfo;
    losses?: number[];
    text?: string;
    rows?: number;
    large?: string;
    error?: string;
}

const settings = { ...small, steps: 6 };

/** The page's script: a run, a sample, a look; then the other page. */
const script = `
import { chooseModule, createEngine } from './dist/index.js';
const page = location.pathname.split('/')[1];
const result = { page };
try {
    const corpus = new Uint8Array(await (await fetch('./corpus')).arrayBuffer());
    const engine = await createEngine({ threads: 2, strict: true });
    const losses = [];
    const run = await engine.train({ corpus, settings: ${JSON.stringify(settings)}, onEvent: (e) => e.type === 'step' && losses.push(e.loss) });
    await run.done;
    let text = '';
    for await (const token of engine.sample({ tokens: 8, temperature: 0 })) text += token.text;
    await engine.look('Call me');
    Object.assign(result, { info: engine.info, losses, text, rows: (await engine.attention(0)).length });
    try { result.large = chooseModule({ needBytes: 6e9 }).module; } catch (error) { result.large = error.message; }
    await engine.close();
} catch (error) { result.error = String(error?.stack ?? error); }
await fetch('./result', { method: 'POST', body: JSON.stringify(result) });
if (page === 'isolated') location.href = '/plain/page.html';
`;

const types: Record<string, string> = { '.js': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html' };

/** What a bundler does: the package's "#platform" is the browser's. */
function fileOf(path: string): Buffer | string {
    if (path === 'page.html') return '<!doctype html><title>test</title><script type="module" src="./page.js"></script>';
    if (path === 'page.js') return script;
    if (path === 'corpus') return Buffer.from(corpus);
    const bytes = readFileSync(new URL(`../${path}`, import.meta.url));
    return extname(path) === '.js' ? bytes.toString().replaceAll("'#platform'", "'./platform_web.js'") : bytes;
}

function serve(heard: (result: Result) => void) {
    return createServer((request, response) => {
        const [, page, ...rest] = (request.url ?? '/').split('/');
        if (rest[0] === 'result') {
            let body = '';
            request.on('data', (data) => (body += data));
            request.on('end', () => heard(JSON.parse(body) as Result));
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
            response.end(fileOf(path));
        } catch {
            response.statusCode = 404;
            response.end();
        }
    });
}

test('a browser gives the same numbers, with threads and without', { skip: chromium && existsSync(chromium) ? false : 'no Chromium here' }, async (t) => {
    const results: Result[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const server = serve((result) => results.push(result) === 2 && resolve());
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/isolated/page.html`;
    const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', `--user-data-dir=${join(folder, 'chromium')}`];
    const browser = spawn(chromium!, [...flags, url], { stdio: 'ignore' });
    browser.on('exit', (code) => reject(new Error(`Chromium ended with ${code}`)));
    const timer = setTimeout(() => reject(new Error(`no answer; so far: ${JSON.stringify(results)}`)), 60_000);
    t.after(() => {
        clearTimeout(timer);
        browser.removeAllListeners('exit');
        browser.kill();
        server.closeAllConnections();
        server.close();
    });
    await promise;
    const engine = await createEngine({ module: 'wasm32-threads', threads: 2 });
    const want = await train(engine, settings);
    await engine.close();
    for (const result of results) {
        assert.equal(result.error, undefined);
        assert.deepEqual(result.losses, want.losses);
        assert.equal(result.rows, 3 * 7 * 7);
        assert.ok(result.text);
    }
    const [isolated, plain] = results;
    assert.equal(isolated!.info!.module, 'wasm32-threads');
    assert.equal(isolated!.info!.threads, 2);
    assert.equal(isolated!.large, 'wasm64-relaxed');
    assert.equal(plain!.info!.module, 'wasm32');
    assert.match(plain!.info!.reasons.join(), /not cross-origin isolated/);
    assert.match(plain!.large!, /6\.0 GB.*32-bit/);
});
