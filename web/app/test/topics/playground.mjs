/** Setting up, training, sampling, saving to files and opening them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { text } from '../driver.mjs';

export default async function playground(driver) {
    const visit = await driver.visit();
    const { page } = visit;

    await driver.test('the page says what a run would take', async () => {
        await visit.goto();
        await visit.ready('Start training');
        assert.equal(await visit.fact('Parameters'), '70,464');
        assert.match(await visit.fact('Memory'), /^\d.* MB$/);
        await visit.look('set-up');
        await page.getByRole('radio', { name: /^xl/ }).evaluate((radio) => radio.click());
        await page.locator('[data-test=params]:text-is("6,416,896")').waitFor();
        await page.getByRole('radio', { name: /^tiny/ }).evaluate((radio) => radio.click());
    });

    await driver.test('a text that is chosen before the engine stands stays chosen', async () => {
        const early = await driver.visit();
        let goOn;
        const wait = new Promise((resolve) => (goOn = resolve));
        await early.context.route('**/*.wasm', (route) => wait.then(() => route.continue()));
        await early.goto();
        await early.page.getByRole('radio', { name: 'Paste' }).evaluate((radio) => radio.click());
        goOn();
        await early.page.locator('#problems:has-text("Paste a text")').waitFor();
        assert.ok(await early.page.getByRole('radio', { name: 'Paste' }).isChecked());
        await early.page.close();
    });

    await driver.test('a start that is asked for before it is checked comes when it is, unless something else is set', async () => {
        const early = await driver.visit();
        const held = [];
        let hold = true;
        await early.context.route('**/*.wasm', (route) => (hold ? held.push(route) : route.continue()));
        await early.goto();
        await early.pressEarly('Start training');
        await early.page.getByText('It starts as soon as it is checked.').waitFor();
        await early.page.getByRole('radio', { name: 'Paste' }).evaluate((radio) => radio.click());
        assert.equal(await early.page.getByText('It starts as soon as it is checked.').count(), 0);
        await early.page.getByLabel('Your text').fill(text);
        await early.pressEarly('Start training');
        hold = false;
        for (const route of held) await route.continue();
        await early.phase('Training');
        assert.match(await early.page.locator('.phase').textContent(), /on your text/);
        await early.press('Stop');
        await early.phase('Stopped');
    });

    await driver.test('pause and stop that are asked for too early come as soon as they can', async () => {
        for (const [call, begin, then, over] of [
            ['train', 'Start training', 'Pause', 'Paused'],
            ['train', 'Start training', 'Stop', 'Stopped'],
            ['continue', 'Train on', 'Pause', 'Paused'],
            ['continue', 'Train on', 'Stop', 'Stopped'],
            ['pause', 'Pause', 'Stop', 'Stopped'],
        ]) {
            const early = await driver.visit();
            const { begun, letGo } = await early.hold(call);
            await early.goto();
            if (call === 'continue') {
                await early.train(20);
                await early.page.getByRole('spinbutton', { name: 'for steps' }).fill('100000');
            } else await early.setUp(100_000, 0.003);
            if (call === 'pause') {
                await early.press('Start training');
                await early.phase('Training');
            }
            await early.press(begin);
            await begun();
            await early.pressEarly(then);
            await letGo();
            await early.phase(over);
            assert.doesNotMatch(await early.page.locator('.phase').textContent(), /then it/);
            await early.page.close();
        }
    });

    await driver.test('a run that is begun while a file is still being opened stays', async () => {
        const other = await driver.visit();
        const { begun, letGo } = await other.hold('openFile');
        await other.goto();
        await other.train(20);
        const { bytes } = await other.download('Save .tinygpt');
        await other.go('Sample');
        await other.page.getByLabel('Open a .tinygpt file').setInputFiles({ name: 'again.tinygpt', mimeType: '', buffer: bytes });
        await begun();
        await other.setUp(100_000, 0.003);
        await other.press('Start training');
        await other.phase('Training');
        await letGo();
        await other.page.waitForTimeout(1000);
        await other.press('Pause');
        await other.phase('Paused');
        await other.page.close();
    });

    await driver.test('an engine that died while its run was paused: stopping it says so', async () => {
        const other = await driver.visit();
        await other.page.addInitScript(() => {
            window.workers = [];
            window.Worker = class extends Worker {
                constructor(...args) {
                    super(...args);
                    window.workers.push(this);
                }
            };
        });
        await other.goto();
        await other.trainHalf(100_000);
        await other.page.evaluate(() => window.workers.forEach((worker) => worker.dispatchEvent(new ErrorEvent('error', { message: 'it died' }))));
        await other.press('Stop');
        await other.page.locator('.notice.bad:has-text("The run could not go on. It died")').waitFor();
        await other.page.close();
    });

    await driver.test('a knob says why, and what cannot run says why not', async () => {
        await page.getByRole('button', { name: 'Why: How long' }).click();
        assert.ok(await page.getByText('How many times the weights are corrected').isVisible());
        await page.keyboard.press('Escape');
        await page.getByText('Shape of the model').click();
        await visit.field('Width').fill('49');
        await page.locator('#problems:has-text("heads")').waitFor();
        assert.ok(await page.getByRole('button', { name: 'Start training' }).isDisabled());
        await visit.look('problem');
        await visit.field('Width').fill('48');
        await page.getByRole('radio', { name: 'Paste' }).evaluate((radio) => radio.click());
        await page.locator('#problems:has-text("Paste a text")').waitFor();
    });

    await driver.test('on a small screen the start is in reach, and so is why not', async () => {
        await visit.go('Set up');
        await page.setViewportSize({ width: 360, height: 740 });
        const start = page.getByRole('button', { name: 'Start training' });
        const inSight = (locator) => locator.evaluate((e) => (({ top, bottom }) => top >= 0 && bottom <= innerHeight)(e.getBoundingClientRect()));
        await page.evaluate(() => scrollTo(0, 0));
        assert.ok(await inSight(start));
        await visit.press('Why not yet?');
        await page.waitForTimeout(100);
        assert.ok(await inSight(page.locator('#problems')));
        await page.evaluate(() => scrollTo(0, 0));
        await page.getByRole('button', { name: 'Why not yet?' }).focus();
        for (let i = 0; i < 3; i++) {
            await page.keyboard.press('Tab');
            const [focused, bar] = await page.evaluate(() => [document.activeElement, document.querySelector('.go')].map((e) => e.getBoundingClientRect().toJSON()));
            assert.ok(focused.bottom <= bar.top || focused.top >= bar.top, 'the bar hides what has the focus');
        }
        await page.setViewportSize({ width: 1280, height: 900 });
    });

    await driver.test('views without a model lead to one', async () => {
        for (const [name, id] of [['Train', 'train'], ['Sample', 'sample'], ['Machine', 'machine']]) {
            await visit.go(name);
            assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'H1');
            await visit.look(`empty-${id}`);
        }
    });

    await driver.test('a run can be paused, resumed, stopped, and taken up again', async () => {
        await visit.setUp(100_000, 0.003);
        await visit.press('Start training');
        await visit.press('Pause');
        await page.locator('.phase:has-text("Paused")').waitFor();
        await visit.restingStep();
        const before = await page.locator('.phase').textContent();
        await page.waitForTimeout(400);
        assert.equal(await page.locator('.phase').textContent(), before, 'it went on although it was paused');
        await visit.press('Resume');
        await page.locator('.phase:has-text("Training")').waitFor();
        await page.waitForTimeout(500);
        await visit.press('Stop');
        await page.locator('.phase:has-text("Stopped")').waitFor();
        const more = page.getByRole('spinbutton', { name: 'for steps' });
        const stoppedAt = await visit.restingStep();
        assert.equal(Number(await more.inputValue()), 100_000 - stoppedAt, 'training on does not go on with the plan');
        assert.equal(await page.getByText('The learning rate is then planned anew').count(), 0);
        await more.fill('50');
        await page.getByText(`planned anew, to end at step ${(stoppedAt + 50).toLocaleString('en')}. The plan as it was ends at step 100,000, `).waitFor();
        await visit.press('Train on');
        await page.locator('.phase:has-text("Done")').waitFor();
        assert.equal(await more.inputValue(), '200');
        assert.match(await page.locator('[data-test=summary]').textContent(), / at step [\d,]+\.$/);
        assert.equal(await visit.fact('Last checked'), `at step ${(stoppedAt + 50).toLocaleString('en')}`);
        await visit.go('Runs');
        const item = page.locator('.saved-run').first();
        await item.getByText('Share it as a link').click();
        await item.getByText('the link is of its first plan, of 100,000 steps').waitFor();
    });

    await driver.test('the loss falls, and the chart can be read without seeing it', async () => {
        await visit.setUp(400, 0.005);
        await visit.press('Start training');
        await page.locator('.phase:has-text("Done")').waitFor({ timeout: 60_000 });
        assert.match(await page.locator('.phase').textContent(), /step 400 of 400/);
        assert.ok(Number(await visit.fact('Loss')) < 2.5, `the loss is ${await visit.fact('Loss')}`);
        assert.match(await page.locator('[data-test=summary]').textContent(), /Loss went from 5\.\d\d to [0-2]\.\d\d in 400 steps/);
        const slider = page.getByRole('slider', { name: 'Look at a step' });
        await slider.focus();
        await page.keyboard.press('Home');
        assert.match(await slider.getAttribute('aria-valuetext'), /^step 1: training 5\./);
        await page.keyboard.press('ArrowRight');
        assert.match(await slider.getAttribute('aria-valuetext'), /^step 2: /);
        await page.setViewportSize({ width: 360, height: 900 });
        await page.waitForTimeout(200);
        const [plot, mark] = [await page.locator('.u-over').boundingBox(), await page.locator('.u-cursor-pt').first().boundingBox()];
        assert.ok(Math.abs(mark.x + mark.width / 2 - plot.x) < 0.05 * plot.width, `step 2 of 400 is marked at ${mark.x - plot.x} of ${plot.width} px`);
        await page.setViewportSize({ width: 1280, height: 900 });
        await page.getByText('The curve as a table').click();
        assert.equal(await page.getByRole('table').getByRole('row').count(), 21);
        await visit.look('train');
    });

    await driver.test('a file is read, and a model samples while it learns', async () => {
        await visit.go('Set up');
        await page.getByRole('radio', { name: 'A file' }).evaluate((radio) => radio.click());
        await page.locator('#problems:has-text("Choose a file")').waitFor();
        await page.getByLabel('A text file').setInputFiles({ name: 'cats.txt', mimeType: 'text/plain', buffer: Buffer.from(text.repeat(500)) });
        await visit.ready('Start training');
        await visit.field('How long').fill('100000');
        await visit.ready('Start training');
        await visit.press('Start training');
        await page.locator('.phase:has-text("Training step")').and(page.locator(':has-text("cats.txt")')).waitFor();
        await visit.go('Sample');
        await visit.field('Length').fill('30');
        await visit.press('Write');
        await page.locator('[data-test=rate]:has-text("30 tokens")').waitFor();
        await visit.go('Train');
        await visit.press('Stop');
        await page.locator('.phase:has-text("Stopped")').waitFor();
        await visit.setUp(400, 0.005);
        await visit.press('Start training');
        await page.locator('.phase:has-text("Done")').waitFor({ timeout: 60_000 });
    });

    let file;
    await driver.test('it writes, and tells how likely each byte was', async () => {
        await visit.go('Sample');
        await page.getByLabel('Beginning').fill('the cat ');
        await visit.field('Length').fill('60');
        await visit.press('Write');
        await page.locator('[data-test=rate]:has-text("60 tokens")').waitFor();
        assert.match(await page.locator('[data-test=written]').textContent(), /^the cat .*the /s);
        assert.ok(await page.locator('.odds tbody tr').count() === 10);
        await visit.field('Length').fill('5000');
        await visit.press('Write');
        await visit.press('Stop writing');
        await visit.ready('Write');
        await visit.field('Length').fill('2000');
        await visit.press('Write');
        await page.locator('[data-test=rate]:has-text("2,000 tokens")').waitFor();
        await visit.look('sample');
    });

    await driver.test('a model is saved and opened again', async () => {
        await page.getByLabel('Open a .tinygpt file').setInputFiles({ name: 'bad.tinygpt', mimeType: '', buffer: Buffer.from('not a model') });
        await page.locator('.notice.bad:has-text("bad.tinygpt cannot be opened")').waitFor();
        const [download] = await Promise.all([page.waitForEvent('download'), visit.press('Save .tinygpt')]);
        assert.match(download.suggestedFilename(), /^tiny-400-steps\.tinygpt$/);
        file = await download.path();
        await page.getByLabel('Open a .tinygpt file').setInputFiles({ name: 'mine.tinygpt', mimeType: '', buffer: readFileSync(file) });
        await page.locator('.lead:has-text("mine.tinygpt")').waitFor();
        assert.match(await page.locator('.lead').textContent(), /70,464 parameters.* 400 steps/s);
        await visit.field('Length').fill('20');
        await visit.press('Write');
        await page.locator('[data-test=rate]:has-text("20 tokens")').waitFor();
    });

    await driver.test('a run that diverges ends with a sentence, and can be started gentler', async () => {
        await visit.setUp(300, 900);
        await visit.press('Start training');
        await page.locator('.notice.bad:has-text("stopped being a number"), .phase:has-text("Done")').first().waitFor({ timeout: 60_000 });
        assert.ok(await page.locator('.notice.bad').isVisible(), 'it did not diverge');
        await visit.look('diverged');
        await Promise.all([page.waitForEvent('download'), visit.press('Save the last good weights')]);
        await visit.press('Halve the learning rate and start again');
        await page.locator('.notice.bad:has-text("stopped being a number"), .phase:has-text("Training")').first().waitFor();
    });

    await driver.test('this machine', async () => {
        await visit.go('Machine');
        await page.locator('dd:has-text("up to")').waitFor();
        assert.match(await page.locator('.abilities div', { hasText: 'Storage' }).innerText(), /\d+(\.\d)? [MG]B\s+Of these .* are used/);
        await visit.look('machine');
    });
}
