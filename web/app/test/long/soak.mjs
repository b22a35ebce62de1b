/** Training for minutes, with saves and samples on the way, without memory that grows. */
import assert from 'node:assert/strict';

const SECONDS = Number(process.env.SOAK_SECONDS ?? 300);
/** Until curves, samples and caches have the size that they keep. */
const WARM_SECONDS = Math.min(30, SECONDS / 4);
const LOOKS = 10;
/** What the page's heap may grow by after that: the losses of the steps (16 bytes each) and what the browser itself collects. */
const HEAP_BYTES = 4e6;
const BYTES_PER_STEP = 16;

export default async function soak(driver) {
    await driver.test(`${SECONDS} s of training: the engine's memory stays, the page's grows by no more than its curve`, async () => {
        const visit = await driver.visit();
        const { page } = visit;
        await visit.goto('#runs');
        await visit.field('Save a run every').fill('5');
        await visit.setUp(1_000_000, 0.002);
        await visit.press('Start training');
        await visit.phase('Training');
        const session = await visit.context.newCDPSession(page);

        async function look() {
            await session.send('HeapProfiler.collectGarbage');
            const { usedSize } = await session.send('Runtime.getHeapUsage');
            const { nodes } = await session.send('Memory.getDOMCounters');
            await visit.go('Machine');
            const engine = await visit.fact('Memory now');
            await visit.go('Train');
            const step = Number(/step ([\d,]+) of/.exec(await page.locator('.phase').textContent())[1].replaceAll(',', ''));
            return { engine, heap: usedSize, nodes, step };
        }

        await page.waitForTimeout(1000 * WARM_SECONDS);
        const begin = await look();
        let end = begin;
        for (let i = 0; i < LOOKS; i++) {
            await page.waitForTimeout((1000 * (SECONDS - WARM_SECONDS)) / LOOKS);
            end = await look();
            assert.equal(end.engine, begin.engine, `the engine grew, at step ${end.step}`);
        }
        const bound = HEAP_BYTES + BYTES_PER_STEP * (end.step - begin.step);
        console.log(`note: soak: steps ${begin.step} to ${end.step}, engine ${end.engine}, heap ${begin.heap} to ${end.heap} bytes, nodes ${begin.nodes} to ${end.nodes}`);
        assert.ok(end.step > begin.step + 10, 'it did not train');
        assert.ok(end.heap - begin.heap <= bound, `the heap grew by ${end.heap - begin.heap} bytes, bound ${bound}`);
        await visit.press('Stop');
        await visit.phase('Stopped');
    });
}
