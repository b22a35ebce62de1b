/** What travels to a browser. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';

function compressed(name: string): number {
    return brotliCompressSync(readFileSync(new URL(`../dist/${name}.wasm`, import.meta.url))).length;
}

test('all modules together are at most 250 KB, compressed', () => {
    const [most, large] = [compressed('engine32'), compressed('engine64')];
    assert.ok(most + large <= 250e3, `${most} + ${large} bytes`);
});

test('a pack holds its modules, unchanged', async () => {
    const pack = await WebAssembly.compile(readFileSync(new URL('../dist/engine32.wasm', import.meta.url)));
    for (const name of ['wasm32', 'wasm32-threads', 'wasm32-relaxed']) {
        const [module] = WebAssembly.Module.customSections(pack, name);
        assert.deepEqual(Buffer.from(module!), readFileSync(new URL(`../dist/${name}.wasm`, import.meta.url)));
    }
});
