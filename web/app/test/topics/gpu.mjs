/** Training on a GPU, emulated here: the choice, the badge, pause, reload, a GPU that goes away. */
import assert from 'node:assert/strict';

const EMULATED = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];
const STEPS = 1000;
/** Some 15 thousand parameters. */
const shape = [['Depth', 1], ['Width', 32], ['Attention heads', 2], ['How far it looks back', 16], ['Examples per step', 2]];

const stepOf = (visit) => visit.page.evaluate(() => Number(/step ([\d,]+) of/.exec(document.querySelector('.phase')?.textContent ?? '')?.[1].replace(',', '')));
const passes = (visit, step) => visit.page.waitForFunction((least) => Number(/step ([\d,]+) of/.exec(document.querySelector('.phase')?.textContent ?? '')?.[1].replace(',', '')) > least, step, { timeout: 60_000 });
const choose = (visit, name) => visit.page.getByRole('radio', { name, exact: true }).evaluate((radio) => radio.click());
const backend = (visit, words) => visit.page.locator(`[data-test=backend]:has-text("${words}")`).waitFor();

async function begin(visit) {
    await visit.setUp(STEPS, 3e-4);
    await visit.page.getByText('Shape of the model').click();
    for (const [label, value] of shape) await visit.field(label).fill(String(value));
    await visit.ready('Start training');
    await visit.press('Start training');
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
        assert.match(await visit.page.locator('.abilities').textContent(), /GPU\s*emulated.*largest buffer.*subgroups/s);
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

    await driver.noComplaints('gpu');
    await browser.close();
}
