/** Everything by keyboard, on every view nothing serious for axe, and a page that stays lively while it trains: see pilot.mjs. */
import assert from 'node:assert/strict';
import { availableParallelism, loadavg } from 'node:os';
import { finish, pilot, test } from './pilot.mjs';

const VIEWS = ['Set up', 'Train', 'Sample', 'Inside', 'Machine'];
const FIRST_STEP_MS = 1500;
const LONG_MS = 50;
const WINDOWS = 4;
const WINDOW_MS = 4000;

const it = await pilot();
const { site, page, press, go, train, done, accessible, look } = it;
const { keyboard } = page;

/** Tab until what has the focus is named so. */
async function tabTo(name) {
    for (let i = 0; i < 120; i++) {
        await keyboard.press('Tab');
        const here = await page.evaluate(() => {
            const { activeElement: e } = document;
            return e?.getAttribute('aria-label') ?? e?.labels?.[0]?.textContent?.trim() ?? e?.textContent?.trim() ?? '';
        });
        if (here.startsWith(name)) return;
    }
    assert.fail(`Tab never comes to ${name}`);
}

await test('from the page to a sample with the keyboard alone', async () => {
    await page.goto(site);
    await it.ready('Start training');
    await tabTo('Moby-Dick');
    await keyboard.press('ArrowRight');
    await tabTo('Your text');
    await keyboard.type('the cat sat on the mat. '.repeat(20));
    await tabTo('How long');
    await keyboard.press('Control+a');
    await keyboard.type('60');
    await tabTo('Gentle start');
    await keyboard.press('Control+a');
    await keyboard.type('5');
    await it.ready('Start training');
    await tabTo('Start training');
    await keyboard.press('Enter');
    await done();
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'H1');
    await tabTo('Let it write');
    await keyboard.press('Enter');
    await page.locator('h1:text-is("Sample")').waitFor();
    await tabTo('Write');
    await keyboard.press('Enter');
    await page.locator('[data-test=rate]:has-text("300 tokens")').waitFor();
    await tabTo('Inside');
    await keyboard.press('Enter');
    await tabTo('Look inside');
    await keyboard.press('Enter');
    await page.locator('[data-test=seen]').waitFor();
});

await test('every view: axe, 320 px, three widths, light and dark', async () => {
    for (const name of VIEWS) {
        await go(name);
        await look(`full-${name.toLowerCase().replace(' ', '-')}`);
    }
});

await test('every view in forced colours, with more contrast, and at 200 % of 1280 px', async () => {
    await page.setViewportSize({ width: 640, height: 450 });
    for (const media of [{ forcedColors: 'active' }, { contrast: 'more' }]) {
        await page.emulateMedia(media);
        for (const name of VIEWS) {
            await go(name);
            await accessible();
        }
        await page.emulateMedia({ forcedColors: 'none', contrast: 'no-preference' });
    }
    await page.setViewportSize({ width: 1280, height: 900 });
});

await test('the recording plays, and stands still where motion is not wanted', async () => {
    const other = await pilot();
    const steps = async () => Number(/step ([\d,]+)/.exec(await other.page.locator('.recording .hint').first().textContent())[1].replaceAll(',', ''));
    await other.page.goto(other.site);
    await other.page.waitForFunction(() => /step [1-9]/.test(document.querySelector('.recording .hint').textContent));
    await other.press('Pause');
    const paused = await steps();
    await other.page.waitForTimeout(500);
    assert.equal(await steps(), paused, 'it plays although it was paused');
    await other.press('Play');
    await other.page.waitForFunction((n) => Number(/step ([\d,]+)/.exec(document.querySelector('.recording .hint').textContent)[1].replaceAll(',', '')) > n, paused);
    await other.look('recording');
    await other.page.emulateMedia({ reducedMotion: 'reduce' });
    await other.page.reload();
    await other.page.getByRole('button', { name: 'Play again' }).waitFor();
    const still = await steps();
    await other.page.waitForTimeout(500);
    assert.equal(await steps(), still, 'it moves although motion is not wanted');
    await other.close();
});

await test('the curve can be zoomed with buttons, and says what was reached', async () => {
    await train(1500);
    await done();
    assert.ok((await page.locator('.milestones li').count()) >= 4);
    assert.match(await page.locator('.milestones').textContent(), /step \d+: below 5.25, better than guessing blindly/);
    await page.locator('[data-test=verdict]').waitFor();
    const range = page.locator('[data-test=range]');
    assert.equal(await range.textContent(), 'all steps');
    await press('Zoom in');
    assert.match(await range.textContent(), /^steps 7\d\d to 1,500$/);
    await press('Zoom out');
    assert.equal(await range.textContent(), 'all steps');
    const plot = await page.locator('.plot .u-over').boundingBox();
    await page.mouse.move(plot.x + plot.width / 4, plot.y + 50);
    await page.mouse.down();
    await page.mouse.move(plot.x + plot.width / 2, plot.y + 50, { steps: 4 });
    await page.mouse.up();
    assert.match(await range.textContent(), /^steps 3\d\d to 7\d\d$/);
    const fact = (name) => page.locator('dl.facts div', { has: page.locator(`dt:text-is("${name}")`) }).locator('dd').textContent();
    const held = Number(await fact('Held-out loss'));
    assert.ok(Math.abs(Number(await fact('Perplexity')) - Math.exp(held)) < 0.02 * Math.exp(held));
    assert.ok(Math.abs(Number(await fact('Bits per byte')) - held / Math.LN2) < 0.01);
});

await test('a text that is learned by heart is called so', async () => {
    await go('Set up');
    let state = 42;
    const letter = () => String.fromCharCode(97 + ((state = (state * 1103515245 + 12345) % 2 ** 31) >> 16) % 26);
    await page.getByLabel('Your text').fill(Array.from({ length: 1200 }, letter).join(''));
    await it.field('How long').fill('600');
    await it.ready('Start training');
    await press('Start training');
    await done();
    await page.locator('[data-test=verdict]:has-text("by heart")').waitFor();
});

await test('a run that diverged goes on from its last good weights', async () => {
    await train(300, 900);
    await page.locator('.notice.bad:has-text("stopped being a number")').waitFor();
    assert.match(await page.locator('.notice.bad .detail').textContent(), /first bad tensor/i);
    await press('Rewind to the last good weights and halve it');
    // It has learned nothing at that rate, so it may well diverge again: at half the rate, and later.
    await page.locator('.phase:not(:has-text("Getting ready"))').waitFor();
    await page.locator('.notice.bad:has-text("stopped being a number"), .phase:has-text("Done")').first().waitFor();
    assert.doesNotMatch(await page.locator('main').textContent(), /could not go on/);
});

await test('the main thread never works for more than 50 ms at a time while it trains', async () => {
    await train(100_000);
    await page.locator('.phase:has-text("Training")').waitFor();
    await page.evaluate(() => {
        window.long = [];
        new PerformanceObserver((list) => window.long.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
    });
    // What else this machine does can hold the page up, but hardly in each of the windows.
    let long;
    for (let i = 0; i < WINDOWS; i++) {
        await page.evaluate(() => (window.long = []));
        await page.waitForTimeout(WINDOW_MS);
        long = (await page.evaluate(() => window.long)).filter((ms) => ms > LONG_MS);
        if (long.length === 0) break;
    }
    await press('Stop');
    assert.deepEqual(long, []);
});

await test('the first training step comes soon after the page', async () => {
    const other = await pilot();
    await other.page.goto(other.site);
    const button = other.page.locator('button[aria-disabled=false]:text-is("Start training")');
    await button.click();
    await other.page.waitForFunction(() => /step [1-9]/.test(document.querySelector('.phase')?.textContent ?? ''), undefined, { polling: 10 });
    const ms = await other.page.evaluate(() => performance.now());
    console.log(`from the request of the page to its first training step shown: ${Math.round(ms)} ms`);
    // Other work on this machine would be what is measured.
    if (loadavg()[0] < availableParallelism()) assert.ok(ms <= FIRST_STEP_MS, `${ms} ms`);
    else console.log(`this machine is too busy to judge that: it should be at most ${FIRST_STEP_MS} ms`);
    await other.close();
});

await test('no complaint in the console, no request to elsewhere', it.close);
finish();
