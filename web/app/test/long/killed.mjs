/** A tab that is killed again and again while it saves: what was saved before is there each time. */
import assert from 'node:assert/strict';

const KILLS = 10;
const STEPS = 100_000;

const stepIn = (words) => Number(/step ([\d,]+)/.exec(words)?.[1].replaceAll(',', ''));

/** Whether a slot was begun and not sealed. */
const halfSaved = (page) =>
    page.evaluate(async () => {
        const runs = await (await navigator.storage.getDirectory()).getDirectoryHandle('runs');
        for await (const run of runs.values())
            for await (const slot of run.values()) if (slot.kind === 'directory' && !(await Array.fromAsync(slot.keys())).includes('seal.json')) return true;
        return false;
    });

async function kill(visit) {
    const session = await visit.context.newCDPSession(visit.page);
    const crashed = visit.page.waitForEvent('crash');
    void session.send('Page.crash').catch(() => undefined); // nobody is left to answer
    await crashed;
}

/** Trains until a save has begun, by pausing; the time that is left to a save tells from the one before. */
async function beginSave(visit) {
    await visit.press('Resume');
    await visit.phase('Training');
    await visit.page.waitForTimeout(300);
    await visit.press('Pause');
}

export default async function killed(driver) {
    await driver.test(`killed ${KILLS} times while it saves, the run is there each time and goes on along its curve`, async () => {
        const visit = await driver.visit();
        await visit.goto();
        await visit.page.getByRole('radio', { name: /^small/ }).evaluate((radio) => radio.click());
        let step = await visit.trainHalf(STEPS);
        await beginSave(visit);
        const begun = performance.now();
        step = await visit.restingStep();
        const whole = performance.now() - begun;
        let { losses } = await visit.curve();
        let halves = 0;
        for (let i = 0; i < KILLS; i++) {
            await beginSave(visit);
            await visit.page.waitForTimeout((whole * i) / KILLS);
            await kill(visit);
            await visit.tab();
            await visit.goto('#runs');
            if (await halfSaved(visit.page)) halves++;
            await visit.press('Open', visit.page.locator('.saved-run').first());
            await visit.phase('Paused');
            const now = stepIn(await visit.page.locator('.phase').textContent());
            const after = await visit.curve();
            assert.ok(now >= step, `kill ${i + 1}: saved at step ${step}, restored at ${now}`);
            assert.deepEqual(after.losses.slice(0, losses.length), losses, `kill ${i + 1}: another curve`);
            step = now;
            ({ losses } = after);
        }
        console.log(`note: killed: ${halves} of ${KILLS} left a save half done, a save took up to ${Math.round(whole)} ms, at step ${step} in the end`);
        assert.ok(halves > 0, 'no kill came while it saved');
    });
}
