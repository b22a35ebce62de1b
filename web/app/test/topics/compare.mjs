/** Two runs beside each other, and one trained again with a knob changed. */
import assert from 'node:assert/strict';

export default async function compare(driver) {
    const visit = await driver.visit();
    const value = (row) => visit.page.locator('tbody tr', { hasText: new RegExp(`^${row}`) }).locator('td').allTextContents();

    await driver.test('it takes two', async () => {
        await visit.goto('#compare');
        await visit.page.getByText('There are no runs here yet').waitFor();
        await visit.look('compare-empty');
        await visit.train(80, 0.005);
        await visit.saved(80);
        await visit.go('Compare');
        await visit.page.getByText('There is one run here yet').waitFor();
    });

    await driver.test('a run is trained again with one knob changed, and the two are compared', async () => {
        await visit.page.getByText('Train it again with one knob changed').click();
        await visit.page.getByLabel('Knob').selectOption('lr');
        await visit.page.getByLabel(/^from 0.005 to/).fill('0.005');
        await visit.page.getByText('Size of a correction is 0.005 already').waitFor();
        await visit.page.getByLabel(/^from 0.005 to/).fill('0.0005');
        await visit.press('Train it so');
        await visit.phase('Done');
        await visit.saved(80);
        await visit.page.getByRole('link', { name: 'Compare the two' }).click();
        await visit.page.getByText('A ends lower').waitFor();
        assert.deepEqual(await value('Size of a correction'), ['0.005', '0.0005']);
        assert.equal(await visit.page.locator('.compared').nth(1).locator('tbody tr').count(), 1, 'more than the knob was changed');
        assert.deepEqual(await value('Steps'), ['80', '80']);
        const [a, b] = (await value('Loss, mean')).map(Number);
        assert.ok(a < b, `${a} and ${b}`);
        assert.equal(await visit.page.locator('pre.written').count(), 2);
        const slider = visit.page.getByRole('slider', { name: 'Look at a step' });
        await slider.focus();
        await visit.page.keyboard.press('Home');
        assert.match(await slider.getAttribute('aria-valuetext'), /^step 1: A 5\.\d+, B 5\.\d+$/);
        await visit.look('compare');
    });

    await driver.test('runs of unlike length are compared where both were, and training on is told', async () => {
        await visit.go('Train');
        await visit.page.getByRole('spinbutton', { name: 'for steps' }).fill('20');
        await visit.press('Train on');
        await visit.phase('Done step 100 of 100');
        await visit.saved(100);
        await visit.go('Compare');
        await visit.page.getByText(/^(A|B) ends lower, by .* But B took more steps: after 80, which both took, A stands lower in training, by /).waitFor();
        assert.deepEqual(await value('Trained on'), ['no', 'to step 100']);
    });
}
