/** The page without a network, without headers, without threads, on a server with a newer version: see pilot.mjs. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { built, finish, pilot, test } from './pilot.mjs';

const APP_BYTES = 200_000;

const stored = (page) => page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
const isolated = (page) => page.evaluate(() => crossOriginIsolated);

async function moduleOf({ page, go }) {
    await go('Machine');
    const value = page.locator('dl.facts div', { has: page.locator('dt:text-is("Module")') }).locator('dd');
    return (await value.textContent()).trim();
}

await test('the app is small', () => {
    const files = readdirSync(built, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const app = files.filter(({ name }) => !/\.wasm$|^moby-dick\.txt$/.test(name));
    const bytes = app.reduce((sum, { parentPath, name }) => sum + gzipSync(readFileSync(join(parentPath, name))).length, 0);
    console.log(`app without corpus and modules: ${bytes} bytes, gzip`);
    assert.ok(bytes <= APP_BYTES, `${bytes} bytes`);
});

await test('after the first visit it works without a network', async () => {
    const it = await pilot();
    await it.page.goto(it.site);
    await it.ready('Start training');
    await stored(it.page);
    await it.down();
    await it.page.reload();
    await it.ready('Start training');
    await it.field('How long').fill('3');
    await it.field('Gentle start').fill('0');
    await it.ready('Start training');
    await it.press('Start training');
    await it.page.locator('.phase:has-text("Done")').and(it.page.locator(':has-text("Moby-Dick")')).waitFor();
    assert.ok(await isolated(it.page));
    assert.match(await moduleOf(it), /^wasm32-/);
    await it.close();
});

await test('a server without headers: one thread at first, all after one reload that was explained', async () => {
    const it = await pilot({ headers: {} });
    await it.page.goto(it.site);
    await it.ready('Start training');
    assert.equal(await isolated(it.page), false);
    await it.train(5);
    await it.done();
    assert.equal(await moduleOf(it), 'wasm32');
    await it.page.locator('.reach:has-text("one reload")').waitFor();
    await it.accessible();
    it.page.once('dialog', (dialog) => dialog.accept());
    await it.press('Reload');
    await it.page.waitForFunction(() => crossOriginIsolated);
    await it.train(5);
    await it.done();
    assert.match(await moduleOf(it), /^wasm32-/);
    assert.equal(await it.page.locator('.reach').count(), 0);
    await it.page.goto(`${it.site}?isolation=off`);
    await it.train(5);
    await it.done();
    assert.equal(await isolated(it.page), false);
    assert.equal(await moduleOf(it), 'wasm32');
    assert.equal(await it.page.locator('.reach').count(), 0);
    await it.close();
});

await test('isolation=off means one thread where the headers are sent, too', async () => {
    const it = await pilot();
    await it.page.goto(`${it.site}?isolation=off`);
    await it.train(5);
    await it.done();
    assert.equal(await moduleOf(it), 'wasm32');
    await it.close();
});

await test('without a service worker and without headers it works with one thread', async () => {
    const it = await pilot({ headers: {}, serviceWorkers: 'block' });
    await it.page.goto(it.site);
    await it.train(5);
    await it.done();
    assert.equal(await moduleOf(it), 'wasm32');
    // The blocked worker is a warning of the browser's, not a fault of the page's.
    await it.close();
});

await test('a newer version waits until it is asked for, and nothing is mixed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'posttrain-site-'));
    cpSync(built, folder, { recursive: true });
    const it = await pilot({ folder });
    await it.page.goto(it.site);
    await it.ready('Start training');
    await stored(it.page);

    const hash = (text) => `sha256-${createHash('sha256').update(text).digest('base64')}`;
    const old = readFileSync(join(folder, 'index.html'), 'utf8');
    const fresh = old.replace('<html lang="en">', '<html lang="en" data-fresh>');
    writeFileSync(join(folder, 'index.html'), fresh);
    const worker = readFileSync(join(folder, 'sw.js'), 'utf8');
    assert.ok(worker.includes(hash(old)));
    writeFileSync(join(folder, 'sw.js'), worker.replace(hash(old), hash(fresh)).replace(/"?version"?:"\w+"/, 'version:"another"'));

    await it.page.reload();
    assert.equal(await it.page.locator('html[data-fresh]').count(), 0, 'half of the newer version is shown');
    await it.page.locator('.reach:has-text("newer version")').waitFor();
    await it.press('Reload');
    await it.page.locator('html[data-fresh]').waitFor({ state: 'attached' });
    await it.ready('Start training');
    assert.deepEqual(await it.page.evaluate(() => caches.keys()), ['posttrain-another'], 'the older version is still stored');
    await it.close();
    rmSync(folder, { recursive: true });
});

await test('a damaged file never becomes part of a stored version', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'posttrain-site-'));
    cpSync(built, folder, { recursive: true });
    writeFileSync(join(folder, 'licences.txt'), 'of another version');
    const it = await pilot({ folder });
    await it.page.goto(it.site);
    await it.ready('Start training');
    const state = await it.page.evaluate(async () => {
        const registration = await navigator.serviceWorker.getRegistration();
        const worker = registration?.installing ?? registration?.waiting ?? registration?.active;
        if (!worker) return 'redundant';
        while (!['redundant', 'activated'].includes(worker.state)) await new Promise((resolve) => setTimeout(resolve, 50));
        return worker.state;
    });
    assert.equal(state, 'redundant');
    it.complaints.length = 0; // the browser says that the file is not what was expected
    await it.close();
    rmSync(folder, { recursive: true });
});

await test('a model beyond 4 GiB is refused without 64-bit memory, with what would do', async () => {
    const it = await pilot();
    await it.context.addInitScript(() => {
        const { Memory } = WebAssembly;
        WebAssembly.Memory = class extends Memory {
            constructor(limits) {
                if ('address' in limits) throw new TypeError('no such address type');
                super(limits);
            }
        };
    });
    await it.page.goto(it.site);
    await it.page.getByRole('radio', { name: /^behemoth/ }).check({ force: true });
    await it.page.locator('#problems:has-text("64-bit WebAssembly memory")').waitFor();
    assert.match(await it.page.locator('#problems').textContent(), /would (fit|run)/);
    await it.page.getByRole('radio', { name: /^tiny/ }).check({ force: true });
    await it.train(5);
    await it.close();
});

finish();
