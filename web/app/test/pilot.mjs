/** A served site, a browser on it, and what its tests share. Usage of each test file: node FILE FOLDER [SHOTS]
 * FOLDER: the site; SHOTS: a folder for screenshots. CHROMIUM names the browser. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import { serve } from '../serve.mjs';

export const [built, shots] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const text = 'the cat sat on the mat and the dog sat on the log. '.repeat(200);

let passed = 0;
let failed = 0;
export async function test(name, work) {
    try {
        await work();
        passed++;
    } catch (error) {
        failed++;
        console.log(`failed: ${name}\n${error.stack}`);
    }
}

export function finish() {
    console.log(`${passed} passed, ${failed} failed`);
    process.exit(failed ? 1 : 0); // a browser of a test that failed is still open
}

/** A page of its own browser profile on a server of its own, and what one does there. `headers`: what the server sends with every
 * file. */
export async function pilot({ folder = built, headers, ...options } = {}) {
    const server = await serve(folder, 0, headers);
    const { port } = server.address();
    const site = `http://localhost:${port}/`;
    const browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
        args: ['--headless=new', '--no-sandbox', '--disable-gpu'],
    });
    // Scripts of the test (axe) come from outside the page's policy.
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, bypassCSP: true, ...options });
    const page = await context.newPage();
    const complaints = [];
    const elsewhere = [];
    context.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    context.on('request', (request) => !request.url().startsWith(site) && !request.url().startsWith('blob:') && elsewhere.push(request.url()));
    page.setDefaultTimeout(30_000);

    const press = (name) => page.getByRole('button', { name, exact: true }).click();
    const go = (name) => page.getByRole('navigation').getByRole('link', { name }).click();
    const ready = (name) => page.locator(`button[aria-disabled=false]:text-is("${name}")`).waitFor();
    const field = (label) => page.getByRole('spinbutton', { name: label });

    /** Sets up and starts a run on a text of one sentence. */
    async function train(steps, lr = 0.005) {
        await go('Set up');
        await page.getByRole('radio', { name: 'Paste' }).check({ force: true });
        await page.getByLabel('Your text').fill(text);
        await field('How long').fill(String(steps));
        await field('Gentle start').fill('5');
        await field('Size of a correction').fill(String(lr));
        await ready('Start training');
        await press('Start training');
    }
    const done = () => page.locator('.phase:has-text("Done")').waitFor({ timeout: 120_000 });

    /** Nothing serious for axe, and nothing to scroll sideways. */
    async function accessible() {
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
        const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
        assert.deepEqual(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`), []);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `the page is ${wide} px too wide`);
    }

    /** The view as it is, accessible at three widths, light and dark; and on a screen of 320 px. */
    async function look(name) {
        for (const scheme of ['light', 'dark'])
            for (const width of scheme === 'light' ? [320, 360, 768, 1280] : [360, 768, 1280]) {
                await page.emulateMedia({ colorScheme: scheme });
                await page.setViewportSize({ width, height: 900 });
                await page.waitForTimeout(shots ? 250 : 50);
                await accessible();
                if (shots && width > 320) await page.screenshot({ path: `${shots}/app-${name}-${width}-${scheme}.png`, fullPage: true });
            }
        await page.emulateMedia({ colorScheme: 'light' });
    }

    /** The server goes away; open pages stay. */
    const down = () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve)));
    /** What is asked in the console or of elsewhere is a fault. */
    async function close() {
        await browser.close();
        server.close();
        assert.deepEqual(complaints, [], 'complaints in the console');
        assert.deepEqual(elsewhere, [], 'requests to elsewhere');
    }
    return { site, page, context, complaints, press, go, ready, field, train, done, accessible, look, down, close };
}
