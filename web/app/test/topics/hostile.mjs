/** What was made to do harm, or was harmed: files, names, addresses, storage. Each time a sentence, and nothing is lost. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from '../driver.mjs';

const items = (visit) => visit.page.locator('.saved-run');
const alerted = (visit, words, within = visit.page) => within.getByRole('alert').filter({ hasText: words }).first().waitFor();

/** In each folder of the newest run: `work` gets the run's folder, a slot's name ('' for the run itself) and `argument`. */
function inRun(visit, work, argument) {
    return visit.page.evaluate(`(async (work, argument) => {
        const runs = await (await navigator.storage.getDirectory()).getDirectoryHandle('runs');
        const change = async (folder, name, edit) => {
            const handle = await folder.getFileHandle(name).catch(() => undefined);
            if (!handle) return;
            const bytes = edit(new Uint8Array(await (await handle.getFile()).arrayBuffer()));
            const writable = await handle.createWritable();
            await writable.write(bytes);
            await writable.close();
        };
        for await (const run of runs.values()) await work(run, change, argument);
    })(${work}, ${JSON.stringify(argument ?? null)})`);
}

const turnBit = `(bytes) => ((bytes[bytes.length >> 1] ^= 1), bytes)`;
const inSlots = (name, edit) => `async (run, change) => { for (const slot of ['a', 'b']) await run.getDirectoryHandle(slot).then((folder) => change(folder, '${name}', ${edit}), () => undefined); }`;

/** A profile with one kept run of the text. */
async function kept(driver) {
    const visit = await driver.visit();
    await visit.goto();
    await visit.train(20);
    await visit.saved(20);
    return visit;
}

async function reopened(visit) {
    await visit.page.evaluate(() => sessionStorage.clear());
    await visit.goto('#runs');
    await items(visit).first().waitFor();
}

async function elsewhere() {
    const server = createServer((request, response) => {
        const open = { 'Access-Control-Allow-Origin': '*' };
        const { url } = request;
        if (url === '/redirect') response.writeHead(302, { ...open, Location: '/%E0%A4%A.txt' }).end();
        else if (url === '/away') response.writeHead(302, { Location: 'http://localhost:9/x' }).end();
        else if (url === '/endless') {
            response.writeHead(200, open);
            const more = () => !response.destroyed && response.write(text.repeat(20), () => setTimeout(more, 5));
            more();
        } else response.writeHead(200, { ...open, 'Content-Type': 'text/html' }).end(`<script>document.title = 'taken'</script>${text}`);
    });
    await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
    return server;
}

export default async function hostile(driver) {
    const folder = mkdtempSync(join(tmpdir(), 'posttrain-hostile-'));

    await driver.test('a browser that remembers nothing for the page: it works, and forgets', async () => {
        const visit = await driver.visit();
        await visit.context.addInitScript(() => {
            const refuse = () => {
                throw new DOMException('Access is denied for this document.', 'SecurityError');
            };
            for (const store of ['localStorage', 'sessionStorage']) Object.defineProperty(window, store, { get: refuse });
        });
        await visit.goto();
        await visit.train(20);
        await visit.saved(20);
        await visit.go('Runs');
        await visit.field('Save a run every').fill('7');
        await visit.go('Train');
        await visit.go('Runs');
        assert.equal(await visit.field('Save a run every').inputValue(), '7');
    });

    await driver.test('a file that was changed after it was chosen', async () => {
        const visit = await driver.visit();
        const path = join(folder, 'changing.txt');
        writeFileSync(path, text);
        await visit.goto();
        await visit.page.getByRole('radio', { name: 'A file' }).evaluate((radio) => radio.click());
        await visit.page.getByLabel('A text file').setInputFiles(path);
        await visit.ready('Start training');
        writeFileSync(path, `${text} and more`);
        await visit.press('Start training');
        const words = 'Changing.txt cannot be read: it was changed, moved or deleted since it was chosen. Choose it again.';
        await visit.page.locator(`.notice.bad:has-text("${words}")`).waitFor();
        await visit.train(20);
        const model = join(folder, 'model.tinygpt');
        writeFileSync(model, (await visit.download('Save .tinygpt')).bytes);
        rmSync(path);
    });

    await driver.test('addresses: redirected, of a name that is none, endless, of a page, of no kind that is read', async () => {
        const server = await elsewhere();
        const site = `http://127.0.0.1:${server.address().port}`;
        const visit = await driver.visit();
        visit.allowed.push(site, 'http://localhost:9/');
        await visit.goto();
        const { page } = visit;
        await page.getByRole('radio', { name: 'Address' }).evaluate((radio) => radio.click());
        const get = async (address) => {
            await page.getByLabel('Address of a text').fill(address);
            await visit.press('Get it');
        };
        await get(`${site}/%E0%A4%A.txt`);
        await page.getByText('Fetched: %E0%A4%A.txt').waitFor();
        await get(`${site}/redirect`);
        await page.getByText('Fetched: redirect').waitFor();
        await get(`${site}/page.html`);
        await page.getByText('Fetched: page.html').waitFor();
        assert.match(await page.title(), /posttrain/);
        await get(`${site}/endless`);
        await page.getByText(/[kM]B so far/).waitFor();
        await visit.press('Break off');
        await alerted(visit, 'It was broken off.');
        for (const [address, words] of [[`${site}/away`, 'cannot be reached'], ['data:text/plain,x', 'not data:'], ['blob:x', 'not blob:'], ['http://a:b@127.0.0.1:9/x', 'cannot be reached'], ['https://', 'no address']]) {
            await get(address);
            await alerted(visit, words);
        }
        assert.deepEqual(visit.complaints.filter((what) => !/Failed to load resource|blocked by CORS|ERR_|unsafe port/i.test(what)), []);
        visit.complaints.length = 0;
        server.closeAllConnections();
        server.close();
    });

    await driver.test('names that are markup, of 250 characters, and with marks that turn the writing', async () => {
        const visit = await driver.visit();
        await visit.goto();
        for (const name of ['<img src=x onerror="document.title=1">.txt', `${'w'.repeat(246)}.txt`, 'a\u202etxt.\u0007\n<b>.txt']) {
            await visit.setUp(10, 0.005);
            await visit.page.getByRole('radio', { name: 'A file' }).evaluate((radio) => radio.click());
            await visit.page.getByLabel('A text file').setInputFiles({ name, mimeType: '', buffer: Buffer.from(text) });
            await visit.ready('Start training');
            await visit.press('Start training');
            await visit.phase('Done step 10 of 10');
            await visit.saved(10);
            await visit.look('hostile-name', false);
        }
        await visit.go('Runs');
        await items(visit).nth(2).waitFor();
        await visit.look('hostile-names', false);
        await visit.go('Compare');
        await visit.page.locator('table').first().waitFor();
        await visit.look('hostile-compared', false);
        await visit.go('Runs');
        await items(visit).first().getByText('Share it as a link').click();
        const link = await items(visit).first().getByLabel('Link to').inputValue();
        await visit.goto(new URL(link).hash);
        await visit.page.getByText('What it will do').waitFor();
        assert.match(await visit.page.title(), /posttrain/);
        assert.equal(await visit.page.locator('img[src=x]').count(), 0);
    });

    await driver.test('a run whose text is damaged: its model can be had, and it is compared', async () => {
        const visit = await kept(driver);
        await inRun(visit, `(run, change) => change(run, 'corpus', ${turnBit})`);
        await reopened(visit);
        await visit.press('Open', items(visit).first());
        await alerted(visit, 'The text that it learned from is damaged, so it cannot go on. Its model can still be exported.');
        assert.equal((await visit.download('Export .tinygpt', items(visit).first())).bytes.subarray(0, 4).toString(), 'TGPT');
        assert.ok((await visit.download('Export .safetensors', items(visit).first())).bytes.length > 1000);
    });

    await driver.test('a run that cannot be read is shown, its model can be had, and it is deleted only when asked to', async () => {
        for (const [name, edit] of [['record.json', turnBit], ['seal.json', '() => new Uint8Array([123])'], ['curve.f64', '(bytes) => bytes.slice(8)']]) {
            const visit = await kept(driver);
            await inRun(visit, inSlots(name, edit));
            await reopened(visit);
            const item = items(visit).first();
            if (name === 'curve.f64') {
                await visit.press('Open', item);
                await alerted(visit, 'neither of its two saves can be read');
            } else await item.getByText('A run that cannot be read').waitFor();
            const { bytes } = await visit.download('Export .tinygpt', item);
            assert.equal(bytes.subarray(0, 4).toString(), 'TGPT', name);
            if (name !== 'seal.json') continue;
            await visit.look('unreadable', false);
            await inRun(visit, inSlots('model.tinygpt', turnBit));
            await visit.press('Export .tinygpt', item);
            await alerted(visit, 'checksum', item);
            await visit.press('Delete', item);
            await item.waitFor({ state: 'detached' });
            await visit.press('Undo');
            await item.waitFor();
            await visit.press('Delete', item);
            await item.waitFor({ state: 'detached' });
            await visit.go('Train');
            await visit.goto('#runs');
            await visit.page.getByText('None yet.').waitFor();
        }
    });

    await driver.test('a run of which a newer page made the newest save is left to that', async () => {
        const visit = await kept(driver);
        const newer = `async (run) => {
            const digest = async (bytes) => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
            const put = async (folder, name, value) => {
                const writable = await (await folder.getFileHandle(name, { create: true })).createWritable();
                await writable.write(value);
                await writable.close();
            };
            const read = async (folder, name) => (await (await folder.getFileHandle(name)).getFile()).arrayBuffer();
            const slots = await Promise.all(['a', 'b'].map((name) => run.getDirectoryHandle(name).catch(() => undefined)));
            const from = slots.find(Boolean);
            const to = await run.getDirectoryHandle(slots[0] ? 'b' : 'a', { create: true });
            for (const name of ['model.tinygpt', 'curve.f64']) await put(to, name, await read(from, name));
            const record = new TextEncoder().encode(JSON.stringify({ ...JSON.parse(await new Response(await read(from, 'record.json')).text()), format: 2, news: true }));
            const seal = JSON.parse(await new Response(await read(from, 'seal.json')).text());
            const print = [...(await digest(await digest(record)))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
            seal.files['record.json'] = { bytes: record.length, print };
            await put(to, 'record.json', record);
            await put(to, 'seal.json', JSON.stringify({ ...seal, number: seal.number + 1 }));
        }`;
        await inRun(visit, newer);
        await visit.page.reload();
        await alerted(visit, 'A newer version of this page saved it: reload the page to open it.');
        await reopened(visit);
        await items(visit).first().getByText('A newer version of this page saved it').waitFor();
        const seals = await visit.page.evaluate(async () => {
            const runs = await (await navigator.storage.getDirectory()).getDirectoryHandle('runs');
            const [run] = await Array.fromAsync(runs.values());
            return Promise.all(['a', 'b'].map(async (slot) => (await (await (await run.getDirectoryHandle(slot)).getFileHandle('seal.json')).getFile()).size > 0));
        });
        assert.deepEqual(seals, [true, true]);
    });

    await driver.test('a seal that is damaged: the other save is opened, and that is said', async () => {
        const visit = await driver.visit();
        await visit.goto();
        const step = await visit.trainHalf(300);
        await visit.press('Resume');
        await visit.phase('Done');
        await visit.saved(300);
        const { slot } = await visit.curve();
        await inRun(visit, `async (run, change, slot) => change(await run.getDirectoryHandle(slot), 'seal.json', (bytes) => bytes.slice(0, 20))`, slot);
        await visit.page.reload();
        await alerted(visit, 'another save is damaged');
        await visit.phase(`step ${step} of`);
    });

    await driver.test('storage that fills up at any point of a save', async () => {
        const visit = await driver.visit();
        await visit.goto();
        const step = await visit.trainHalf(100_000);
        const { origin } = new URL(visit.site);
        const session = await visit.context.newCDPSession(visit.page);
        const used = await visit.page.evaluate(async () => (await navigator.storage.estimate()).usage);
        for (const more of [0, 1, 60_000, 400_000, 700_000]) {
            await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: used + more });
            await visit.press('Resume');
            await visit.phase('Training');
            await visit.page.waitForTimeout(60);
            await visit.press('Pause');
            await visit.page.waitForFunction(() => /Paused/.test(document.querySelector('.phase')?.textContent) && document.querySelector('.notice.bad, [data-test=saved]'));
            await visit.page.locator('button:text-is("Resume")').waitFor();
        }
        await session.send('Storage.overrideQuotaForOrigin', { origin });
        await visit.press('Resume');
        await visit.phase('Training');
        await visit.press('Pause');
        const last = await visit.restingStep();
        assert.ok(last > step);
        await visit.page.reload();
        await visit.phase(`Paused step ${last.toLocaleString('en')} of`);
    });

    rmSync(folder, { recursive: true, force: true });
}
