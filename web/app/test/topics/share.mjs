/** Links to runs: the same curve wherever they are opened; hostile ones; texts that the link does not carry. */
import assert from 'node:assert/strict';
import { text } from '../driver.mjs';

const STEPS = 60;

async function linkOf(visit) {
    await visit.go('Runs');
    const item = visit.page.locator('.saved-run').first();
    await item.getByText('Share it as a link').click();
    return new URL(await item.getByLabel(/^Link to/).inputValue()).hash;
}

async function replay(visit) {
    await visit.ready('Train this run');
    await visit.press('Train this run');
    await visit.phase('Done');
    await visit.saved(STEPS);
    return visit.curve();
}

export default async function share(driver) {
    let link;
    let first;

    await driver.test('a link says what it will do, and does nothing until it is asked to', async () => {
        const visit = await driver.visit();
        await visit.goto();
        await visit.field('How long').fill(String(STEPS));
        await visit.field('Luck').fill('7');
        await visit.ready('Start training');
        await visit.press('Start training');
        await visit.phase('Done');
        await visit.saved(STEPS);
        link = await linkOf(visit);
        assert.ok(link.length < 300, link);
        assert.ok(!link.includes('call'), 'it carries the text');
        const other = await driver.visit();
        await other.goto(link);
        await other.page.getByText('It comes with this page').waitFor();
        assert.match(await other.page.locator('.lead').textContent(), /size tiny, 60 steps on Moby-Dick.*Nothing has been started/s);
        await other.look('shared');
        first = await replay(other);
        assert.equal(first.losses.length, STEPS);
        assert.equal(first.engine.isa, 'wasm');
    });

    await driver.test('the same link gives the same curve elsewhere, bit for bit, also when it is interrupted', async () => {
        const visit = await driver.visit();
        await visit.goto(link);
        const { losses } = await replay(visit);
        assert.deepEqual(losses, first.losses);
        const halted = await driver.visit();
        await halted.goto(link);
        await halted.ready('Train this run');
        await halted.press('Train this run');
        await halted.page.waitForFunction(() => Number(/step (\d+)/.exec(document.querySelector('.phase')?.textContent ?? '')?.[1]) >= 5);
        await halted.press('Pause');
        const step = await halted.restingStep();
        assert.ok(step < STEPS, 'it was over too soon to be interrupted');
        await halted.page.reload();
        await halted.phase('Paused');
        await halted.press('Resume');
        await halted.phase('Done');
        await halted.saved(STEPS);
        assert.deepEqual((await halted.curve()).losses, first.losses);
    });

    await driver.test('a text that the link does not carry is asked for, and its hash checked', async () => {
        const visit = await driver.visit();
        await visit.goto();
        await visit.train(STEPS);
        await visit.saved(STEPS);
        const own = await linkOf(visit);
        const other = await driver.visit();
        await other.goto(own);
        const picker = other.page.getByLabel('The text of this run');
        await picker.setInputFiles({ name: 'wrong.txt', mimeType: '', buffer: Buffer.from(text.replace('cat', 'cow')) });
        await other.page.locator('.notice.bad:has-text("wrong.txt is another text")').waitFor();
        assert.ok(await other.page.getByRole('button', { name: 'Train this run' }).isDisabled());
        await other.look('shared-text');
        await picker.setInputFiles({ name: 'right.txt', mimeType: '', buffer: Buffer.from(text) });
        await other.page.getByText('right.txt is the text').waitFor();
        assert.equal((await replay(other)).losses.length, STEPS);
    });

    await driver.test('a hostile link gets one sentence, and the page works on', async () => {
        const visit = await driver.visit();
        const hostile = ['#run=', '#run=2', '#run=1&<script>alert(1)</script>=1', link.replace('layers=2', 'layers=1e99'), `${link}&x=${'y'.repeat(100_000)}`, '#run=%E0%A4%A'];
        for (const hash of hostile) {
            await visit.goto(hash);
            assert.match(await visit.page.getByRole('alert').textContent(), /^This link cannot be followed: .{5,160}\.$/, hash.slice(0, 60));
        }
        await visit.look('shared-bad');
        await visit.page.getByRole('link', { name: 'Set up a run of your own' }).click();
        await visit.ready('Start training');
    });
}
