/** Serves a folder on this machine, cross-origin isolated. Usage: node serve.mjs FOLDER [PORT] */
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { headers } from './headers.mjs';

const types = {
    '.css': 'text/css',
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript',
    '.png': 'image/png',
    '.svg': 'image/svg+xml',
    '.txt': 'text/plain; charset=utf-8',
    '.wasm': 'application/wasm',
    '.webmanifest': 'application/manifest+json',
    '.wgsl': 'text/plain; charset=utf-8',
};

/** A server that listens on `port` of this machine, or on a free one when it is 0. `sent`: headers of every file. */
export async function serve(folder, port, sent = headers) {
    const server = createServer((request, response) => {
        const fail = (status, words) => response.writeHead(status, { 'Content-Type': 'text/plain' }).end(`${words}\n`);
        if (request.method !== 'GET' && request.method !== 'HEAD') return fail(405, 'only GET');
        try {
            const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
            const file = join(folder, path.endsWith('/') ? `${path}index.html` : path);
            const { size } = statSync(file);
            const stream = createReadStream(file);
            stream.on('error', () => (response.headersSent ? response.destroy() : fail(404, 'not found')));
            stream.on('open', () => {
                const type = types[extname(file)] ?? 'application/octet-stream';
                response.writeHead(200, { ...sent, 'Content-Type': type, 'Content-Length': size, 'Cache-Control': 'no-cache' });
                if (request.method === 'HEAD') response.end();
                else stream.pipe(response);
            });
        } catch {
            fail(404, 'not found');
        }
    });
    await new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
    return server;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const [folder = '.', port = '8080'] = process.argv.slice(2);
    try {
        const server = await serve(folder, Number(port));
        console.log(`http://localhost:${server.address().port}/  (Ctrl-C ends it)`);
    } catch (error) {
        console.error(`serve: ${error.code === 'EADDRINUSE' ? `port ${port} is in use: name another (make web-serve WEB_PORT=8081, node serve.mjs FOLDER 8081)` : error.message}`);
        process.exitCode = 2;
    }
}
