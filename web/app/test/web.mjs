/** The built page in Chromium: trains, samples, saves, opens, and is usable. Usage: node web.mjs FOLDER [SHOTS]
 * FOLDER: the site; SHOTS: a folder for screenshots of each view at three widths, light and dark.
 * Ends with "N passed, N failed". CHROMIUM names the browser. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import { serve } from '../serve.mjs';

const [folder, shots] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const text = 'the cat sat on the mat and the dog sat on the log. '.repeat(200);

const server = await serve(folder, 0);
const site = `http://localhost:${server.address().port}/`;
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless=new', '--no-sandbox', '--disable-gpu'],
});
// Scripts of the test (axe) come from outside the page's policy.
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, bypassCSP: true });
const page = await context.newPage();
const complaints = [];
const elsewhere = [];
page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
page.on('pageerror', (error) => complaints.push(String(error)));
page.on('request', (request) => !request.url().startsWith(site) && !request.url().startsWith('blob:') && elsewhere.push(request.url()));
page.setDefaultTimeout(20_000);

const press = (name) => page.getByRole('button', { name, exact: true }).click();
const go = (name) => page.getByRole('navigation').getByRole('link', { name }).click();
const ready = (name) => page.locator(`button[aria-disabled=false]:text-is("${name}")`).waitFor();
const fact = async (name) => (await page.locator('dl.facts div', { has: page.locator(`dt:text-is("${name}")`) }).locator('dd').textContent()).trim();
const field = (label) => page.getByRole('spinbutton', { name: label });

async function accessible() {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    assert.deepEqual(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`), []);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `the page is ${wide} px too wide`);
}

async function look(name) {
    const all = ['light', 'dark'].flatMap((scheme) => [360, 768, 1280].map((width) => [scheme, width]));
    for (const [scheme, width] of shots ? all : [all[0], all[5]]) {
        await page.emulateMedia({ colorScheme: scheme });
        await page.setViewportSize({ width, height: 900 });
        await page.waitForTimeout(shots ? 250 : 30);
        await accessible();
        if (shots) await page.screenshot({ path: `${shots}/app-${name}-${width}-${scheme}.png`, fullPage: true });
    }
    await page.emulateMedia({ colorScheme: 'light' });
}

async function setUp(steps, lr) {
    await go('Set up');
    await page.getByRole('radio', { name: 'Paste' }).check({ force: true });
    await page.getByLabel('Your text').fill(text);
    await field('How long').fill(String(steps));
    await field('Gentle start').fill('5');
    await field('Size of a correction').fill(String(lr));
    await ready('Start training');
}

let passed = 0;
let failed = 0;
async function test(name, work) {
    try {
        await work();
        passed++;
    } catch (error) {
        failed++;
        console.log(`failed: ${name}\n${error.stack}`);
        if (shots) await page.screenshot({ path: `${shots}/app-failed-${failed}.png`, fullPage: true });
    }
}

await test('the page says what a run would take', async () => {
    await page.goto(site);
    await ready('Start training');
    assert.equal(await fact('Parameters'), '70,464');
    assert.match(await fact('Memory'), /^\d.* MB$/);
    await look('set-up');
    await page.getByRole('radio', { name: /^xl/ }).check({ force: true });
    await page.locator('[data-test=params]:text-is("6,416,896")').waitFor();
    await page.getByRole('radio', { name: /^tiny/ }).check({ force: true });
});

await test('a knob says why, and what cannot run says why not', async () => {
    await page.getByRole('button', { name: 'Why: How long' }).click();
    assert.ok(await page.getByText('How many times the weights are corrected').isVisible());
    await page.keyboard.press('Escape');
    await page.getByText('Shape of the model').click();
    await field('Width').fill('49');
    await page.locator('#problems:has-text("heads")').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Start training' }).isDisabled());
    await look('problem');
    await field('Width').fill('48');
    await page.getByRole('radio', { name: 'Paste' }).check({ force: true });
    await page.locator('#problems:has-text("Paste a text")').waitFor();
});

await test('views without a model lead to one', async () => {
    for (const [name, id] of [['Train', 'train'], ['Sample', 'sample'], ['Machine', 'machine']]) {
        await go(name);
        assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'H1');
        await look(`empty-${id}`);
    }
});

await test('a run can be paused, resumed, stopped, and taken up again', async () => {
    await setUp(100_000, 0.003);
    await press('Start training');
    await press('Pause');
    await page.locator('.phase:has-text("Paused")').waitFor();
    const before = await page.locator('.phase').textContent();
    await page.waitForTimeout(400);
    assert.equal(await page.locator('.phase').textContent(), before, 'it went on although it was paused');
    await press('Resume');
    await page.locator('.phase:has-text("Training")').waitFor();
    await page.waitForTimeout(500);
    await press('Stop');
    await page.locator('.phase:has-text("Stopped")').waitFor();
    await page.getByRole('spinbutton', { name: 'for steps' }).fill('50');
    await press('Train on');
    await page.locator('.phase:has-text("Done")').waitFor();
});

await test('the loss falls, and the chart can be read without seeing it', async () => {
    await setUp(400, 0.005);
    await press('Start training');
    await page.locator('.phase:has-text("Done")').waitFor({ timeout: 60_000 });
    assert.match(await page.locator('.phase').textContent(), /step 400 of 400/);
    assert.ok(Number(await fact('Loss')) < 2.5, `the loss is ${await fact('Loss')}`);
    assert.match(await page.locator('[data-test=summary]').textContent(), /Loss went from 5\.\d\d to [0-2]\.\d\d in 400 steps/);
    const slider = page.getByRole('slider', { name: 'Look at a step' });
    await slider.focus();
    await page.keyboard.press('Home');
    assert.match(await slider.getAttribute('aria-valuetext'), /^step 1: training 5\./);
    await page.keyboard.press('ArrowRight');
    assert.match(await slider.getAttribute('aria-valuetext'), /^step 2: /);
    await page.getByText('The curve as a table').click();
    assert.equal(await page.getByRole('table').getByRole('row').count(), 21);
    await look('train');
});

await test('a file is read, and a model samples while it learns', async () => {
    await go('Set up');
    await page.getByRole('radio', { name: 'A file' }).check({ force: true });
    await page.locator('#problems:has-text("Choose a file")').waitFor();
    await page.getByLabel('A text file').setInputFiles({ name: 'cats.txt', mimeType: 'text/plain', buffer: Buffer.from(text.repeat(500)) });
    await ready('Start training');
    await field('How long').fill('100000');
    await ready('Start training');
    await press('Start training');
    await page.locator('.phase:has-text("Training step")').and(page.locator(':has-text("cats.txt")')).waitFor();
    await go('Sample');
    await field('Length').fill('30');
    await press('Write');
    await page.locator('[data-test=rate]:has-text("30 tokens")').waitFor();
    await go('Train');
    await press('Stop');
    await page.locator('.phase:has-text("Stopped")').waitFor();
    await setUp(400, 0.005);
    await press('Start training');
    await page.locator('.phase:has-text("Done")').waitFor({ timeout: 60_000 });
});

let file;
await test('it writes, and tells how likely each byte was', async () => {
    await go('Sample');
    await page.getByLabel('Beginning').fill('the cat ');
    await field('Length').fill('60');
    await press('Write');
    await page.locator('[data-test=rate]:has-text("60 tokens")').waitFor();
    assert.match(await page.locator('[data-test=written]').textContent(), /^the cat .*the /s);
    assert.ok(await page.locator('.odds tbody tr').count() === 10);
    await field('Length').fill('5000');
    await press('Write');
    await press('Stop writing');
    await ready('Write');
    await field('Length').fill('2000');
    await press('Write');
    await page.locator('[data-test=rate]:has-text("2,000 tokens")').waitFor();
    await look('sample');
});

await test('a model is saved and opened again', async () => {
    await page.getByLabel('Open a .tinygpt file').setInputFiles({ name: 'bad.tinygpt', mimeType: '', buffer: Buffer.from('not a model') });
    await page.locator('.notice.bad:has-text("bad.tinygpt cannot be opened")').waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), press('Save .tinygpt')]);
    assert.match(download.suggestedFilename(), /^tiny-400-steps\.tinygpt$/);
    file = await download.path();
    await page.getByLabel('Open a .tinygpt file').setInputFiles({ name: 'mine.tinygpt', mimeType: '', buffer: readFileSync(file) });
    await page.locator('.lead:has-text("mine.tinygpt")').waitFor();
    assert.match(await page.locator('.lead').textContent(), /70,464 parameters.* 400 steps/s);
    await field('Length').fill('20');
    await press('Write');
    await page.locator('[data-test=rate]:has-text("20 tokens")').waitFor();
});

await test('a run that diverges ends with a sentence, and can be started gentler', async () => {
    await setUp(300, 900);
    await press('Start training');
    await page.locator('.notice.bad:has-text("stopped being a number"), .phase:has-text("Done")').first().waitFor({ timeout: 60_000 });
    assert.ok(await page.locator('.notice.bad').isVisible(), 'it did not diverge');
    await look('diverged');
    await Promise.all([page.waitForEvent('download'), press('Save the last good weights')]);
    await press('Halve the learning rate and start again');
    await page.locator('.notice.bad:has-text("stopped being a number"), .phase:has-text("Training")').first().waitFor();
});

await test('this machine', async () => {
    await go('Machine');
    await page.locator('dd:has-text("up to")').waitFor();
    await look('machine');
});

await test('no complaint in the console, no request to elsewhere', () => {
    assert.deepEqual(complaints, []);
    assert.deepEqual(elsewhere, []);
});

await browser.close();
server.close();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
