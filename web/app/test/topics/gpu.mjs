/** Training on a GPU, emulated here: the choice, the badge, pause, reload, a GPU that goes away; and that everything is as on the processor. */
import assert from 'node:assert/strict';

const EMULATED = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];
const STEPS = 1000;
/** Some 15 thousand parameters. */
const shape = [['Depth', 1], ['Width', 32], ['Attention heads', 2], ['How far it looks back', 16], ['Examples per step', 2]];

const stepOf = (visit) => visit.page.evaluate(() => Number(/step ([\d,]+) of/.exec(document.querySelector('.phase')?.textContent ?? '')?.[1].replace(',', '')));
const passes = (visit, step) => visit.page.waitForFunction((least) => Number(/step ([\d,]+) of/.exec(document.querySelector('.phase')?.textContent ?? '')?.[1].replace(',', '')) > least, step, { timeout: 60_000 });
const choose = (visit, name) => visit.page.getByRole('radio', { name, exact: true }).evaluate((radio) => radio.click());
const backend = (visit, words) => visit.page.locator(`[data-test=backend]:has-text("${words}")`).waitFor();

/** On a pasted text, or on the one that comes with the page. */
async function begin(visit, steps = STEPS, pasted = true) {
    if (pasted) await visit.setUp(steps, 3e-4);
    else {
        await visit.goto();
        await visit.field('How long').fill(String(steps));
        await visit.field('Gentle start').fill('5');
    }
    await visit.page.getByText('Shape of the model').click();
    for (const [label, value] of shape) await visit.field(label).fill(String(value));
    await visit.ready('Start training');
    await visit.press('Start training');
}

/** The words of a table or a grid, and its numbers apart from them. */
function partsOf(texts) {
    const text = texts.join(' ');
    return { words: text.replace(/(< )?\d+(\.\d+)?( %)?/g, '#').replace(/\s+/g, ' '), numbers: (text.match(/\d+(\.\d+)?/g) ?? []).map(Number) };
}

/** A shared run trained with this button, and everything that the page then shows of it. */
async function seenOf(visit, link, button) {
    const { page } = visit;
    await visit.goto(link);
    await visit.ready(button);
    await visit.press(button);
    await visit.phase('Done');
    await visit.saved(30);
    const badge = (await page.locator('.phase .badge').count()) ? await page.locator('.phase .badge').textContent() : undefined;
    const { losses, checks } = await visit.curve();
    await visit.go('Sample');
    await page.getByLabel('Beginning').fill('Call me ');
    await visit.field('Length').fill('12');
    await visit.field('Daring').fill('0');
    await visit.press('Write');
    await page.locator('[data-test=rate]:has-text("12 tokens")').waitFor();
    const text = await page.locator('[data-test=written]').textContent();
    await visit.go('Inside');
    await page.getByRole('textbox', { name: 'Text prompt' }).fill('Call me Ish');
    await visit.press('Look inside');
    await page.locator('[data-test=seen]').waitFor();
    await page.locator('.odds tbody tr').first().waitFor();
    const attention = await page.getByRole('grid').locator('[data-cell]').evaluateAll((cells) => cells.map((cell) => cell.getAttribute('aria-label')));
    const textsOf = (rows) => page.locator(rows).allTextContents();
    const [next, lens] = [await textsOf('.odds tbody tr'), await textsOf('.lens-top tbody tr')];
    return { badge, losses, checks: checks.map(([, loss]) => loss), text, next: partsOf(next), lens: partsOf(lens), attention: partsOf(attention) };
}

function near(got, want, relative, absolute = 0) {
    assert.equal(got.length, want.length);
    const worst = Math.max(...want.map((x, i) => Math.abs(got[i] - x) - Math.abs(x) * relative));
    assert.ok(worst <= absolute, `they differ by ${worst} too much`);
}

export default async function gpu(driver) {
    await driver.test('without a GPU the page says so, and what to do; the processor trains', async () => {
        const visit = await driver.visit();
        await visit.goto();
        await backend(visit, 'Training runs on your processor. This browser gives no access to a GPU here.');
        await choose(visit, 'GPU');
        await backend(visit, 'There is no GPU to train on: choose the processor.');
        await choose(visit, 'Automatic');
        await visit.train(20);
        assert.equal(await visit.page.locator('.badge').count(), 0);
    });

    const browser = await driver.launch(EMULATED);
    const devtools = await browser.newBrowserCDPSession();
    const visit = await driver.visit({ browser });
    let losses, paused;

    await driver.test('an emulated GPU is used only when it was asked for', async () => {
        await visit.goto();
        await backend(visit, 'Training runs on your processor. There is only software emulation of a GPU here, which is slower');
        await choose(visit, 'GPU');
        await backend(visit, 'This GPU is software emulation');
        await visit.go('Machine');
        assert.match(await visit.page.locator('section[aria-labelledby=gpu-heading]').textContent(), /Adapter\s*emulated.*f16.*Subgroups.*Largest buffer.*million parameters/s);
    });

    await driver.test('it trains, under a badge; a paused run comes back after a reload and goes on there', async () => {
        await visit.page.goto(visit.site + '#set-up');
        await begin(visit);
        await passes(visit, 0);
        assert.ok(await visit.page.locator('.badge').isVisible());
        await visit.press('Pause');
        await visit.phase('Paused');
        paused = await visit.restingStep();
        await visit.page.reload();
        await visit.phase('Paused');
        assert.equal(await stepOf(visit), paused);
        assert.ok(await visit.page.locator('.badge').isVisible());
        await visit.press('Resume');
        await passes(visit, paused);
    });

    await driver.test('when the GPU goes away the run is restored on another and goes on, and says so', async () => {
        await devtools.send('Browser.crashGpuProcess');
        await visit.page.locator('[data-test=restored]').waitFor({ timeout: 60_000 });
        const said = await visit.page.locator('[data-test=restored]').textContent();
        const step = Number(/^The GPU restarted\. Restored step (\d+), continuing\.$/.exec(said)?.[1]);
        assert.ok(step >= paused, said);
        await passes(visit, step);
    });

    await driver.test('when it goes away again at once, the processor is offered and takes over', async () => {
        await devtools.send('Browser.crashGpuProcess');
        await visit.press('Go on with the processor');
        await visit.page.locator('[data-test=restored]:has-text("The processor took over.")').waitFor();
        assert.equal(await visit.page.locator('.badge').count(), 0);
        await visit.phase('Done');
        await visit.saved(STEPS);
        ({ losses } = await visit.curve());
        assert.equal(losses.length, STEPS);
    });

    await driver.test('its curve is the one of the processor', async () => {
        await visit.go('Set up');
        await choose(visit, 'Processor');
        await visit.ready('Start training');
        await visit.press('Start training');
        await visit.phase('Done');
        await visit.saved(STEPS);
        const expected = (await visit.curve()).losses;
        const worst = Math.max(...expected.slice(0, 50).map((loss, i) => Math.abs(losses[i] - loss) / loss));
        assert.ok(worst <= 2e-5, `they differ by ${worst}`);
    });

    await driver.test('the same link gives the same on both: losses, checks, text, and what is inside', async () => {
        const shelf = await driver.visit();
        await begin(shelf, 30, false);
        await shelf.phase('Done');
        await shelf.saved(30);
        await shelf.go('Runs');
        await shelf.page.getByText('Share it as a link').click();
        const link = new URL(await shelf.page.getByLabel(/^Link to/).inputValue()).hash;
        const cpu = await seenOf(shelf, link, 'Train this run');
        const other = await driver.visit({ browser });
        await other.goto();
        await choose(other, 'GPU');
        const gpu = await seenOf(other, link, 'Train it on the GPU');
        assert.equal(gpu.badge, 'emulated GPU');
        assert.equal(cpu.badge, undefined);
        near(gpu.losses, cpu.losses, 2e-5);
        near(gpu.checks, cpu.checks, 2e-5);
        assert.equal(gpu.text, cpu.text, 'written greedily, with the cache');
        for (const what of ['next', 'lens', 'attention']) {
            assert.equal(gpu[what].words, cpu[what].words, what);
            assert.ok(cpu[what].numbers.length >= 8, what);
            near(gpu[what].numbers, cpu[what].numbers, 0, 0.11); // of what is shown to a tenth of a percent
        }
    });

    await driver.noComplaints('gpu');
    await browser.close();
}
