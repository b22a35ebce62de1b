/** Looking inside a model, and choosing its words. */
import assert from 'node:assert/strict';

export default async function inside(driver) {
    const visit = await driver.visit();
    const { page, press, go, field } = visit;
    await visit.goto();

    await driver.test('without a model it leads to one', async () => {
        await go('Inside');
        await page.locator('main a:has-text("Train one")').waitFor();
        await visit.look('empty-inside');
    });

    await driver.test('every head can be chosen, and its grid walked with the arrow keys', async () => {
        await visit.train(300);
        await go('Inside');
        await page.getByRole('textbox', { name: 'Text prompt' }).fill('the cat sat on the m');
        await press('Look inside');
        const [, layers, each] = /^20 bytes, (\d+) layers of (\d+) heads, after 300 steps/.exec(await page.locator('[data-test=seen]').textContent());
        const heads = page.getByRole('radio', { name: /^Layer/ });
        assert.equal(await heads.count(), layers * each);
        assert.equal(await page.locator('.lens tbody tr').count(), Number(layers) + 1);
        await heads.first().focus();
        await page.keyboard.press('ArrowRight');
        assert.ok(await page.getByRole('grid', { name: 'Attention of layer 1, head 2' }).isVisible());
        const grid = page.getByRole('grid');
        assert.equal(await grid.locator('[data-cell]').count(), (20 * 21) / 2);
        await grid.locator('td[tabindex="0"]').focus();
        await page.keyboard.press('Control+End');
        await page.keyboard.press('ArrowLeft');
        const cell = page.locator('td:focus');
        assert.match(await cell.getAttribute('aria-label'), /^m looks at space, (< )?\d+(\.\d)? %$/);
        assert.ok((await page.locator('[data-test=cell]').textContent()).startsWith(await cell.getAttribute('aria-label')));
        await page.keyboard.press('ArrowRight');
        await page.keyboard.press('ArrowRight');
        assert.match(await cell.getAttribute('aria-label'), /^m looks at itself/, 'a byte must not see what comes after it');
        // A row's shares are those of a whole.
        const shares = await grid.locator('tbody tr:last-child td i').evaluateAll((all) => all.map((i) => Number(i.style.scale) ** 2));
        assert.ok(Math.abs(shares.reduce((a, b) => a + b) - 1) < 0.02, `a row adds up to ${shares.reduce((a, b) => a + b)}`);
    });

    await driver.test('the last row of the lens is what the model says, and a position can be chosen', async () => {
        const best = await page.locator('.odds tbody th').first().textContent();
        const last = page.locator('.lens-top tbody tr').last();
        assert.ok((await last.locator('td').first().textContent()).startsWith(best.trim()));
        const strip = page.getByRole('listbox');
        await strip.locator('[aria-selected=true]').focus();
        await page.keyboard.press('Home');
        await page.keyboard.press('ArrowRight');
        await page.locator('h3:has-text("After position 2")').waitFor();
        assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'h');
        await page.locator('.odds tbody tr:first-child th:has-text("e")').waitFor();
        await visit.look('inside');
    });

    await driver.test('a text longer than can be shown is cut, and said so', async () => {
        await page.getByRole('textbox', { name: 'Text prompt' }).fill('x'.repeat(100));
        await press('Look inside');
        await page.locator('[data-test=seen]:has-text("32 bytes")').or(page.locator('[data-test=seen]:has-text("40 bytes")')).waitFor();
        assert.ok(await page.locator('.hint:has-text("the end of the text")').isVisible());
    });

    await driver.test('a token shows what else it could have been, and dials re-rank it at once', async () => {
        await go('Sample');
        await page.getByLabel('Beginning').fill('the cat ');
        await field('Length').fill('40');
        await press('Write');
        await page.locator('[data-test=rate]:has-text("40 tokens")').waitFor();
        assert.match(await page.locator('[data-test=rate]').textContent(), /per second, the first after [\d,]+ ms/);
        const strip = page.getByRole('listbox');
        assert.equal(await strip.getByRole('option').count(), 40);
        await strip.locator('[tabindex="0"]').focus();
        await page.keyboard.press('Home');
        await page.locator('h3:has-text("token 1")').waitFor();
        const written = await page.locator('[data-test=written]').textContent();
        const odds = (row) => page.locator(`.odds tbody tr:nth-child(${row}) td:nth-child(3)`);
        await field('Daring').fill('1');
        await field('Only the best few').fill('0');
        const model = page.locator('.odds tbody tr:nth-child(1) td:nth-child(2)');
        await page.waitForFunction(() => document.querySelector('.odds tbody td:nth-child(2)').textContent === document.querySelector('.odds tbody td:nth-child(3)').textContent);
        const before = await model.textContent();
        await field('Only the best few').fill('1');
        await page.locator('.odds tbody tr:nth-child(1) td:nth-child(3):has-text("100.0 %")').waitFor();
        assert.equal(await odds(2).textContent(), 'left out');
        assert.equal(await model.textContent(), before, 'the model itself must not change');
        assert.equal(await page.locator('[data-test=written]').textContent(), written, 'it must not write again');
        await field('Only the best few').fill('40');
        await field('Nothing far-fetched').fill('1');
        await page.locator('.odds tbody tr:nth-child(2) td:nth-child(3):has-text("left out")').waitFor();
        await field('Nothing far-fetched').fill('0');
        assert.match(await page.locator('main').textContent(), /KV cache of \d+ kB/);
        await visit.look('sample-tokens');
    });

    await driver.test('the grid keeps its marks in forced colours', async () => {
        await page.emulateMedia({ forcedColors: 'active' });
        await go('Inside');
        await press('Look inside');
        const mark = page.locator('.attention tbody td i').first();
        await mark.waitFor();
        const [colour, ground] = await mark.evaluate((i) => [getComputedStyle(i).backgroundColor, getComputedStyle(i.parentElement).backgroundColor]);
        assert.notEqual(colour, ground);
        await page.emulateMedia({ forcedColors: 'none' });
    });
}
