/** Runs kept in the browser: restored, continued, renamed, exported, deleted; full, damaged and interrupted storage. */
import assert from 'node:assert/strict';

const STEPS = 300;

const items = (visit) => visit.page.locator('.saved-run');

/** Bytes of a file of the newest run's slots, changed or looked at. */
function inSlots(visit, work, argument) {
    return visit.page.evaluate(`(async (work, argument) => {
        const runs = await (await navigator.storage.getDirectory()).getDirectoryHandle('runs');
        const found = [];
        for await (const [id, run] of runs.entries())
            for await (const [name, slot] of run.entries()) if (slot.kind === 'directory') found.push(await work({ id, name, slot }, argument));
        return found;
    })(${work}, ${JSON.stringify(argument ?? null)})`);
}

/** Turns a bit in the middle of a slot's model. */
const damage = `async ({ slot, name }, only) => {
    if (only && only !== name) return;
    const handle = await slot.getFileHandle('model.tinygpt').catch(() => undefined);
    if (!handle) return;
    const bytes = new Uint8Array(await (await handle.getFile()).arrayBuffer());
    bytes[bytes.length >> 1] ^= 1;
    const writable = await handle.createWritable();
    await writable.write(bytes);
    await writable.close();
}`;

export default async function shelf(driver) {
    const visit = await driver.visit();
    let whole;

    await driver.test('a run is saved when it is done, with its whole curve', async () => {
        await visit.goto();
        await visit.train(STEPS);
        await visit.saved(STEPS);
        whole = await visit.curve();
        assert.equal(whole.losses.length, STEPS);
    });

    await driver.test('after a reload everything is there, and training goes on along the curve it would have had', async () => {
        const step = await visit.trainHalf(STEPS);
        const before = await visit.curve();
        assert.deepEqual(before.losses, whole.losses.slice(0, step));
        const [summary, sample] = [await visit.page.locator('[data-test=summary]').textContent(), await visit.page.locator('.written').textContent()];
        const gap = await visit.fact('Gap to training');
        await visit.page.reload();
        await visit.phase('Paused');
        assert.match(await visit.page.locator('.phase').textContent(), new RegExp(`step ${step} of ${STEPS} on your text`));
        assert.equal(await visit.fact('Gap to training'), gap, 'it was measured against other steps');
        assert.equal(await visit.page.locator('[data-test=summary]').textContent(), summary);
        assert.equal(await visit.page.locator('.written').textContent(), sample);
        await visit.go('Set up');
        assert.equal(await visit.field('How long').inputValue(), String(STEPS));
        assert.equal(await visit.field('Size of a correction').inputValue(), '0.005');
        assert.ok(await visit.page.getByText('Chosen: your text').isVisible());
        await visit.ready('Start training'); // what is paused and saved is not in the way
        await visit.go('Train');
        await visit.press('Resume');
        await visit.phase('Done');
        await visit.saved(STEPS);
        const after = await visit.curve();
        assert.equal(after.losses.length, STEPS);
        const worst = Math.max(...after.losses.map((loss, i) => Math.abs(loss - whole.losses[i])));
        assert.ok(worst <= 1e-6, `it differs by ${worst}`);
        assert.deepEqual(after.checks, whole.checks);
        assert.deepEqual(after.samples, whole.samples);
    });

    await driver.test('a run is saved while it trains', async () => {
        await visit.go('Runs');
        await visit.field('Save a run every').fill('1');
        await visit.setUp(100_000, 0.003);
        await visit.press('Start training');
        await visit.page.locator('[data-test=saved]').waitFor();
        const early = (await visit.curve()).step;
        await visit.page.waitForFunction((step) => Number(/step ([\d,]+),/.exec(document.querySelector('[data-test=saved]')?.textContent)?.[1].replace(',', '')) > step, early);
        assert.match(await visit.page.locator('.phase').textContent(), /Training/);
        await visit.press('Stop');
        await visit.phase('Stopped');
        await visit.go('Runs');
        await visit.field('Save a run every').fill('30');
    });

    await driver.test('runs are listed, renamed, exported and imported again', async () => {
        await items(visit).nth(2).waitFor();
        assert.equal(await items(visit).count(), 3);
        const second = items(visit).nth(1);
        await visit.press('Rename', second);
        await second.getByLabel('New name').fill('<b>cats</b> & "dogs"');
        await visit.press('Keep the name', second);
        const named = visit.page.locator('.saved-run', { hasText: '<b>cats</b> & "dogs"' });
        await named.waitFor();
        const model = await visit.download('Export .tinygpt', named);
        assert.equal(model.name, 'b-cats-b-dogs.tinygpt');
        assert.equal(model.bytes.subarray(0, 4).toString(), 'TGPT');
        const weights = await visit.download('Export .safetensors', named);
        const header = JSON.parse(weights.bytes.subarray(8, 8 + Number(weights.bytes.readBigUInt64LE())).toString());
        const numbers = Object.values(header).reduce((n, { data_offsets: at }) => n + (at ? (at[1] - at[0]) / 4 : 0), 0);
        assert.equal(numbers, 70_464);
        await visit.look('runs');
        await visit.page.getByLabel('Open a .tinygpt file').setInputFiles({ name: 'again.tinygpt', mimeType: '', buffer: model.bytes });
        await visit.page.getByText(/again\.tinygpt is open: 70,464 parameters/).waitFor();
        await visit.look('runs-import');
        await visit.page.getByRole('button', { name: 'Go on training' }).evaluate((button) => (button.click(), button.click()));
        await visit.phase('Done step 300 of 300');
        assert.equal(await visit.page.locator('.notice.bad').count(), 0);
        await visit.page.getByRole('spinbutton', { name: 'for steps' }).fill('20');
        await visit.press('Train on');
        await visit.phase('Done step 320 of 320');
        await visit.saved(320);
        const { losses, first } = await visit.curve();
        assert.deepEqual([first, losses.length], [300, 20]);
        assert.ok(losses.every((loss) => loss < 2));
    });

    await driver.test('a deleted run can be brought back, until one looks elsewhere', async () => {
        await visit.go('Runs');
        const named = visit.page.locator('.saved-run', { hasText: 'cats' });
        await visit.press('Delete', named);
        await visit.page.locator('.notice', { hasText: 'is deleted' }).waitFor();
        await named.waitFor({ state: 'detached' });
        await visit.press('Undo');
        await named.waitFor();
        await visit.press('Delete', named);
        await named.waitFor({ state: 'detached' });
        await visit.go('Train');
        await visit.go('Runs');
        await items(visit).nth(2).waitFor();
        assert.equal(await items(visit).count(), 3);
        assert.equal(await visit.page.getByRole('button', { name: 'Undo' }).count(), 0);
        const bytes = await visit.page.evaluate(async () => {
            const runs = await (await navigator.storage.getDirectory()).getDirectoryHandle('runs');
            return (await Array.fromAsync(runs.keys())).length;
        });
        assert.equal(bytes, 3);
    });

    await driver.test('a run is open in one tab only', async () => {
        const first = visit.page;
        await visit.tab();
        await visit.goto('#runs');
        await visit.press('Open', items(visit).nth(0));
        await visit.page.locator('.notice.bad:has-text("open in another tab")').waitFor();
        await first.close();
        await items(visit).nth(0).getByText('It is not open in another tab any more.').waitFor();
        assert.equal(await visit.page.locator('.notice.bad').count(), 0);
        await visit.press('Open', items(visit).nth(0));
        await visit.phase('Done step 320 of 320');
    });

    await driver.test('a run that a tab is just letting go is opened at the first press', async () => {
        const names = await visit.page.evaluate(async () => (await navigator.locks.query()).held.map(({ name }) => name));
        assert.equal(names.length, 1);
        await visit.page.close();
        await visit.tab();
        await visit.goto('#runs');
        await visit.page.evaluate(
            (name) => new Promise((held) => void navigator.locks.request(name, () => new Promise((release) => (held(), (window.release = release))))),
            names[0],
        );
        await items(visit).nth(0).getByRole('button', { name: 'Open' }).evaluate((button) => (button.click(), setTimeout(window.release, 200)));
        await visit.phase('Done step 320 of 320');
    });

    await driver.test('what is asked of a run while it is exported is done afterwards', async () => {
        const other = await driver.visit();
        const { begun, letGo } = await other.hold('model');
        await other.goto();
        await other.train(20);
        await other.saved(20);
        await other.go('Runs');
        const item = items(other).first();
        await other.press('Rename', item);
        await item.getByLabel('New name').fill('cats');
        const download = other.page.waitForEvent('download');
        await other.press('Export .tinygpt', item);
        await begun();
        await other.pressEarly('Export .tinygpt', item);
        await item.getByLabel('New name').press('Enter');
        await letGo();
        await download;
        await item.getByRole('heading', { name: 'cats' }).waitFor();
        await item.getByText(/\.tinygpt, .* [kM]B\.$/).waitFor();
    });

    await driver.test('what a run did while it was being saved is saved as well', async () => {
        const other = await driver.visit();
        const { begun, letGo } = await other.hold('commit');
        await other.goto();
        await other.setUp(100_000, 0.003);
        await other.press('Start training');
        await other.page.locator('.phase:has-text("Training")').waitFor();
        await other.press('Pause');
        await begun();
        const step = async () => Number(/step ([\d,]+) of/.exec(await other.page.locator('.phase').textContent())[1].replace(',', ''));
        const early = await step();
        await other.press('Resume');
        await other.page.waitForTimeout(200);
        await other.press('Pause');
        await other.phase('Paused');
        await letGo();
        const last = await other.restingStep();
        assert.ok(last > early && last === (await other.curve()).step, `${early}, ${last}`);
    });

    await driver.test('a new visit offers the last run', async () => {
        await visit.page.close();
        await visit.tab();
        await visit.goto();
        await visit.page.getByText('Go on where you left off').waitFor();
        await visit.look('set-up-offer');
        await visit.press('Open this run');
        await visit.phase('Done step 320 of 320');
    });

    await driver.test('full storage: a sentence, the earlier save stays, training goes on', async () => {
        const other = await driver.visit();
        await other.goto();
        const step = await other.trainHalf(100_000);
        const { origin } = new URL(other.site);
        const session = await other.context.newCDPSession(other.page);
        await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1_000_000 });
        await other.press('Resume');
        await other.page.waitForTimeout(300);
        await other.press('Pause');
        await other.page.locator('.notice.bad:has-text("no more room")').waitFor();
        assert.match(await other.page.locator('.notice.bad').textContent(), new RegExp(`Its save of step ${step} is still there`));
        await other.look('full');
        await other.press('Resume');
        await other.phase('Training');
        await session.send('Storage.overrideQuotaForOrigin', { origin });
        await other.press('Pause');
        await other.page.locator('[data-test=saved]').waitFor();
        await other.page.reload();
        await other.phase('Paused');
    });

    await driver.test('a damaged save: the one before it is opened, and that is said', async () => {
        const other = await driver.visit();
        await other.goto();
        const early = await other.trainHalf(STEPS);
        await other.press('Resume');
        await other.page.waitForTimeout(300);
        if (await other.page.getByRole('button', { name: 'Pause' }).isVisible()) await other.press('Pause');
        await other.page.waitForFunction((step) => !document.querySelector('[data-test=saved]')?.textContent.includes(`at step ${step},`), early);
        const { step, slot, name } = await other.curve();
        await inSlots(other, damage, slot);
        await other.page.reload();
        await other.phase(`step ${early} of`);
        const told = await other.page.getByRole('alert').textContent();
        assert.ok(told.includes(name) && told.includes(`of step ${step}, is damaged`) && told.includes(`The one of step ${early}`), told);
        await other.press('Resume');
        await other.phase('Done');
        await other.saved(STEPS);
        await inSlots(other, damage);
        await other.page.reload();
        await other.page.getByRole('alert').filter({ hasText: 'neither of its two saves' }).waitFor();
        await other.go('Runs');
        await other.press('Open', items(other).first());
        await items(other).first().locator('.notice.bad:has-text("neither of its two saves")').waitFor();
    });

    await driver.test('a tab that is killed while it saves leaves the save before', async () => {
        const other = await driver.visit();
        await other.goto();
        const step = await other.trainHalf(STEPS);
        // What a kill leaves: the older slot begun, with half a model and no seal.
        await inSlots(other, `async ({ slot, name, id }) => {
            const run = await (await (await navigator.storage.getDirectory()).getDirectoryHandle('runs')).getDirectoryHandle(id);
            const half = await run.getDirectoryHandle(name === 'a' ? 'b' : 'a', { create: true });
            const model = await (await slot.getFileHandle('model.tinygpt')).getFile();
            const writable = await (await half.getFileHandle('model.tinygpt', { create: true })).createWritable();
            await writable.write(model.slice(0, model.size / 2));
            await writable.close();
        }`);
        await other.page.reload();
        await other.phase(`step ${step} of`);
        // And a real one: crashed a moment after a save began.
        await other.press('Resume');
        await other.page.waitForTimeout(200);
        await other.press('Pause');
        const { page } = other;
        const crash = await other.context.newCDPSession(page);
        const crashed = page.waitForEvent('crash');
        void crash.send('Page.crash').catch(() => undefined); // nobody is left to answer
        await crashed;
        await other.tab();
        await other.goto('#runs');
        await other.press('Open', items(other).first());
        await other.page.locator('.phase').waitFor();
        const { losses } = await other.curve();
        const worst = Math.max(...losses.map((loss, i) => Math.abs(loss - whole.losses[i])));
        assert.ok(losses.length >= step && worst <= 1e-6);
    });
}
