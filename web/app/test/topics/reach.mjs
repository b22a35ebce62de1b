/** The page without a network, without headers, without threads, on a server with a newer version. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const APP_BYTES = 200_000;

const stored = (page) => page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
const isolated = (page) => page.evaluate(() => crossOriginIsolated);

async function moduleOf(visit) {
    await visit.go('Machine');
    return visit.fact('Module');
}

export default async function reach(driver) {
    await driver.test('the app is small', () => {
        const files = readdirSync(driver.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
        const app = files.filter(({ name }) => !/\.wasm$|^moby-dick\.txt$/.test(name));
        const bytes = app.reduce((sum, { parentPath, name }) => sum + gzipSync(readFileSync(join(parentPath, name))).length, 0);
        console.log(`note: app without corpus and modules: ${bytes} bytes, gzip`);
        assert.ok(bytes <= APP_BYTES, `${bytes} bytes`);
    });

    await driver.test('after the first visit it works without a network', async () => {
        const site = await driver.serve();
        const it = await driver.visit({ site });
        await it.goto();
        await it.ready('Start training');
        await stored(it.page);
        await it.page.locator('[data-test=time]:has-text("about")').waitFor(); // the measurement of the speed starts threads, too
        await site.down();
        await it.page.reload();
        await it.ready('Start training');
        await it.field('How long').fill('3');
        await it.field('Gentle start').fill('0');
        await it.ready('Start training');
        await it.press('Start training');
        await it.page.locator('.phase:has-text("Done")').and(it.page.locator(':has-text("Moby-Dick")')).waitFor();
        assert.ok(await isolated(it.page));
        assert.match(await moduleOf(it), /^wasm32-/);
    });

    await driver.test('a server without headers: one thread at first, all after one reload that was explained', async () => {
        const it = await driver.visit({ site: await driver.serve({ headers: {} }) });
        await it.goto();
        await it.ready('Start training');
        assert.equal(await isolated(it.page), false);
        await it.train(5);
        assert.equal(await moduleOf(it), 'wasm32');
        await it.page.locator('.reach:has-text("one reload")').waitFor();
        await it.accessible();
        await it.press('Reload');
        await it.page.waitForFunction(() => crossOriginIsolated);
        await it.train(5);
        assert.match(await moduleOf(it), /^wasm32-/);
        assert.equal(await it.page.locator('.reach').count(), 0);
        await it.goto('?isolation=off');
        await it.train(5);
        assert.equal(await isolated(it.page), false);
        assert.equal(await moduleOf(it), 'wasm32');
        assert.equal(await it.page.locator('.reach').count(), 0);
    });

    await driver.test('isolation=off means one thread where the headers are sent, too', async () => {
        const it = await driver.visit();
        await it.goto('?isolation=off');
        await it.train(5);
        assert.equal(await moduleOf(it), 'wasm32');
    });

    await driver.test('without a service worker and without headers it works with one thread', async () => {
        const it = await driver.visit({ site: await driver.serve({ headers: {} }), serviceWorkers: 'block' });
        await it.goto();
        await it.train(5);
        assert.equal(await moduleOf(it), 'wasm32');
        // The blocked worker is a warning of the browser's, not a fault of the page's.
    });

    await driver.test('a newer version waits until it is asked for, and nothing is mixed', async () => {
        const folder = mkdtempSync(join(tmpdir(), 'posttrain-site-'));
        cpSync(driver.folder, folder, { recursive: true });
        const it = await driver.visit({ site: await driver.serve({ folder }) });
        await it.goto();
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
        await it.page.close();
        rmSync(folder, { recursive: true });
    });

    await driver.test('a damaged file never becomes part of a stored version', async () => {
        const folder = mkdtempSync(join(tmpdir(), 'posttrain-site-'));
        cpSync(driver.folder, folder, { recursive: true });
        writeFileSync(join(folder, 'licences.txt'), 'of another version');
        const it = await driver.visit({ site: await driver.serve({ folder }) });
        await it.goto();
        await it.ready('Start training');
        const state = await it.page.evaluate(async () => {
            const registration = await navigator.serviceWorker.register('./sw.js'); // as the page does, later
            const worker = registration.installing ?? registration.waiting ?? registration.active;
            while (!['redundant', 'activated'].includes(worker.state)) await new Promise((resolve) => setTimeout(resolve, 50));
            return worker.state;
        });
        assert.equal(state, 'redundant');
        await it.page.close();
        it.complaints.length = 0; // the browser says that the file is not what was expected
        rmSync(folder, { recursive: true });
    });

    await driver.test('a model beyond 4 GiB is refused without 64-bit memory, with what would do', async () => {
        const it = await driver.visit();
        await it.context.addInitScript(() => {
            const { Memory } = WebAssembly;
            WebAssembly.Memory = class extends Memory {
                constructor(limits) {
                    if ('address' in limits) throw new TypeError('no such address type');
                    super(limits);
                }
            };
        });
        await it.goto();
        await it.page.getByRole('radio', { name: /^behemoth/ }).evaluate((radio) => radio.click());
        await it.page.locator('#problems:has-text("64-bit WebAssembly memory")').waitFor();
        assert.match(await it.page.locator('#problems').textContent(), /would (fit|run)/);
        await it.page.getByRole('radio', { name: /^tiny/ }).evaluate((radio) => radio.click());
        await it.page.locator('[data-test=params]:text-is("70,464")').waitFor();
        await it.page.locator('#problems').waitFor({ state: 'detached' });
        await it.train(5);
    });
}
