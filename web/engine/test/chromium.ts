/** A page in Chromium that uses the package as built, and what it tells. */
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { corpus, folder } from './support.ts';

export const chromium = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) => {
    try {
        return [execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()];
    } catch {
        return [];
    }
})[0];

const types: Record<string, string> = { '.js': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html' };

/** What a bundler does: the package's "#platform" is the browser's. */
function fileOf(path: string, script: string): Buffer | string {
    if (path === 'page.html') return '<!doctype html><title>test</title><script type="module" src="./page.js"></script>';
    if (path === 'page.js') return script;
    if (path === 'corpus') return Buffer.from(corpus);
    const bytes = readFileSync(new URL(`../${path}`, import.meta.url));
    return extname(path) === '.js' ? bytes.toString().replaceAll("'#platform'", "'./platform_web.js'") : bytes;
}

function serve(script: string, heard: (result: unknown) => void) {
    return createServer((request, response) => {
        const [, page, ...rest] = (request.url ?? '/').split('/');
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
            response.end(fileOf(path, script));
        } catch {
            response.statusCode = 404;
            response.end();
        }
    });
}

/** Opens /isolated/page.html, whose script may go to /plain/page.html, and waits until `n` times a result was posted to
 * ./result. */
export async function resultsOf(t: TestContext, script: string, n: number, seconds: number): Promise<unknown[]> {
    const results: unknown[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const server = serve(script, (result) => results.push(result) === n && resolve());
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/isolated/page.html`;
    const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', `--user-data-dir=${join(folder, 'chromium')}`];
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
