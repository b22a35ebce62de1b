/** The ladder of kernels under Machine: on the processor, on an emulated GPU, and on one that passes for real, so that the whole table shows. Nothing is judged by its speed. */
import assert from 'node:assert/strict';

const EMULATED = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];
/** What makes an emulated GPU look like a real one, whose compiler refuses all but the two simplest kernels. */
const disguise = `
if (globalThis.GPUAdapterInfo) {
    const is = (object, name, value) => Object.defineProperty(object, name, { get: () => value });
    is(GPUAdapterInfo.prototype, 'description', 'A card of this test');
    is(GPUAdapterInfo.prototype, 'architecture', '');
    is(GPUAdapterInfo.prototype, 'device', '');
    is(GPUAdapterInfo.prototype, 'isFallbackAdapter', false);
    const { createShaderModule, createComputePipelineAsync } = GPUDevice.prototype;
    const codes = new WeakMap();
    GPUDevice.prototype.createShaderModule = function (how) {
        const module = createShaderModule.call(this, how);
        codes.set(module, how.code);
        return module;
    };
    GPUDevice.prototype.createComputePipelineAsync = function (how) {
        const { module, entryPoint } = how.compute;
        const simple = ['naive', 'gather'].includes(entryPoint) || /BM: u32 = 32u?;/.test(codes.get(module));
        return simple ? createComputePipelineAsync.call(this, how) : Promise.reject(new Error('not on this card'));
    };
}
`;

const button = (visit, name) => visit.page.getByRole('button', { name, exact: true });
const figures = (visit) => visit.page.locator('.ladder .figure');
const ended = (visit, name) => button(visit, name).waitFor({ timeout: 120_000 });

/** A table as a screen reader has it: the name of each row, and the text of its cells. */
const tableOf = (visit) =>
    visit.page.locator('.ladder tbody tr').evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent.replace(/\s+/g, ' ').trim())));

export default async function ladder(driver) {
    await driver.test('without a GPU the processor alone is measured, and a click stops it', async () => {
        const visit = await driver.visit();
        await visit.goto('#machine');
        await visit.page.locator('section[aria-labelledby=ladder-heading] .notice:has-text("only the processor")').waitFor();
        await visit.press('Measure the processor');
        await figures(visit).first().waitFor();
        await visit.press('Stop measuring');
        await ended(visit, 'Measure the processor');
        assert.equal(await visit.page.locator('[data-test=ladder-note]').textContent(), 'Measuring was stopped.');
        const [[name, first]] = await tableOf(visit);
        assert.match(name, /^processor, \d+ threads?$/);
        assert.match(first, /^[\d.,]+ GFLOP\/s, fastest$/);
        await visit.go('Train');
        await visit.go('Machine');
        assert.deepEqual((await tableOf(visit))[0][1], first, 'it is still there');
    });

    await driver.test('it is not measured beside a run, and a run that begins stops it', async () => {
        const visit = await driver.visit();
        await visit.goto();
        await visit.setUp(20_000, 1e-3);
        await visit.go('Machine');
        await visit.press('Measure the processor');
        await figures(visit).first().waitFor();
        await visit.go('Set up');
        await visit.ready('Start training');
        await visit.press('Start training');
        await visit.phase('Training');
        await visit.go('Machine');
        await ended(visit, 'Measure the processor');
        assert.equal(await visit.page.locator('[data-test=ladder-note]').textContent(), 'A run began, so measuring was stopped.');
        assert.match(await visit.page.locator('[data-test=ladder-wait]').textContent(), /A run is at work/);
        assert.equal(await button(visit, 'Measure the processor').getAttribute('aria-disabled'), 'true');
        const before = await figures(visit).count();
        await button(visit, 'Measure the processor').focus();
        await visit.page.keyboard.press('Enter');
        assert.equal(await figures(visit).count(), before);
        assert.equal(await button(visit, 'Stop measuring').count(), 0);
        await visit.go('Train');
        await visit.press('Stop');
        await visit.phase('Stopped');
        await visit.go('Machine');
        await visit.page.locator('button[aria-disabled=false]:text-is("Measure the processor")').waitFor();
    });

    const browser = await driver.launch(EMULATED);
    await driver.test('an emulated GPU is measured only if one asks, at 256, with the keyboard alone; the page stays usable', async () => {
        const visit = await driver.visit({ browser });
        const { page } = visit;
        await visit.goto('#machine');
        await page.locator('.notice:has-text("nothing about a GPU")').waitFor();
        assert.equal(await page.locator('.ladder').count(), 0);
        await button(visit, 'Measure the emulation all the same').focus();
        await page.keyboard.press('Enter');
        await page.getByRole('progressbar', { name: 'Figures measured' }).waitFor();
        await figures(visit).first().waitFor();
        const late = await page.evaluate(async () => {
            const waits = [];
            for (let i = 0; i < 10; i++) {
                const begun = performance.now();
                await new Promise((resolve) => setTimeout(resolve, 10));
                waits.push(performance.now() - begun);
            }
            return Math.max(...waits);
        });
        assert.ok(late < 1000, `the page did not answer for ${late} ms`);
        await figures(visit).nth(1).waitFor();
        assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Stop measuring');
        await page.keyboard.press('Enter');
        await ended(visit, 'Measure the emulation all the same');
        assert.equal(await page.locator('section[aria-labelledby=ladder-heading] .notice.bad').count(), 0);
        const [naive, second, ...rest] = await tableOf(visit);
        assert.equal(naive[0], 'naive');
        for (const row of [naive, second]) assert.match(row.slice(1).join('|'), /^[\d.,]+ GFLOP\/s, (fastest|\d+ %)$/);
        assert.ok(rest.length > 5);
        assert.equal(rest.at(-1)[1], 'not measured–');
        assert.match(await page.locator('[data-test=ladder-summary]').textContent(), /^The fastest at 256: .* GFLOP\/s\.$/);
        await visit.look('ladder-emulated');
    });

    await driver.test('on a GPU: every size, what is left out and why, and one size at a time in a narrow window', async () => {
        const visit = await driver.visit({ browser });
        const { page } = visit;
        await page.addInitScript(disguise);
        await visit.context.route(/worker.*\.js$/, async (route) => {
            const response = await route.fetch();
            await route.fulfill({ response, body: disguise + (await response.text()) });
        });
        await visit.goto('#machine');
        assert.match(await page.locator('section[aria-labelledby=gpu-heading]').textContent(), /A card of this test.*Half precision.*Subgroups.*Subgroup matrix.*Largest buffer.*million parameters.*32 KiB of fast memory/s);
        await visit.press('Measure the kernels');
        await ended(visit, 'Measure the kernels');
        assert.deepEqual(await page.locator('.ladder thead th').allTextContents(), ['Kernel', '256', '512', '1024', '2048', '4096']);
        const rows = await tableOf(visit);
        assert.deepEqual(rows.find(([name]) => name === 'subgroup matrix, f16').slice(1), ['needs subgroup matrices of f16, which this GPU lacks']);
        const refused = rows.filter(([name]) => /^(64|128)x/.test(name) && !name.endsWith('compute'));
        assert.ok(refused.length > 5);
        for (const row of refused) assert.deepEqual(row.slice(1), Array(5).fill('left out'), row[0]);
        const naive = rows.find(([name]) => name === 'naive');
        assert.match(naive[1], /GFLOP/);
        assert.equal(naive[5], 'left out', 'a product of 4096 on an emulated GPU would take minutes');
        assert.ok(rows.at(-1)[1].endsWith('fastest'), 'the processor itself is faster than the emulation on it');
        await page.locator('details:has-text("left out") summary').click();
        assert.match(await page.locator('.ladder + details li').first().textContent(), /^naive; from \d+: a single product would take about [\d.]+ s$/);
        await page.locator('.ladder + details li:has-text("64x64 8x4; 128x64 8x4; "):has-text("; from 256: "):has-text("not on this card")').waitFor();
        await visit.look('ladder', true);
        await page.setViewportSize({ width: 320, height: 900 });
        assert.equal(await page.locator('.ladder thead th:visible').count(), 2);
        await page.getByRole('group', { name: 'Size of the matrices' }).getByRole('radio', { checked: true }).focus();
        await page.keyboard.press('ArrowRight');
        await page.keyboard.press('Home');
        const checked = await page.locator('[name=ladder-size]:checked').getAttribute('value');
        assert.equal(await page.locator('.ladder thead th:visible').last().textContent(), checked);
        await visit.accessible();
    });

    await driver.noComplaints('ladder');
    await browser.close();
}
