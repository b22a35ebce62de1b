/** Texts from an address, and texts that are awkward: empty, of one byte, binary. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { text } from '../driver.mjs';

/** Another site: one text that all may read, one that none may, one that breaks off, one that is missing. */
async function elsewhere() {
    const server = createServer((request, response) => {
        const open = { 'Access-Control-Allow-Origin': '*', 'Content-Type': 'text/plain' };
        if (request.url === '/cats.txt') response.writeHead(200, open).end(text);
        else if (request.url === '/closed.txt') response.writeHead(200).end(text);
        else if (request.url === '/broken.txt') response.writeHead(200, { ...open, 'Content-Length': 1e6 }).write(text, () => setTimeout(() => response.destroy(), 200));
        else response.writeHead(404, open).end();
    });
    await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
    return server;
}

export default async function corpus(driver) {
    const server = await elsewhere();
    const site = `http://127.0.0.1:${server.address().port}`;
    const visit = await driver.visit();
    const { page } = visit;

    async function get(address) {
        await page.getByLabel('Address of a text').fill(address);
        await visit.press('Get it');
    }
    const refused = (words) => page.locator(`.notice.bad[role=alert]:has-text("${words}")`).waitFor();

    await driver.test('a text is fetched from an address, and asked for by nobody else', async () => {
        await visit.goto();
        await page.getByRole('radio', { name: 'Address' }).evaluate((radio) => radio.click());
        await page.locator('#problems:has-text("Get a text by its address")').waitFor();
        await page.getByLabel('Address of a text').fill(`${site}/cats.txt`);
        assert.deepEqual(visit.elsewhere, [], 'it asked before it was told to');
        visit.allowed.push(site);
        await visit.press('Get it');
        await page.getByText('Fetched: cats.txt').waitFor();
        await page.locator('#problems').waitFor({ state: 'detached' });
        await visit.look('address');
        await visit.field('How long').fill('20');
        await visit.field('Gentle start').fill('5');
        await visit.ready('Start training');
        await visit.press('Start training');
        await visit.phase('Done step 20 of 20 on cats.txt');
    });

    await driver.test('an address that cannot be read: why, and what to do', async () => {
        await visit.go('Set up');
        for (const [address, words] of [
            ['cats', 'This is no address'],
            ['file:///etc/passwd', 'begins with https://, not file:'],
            ['javascript:alert(1)', 'not javascript:'],
            [`${site}/none.txt`, 'answers 404'],
            [`${site}/closed.txt`, 'does not let other pages read'],
            [`${site}/broken.txt`, 'broke after'],
            ['http://127.0.0.1:9/x', 'cannot be reached'],
        ]) {
            if (address.startsWith('http://127.0.0.1:9')) visit.allowed.push('http://127.0.0.1:9/');
            await get(address);
            await refused(words);
        }
        assert.ok((await page.locator('.notice.bad[role=alert]').textContent()).includes('Download it yourself'));
        await page.locator('#problems:has-text("Get a text by its address")').waitFor();
        // The browser itself reports requests that fail; nothing else may have been said.
        assert.deepEqual(visit.complaints.filter((what) => !/Failed to load resource|blocked by CORS|ERR_|unsafe port/i.test(what)), []);
        visit.complaints.length = 0;
    });

    await driver.test('an empty text, one byte, and bytes that are no text', async () => {
        await page.getByRole('radio', { name: 'A file' }).evaluate((radio) => radio.click());
        const give = (name, bytes) => page.getByLabel('A text file').setInputFiles({ name, mimeType: '', buffer: Buffer.from(bytes) });
        await give('empty.txt', []);
        await page.locator('#problems:has-text("The text is empty")').waitFor();
        await give('one.txt', [65]);
        await page.locator('#problems:has-text("1 byte")').waitFor();
        await give('binary.bin', Array.from({ length: 20_000 }, (_, i) => (i * 7919) % 256));
        await page.locator('#problems').waitFor({ state: 'detached' });
        await page.getByText('binary.bin has zero bytes').waitFor();
        const lr = visit.field('Size of a correction');
        const usual = await lr.inputValue();
        await lr.fill('0');
        await page.getByText('With a learning rate of 0 nothing is learned').waitFor();
        await lr.fill('5');
        await page.getByText('A learning rate above 0.1').waitFor();
        await lr.fill(usual);
        await page.getByText('A learning rate above 0.1').waitFor({ state: 'detached' });
        await visit.ready('Start training');
        await visit.press('Start training');
        await visit.phase('Done step 20 of 20 on binary.bin');
        await visit.saved(20);
        await page.reload();
        await visit.phase('Done step 20 of 20 on binary.bin');
    });

    server.closeAllConnections();
    server.close();
}
