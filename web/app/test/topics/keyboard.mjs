/** Everything by keyboard; every view for axe, in small and large windows, forced colours and more contrast; what a run says of itself. */
import assert from 'node:assert/strict';

const VIEWS = ['Set up', 'Train', 'Sample', 'Inside', 'Runs', 'Compare', 'Machine'];

export default async function keyboard(driver) {
    const visit = await driver.visit();
    const { page, press, go } = visit;
    const { keyboard: keys } = page;

    /** Tab until what has the focus is named so. */
    async function tabTo(name) {
        for (let i = 0; i < 120; i++) {
            await keys.press('Tab');
            const here = await page.evaluate(() => {
                const { activeElement: e } = document;
                return e?.getAttribute('aria-label') ?? e?.labels?.[0]?.textContent?.trim() ?? e?.textContent?.trim() ?? '';
            });
            if (here.startsWith(name)) return;
        }
        assert.fail(`Tab never comes to ${name}`);
    }

    await driver.test('from the page to a sample with the keyboard alone', async () => {
        await visit.goto();
        await visit.ready('Start training');
        await tabTo('Moby-Dick');
        await keys.press('ArrowRight');
        await tabTo('Your text');
        await keys.type('the cat sat on the mat. '.repeat(20));
        await tabTo('How long');
        await keys.press('Control+a');
        await keys.type('60');
        await tabTo('Gentle start');
        await keys.press('Control+a');
        await keys.type('5');
        await visit.ready('Start training');
        await tabTo('Start training');
        await keys.press('Enter');
        await visit.phase('Done');
        assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'H1');
        await tabTo('Let it write');
        await keys.press('Enter');
        await page.locator('h1:text-is("Sample")').waitFor();
        await tabTo('Write');
        await keys.press('Enter');
        await page.locator('[data-test=rate]:has-text("300 tokens")').waitFor();
        await tabTo('Inside');
        await keys.press('Enter');
        await tabTo('Look inside');
        await keys.press('Enter');
        await page.locator('[data-test=seen]').waitFor();
    });

    await driver.test('every view: axe, 320 px, three widths, light and dark', async () => {
        for (const name of VIEWS) {
            await go(name);
            await visit.look(`full-${name.toLowerCase().replace(' ', '-')}`, true);
        }
    });

    await driver.test('every view in forced colours, with more contrast, and at 200 % of 1280 px', async () => {
        await page.setViewportSize({ width: 640, height: 450 });
        for (const media of [{ forcedColors: 'active' }, { contrast: 'more' }]) {
            await page.emulateMedia(media);
            for (const name of VIEWS) {
                await go(name);
                await visit.accessible();
            }
            await page.emulateMedia({ forcedColors: 'none', contrast: 'no-preference' });
        }
        await page.setViewportSize({ width: 1280, height: 900 });
    });

    await driver.test('the recording plays, and stands still where motion is not wanted', async () => {
        const other = await driver.visit();
        const steps = async () => Number(/step ([\d,]+)/.exec(await other.page.locator('.recording .hint').first().textContent())[1].replaceAll(',', ''));
        await other.goto();
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
    });

    await driver.test('the curve can be zoomed with buttons, and says what was reached', async () => {
        await visit.train(1500);
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

    await driver.test('a text that is learned by heart is called so', async () => {
        await go('Set up');
        let state = 42;
        const letter = () => String.fromCharCode(97 + ((state = (state * 1103515245 + 12345) % 2 ** 31) >> 16) % 26);
        await page.getByLabel('Your text').fill(Array.from({ length: 1200 }, letter).join(''));
        await visit.field('How long').fill('600');
        await visit.ready('Start training');
        await press('Start training');
        await visit.phase('Done');
        await page.locator('[data-test=verdict]:has-text("by heart")').waitFor();
    });

    await driver.test('a run that diverged goes on from its last good weights', async () => {
        await visit.setUp(300, 900);
        await press('Start training');
        await page.locator('.notice.bad:has-text("stopped being a number")').waitFor();
        assert.match(await page.locator('.notice.bad .detail').textContent(), /first bad tensor/i);
        await press('Rewind to the last good weights and halve it');
        // It has learned nothing at that rate, so it may well diverge again: at half the rate, and later.
        await page.locator('.phase:not(:has-text("Getting ready"))').waitFor();
        await page.locator('.notice.bad:has-text("stopped being a number"), .phase:has-text("Done")').first().waitFor();
        assert.doesNotMatch(await page.locator('main').textContent(), /could not go on/);
    });
}
