/** A browser's profile with one page open, and what is done with it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WAIT_MS = 30_000;

/** Enough to hold a tenth aside; learned in a few steps. */
export const text = 'the cat sat on the mat and the dog sat on the log. '.repeat(200);

export class Visit {
    constructor(context, site, shots) {
        Object.assign(this, { context, site, shots, complaints: [], elsewhere: [], allowed: [site] });
        context.on('console', (message) => message.type() === 'error' && this.complaints.push(message.text()));
        context.on('weberror', (error) => this.complaints.push(String(error.error())));
        context.on('request', (request) => {
            const known = [...this.allowed, 'blob:', 'data:'].some((begin) => request.url().startsWith(begin));
            if (!known) this.elsewhere.push(request.url());
        });
    }

    /** Another tab of the same profile, which takes the place of the page. */
    async tab() {
        const page = await this.context.newPage();
        page.on('dialog', (dialog) => void dialog.accept().catch(() => undefined));
        page.setDefaultTimeout(WAIT_MS);
        return (this.page = page);
    }

    /** From the next load on, the first message of this call to a worker waits, and what comes to that worker after it, until `letGo`. */
    async hold(call) {
        await this.page.addInitScript((call) => {
            const post = Worker.prototype.postMessage;
            const waiting = [];
            let of;
            window.letGo = () => {
                of = null;
                for (const send of waiting.splice(0)) send();
            };
            Worker.prototype.postMessage = function (message, ...rest) {
                if (of === undefined && message?.call === call) of = this;
                if (of !== this) return post.call(this, message, ...rest);
                waiting.push(() => post.call(this, message, ...rest));
                window.held = true;
            };
        }, call);
        return { begun: () => this.page.waitForFunction(() => window.held), letGo: () => this.page.evaluate(() => window.letGo()) };
    }

    /** As a visitor presses, who does not wait until it is ready. */
    pressEarly = (name, within = this.page) => within.getByRole('button', { name, exact: true }).evaluate((button) => button.click());

    async goto(hash = '') {
        await this.page.goto('about:blank');
        await this.page.goto(this.site + hash);
        await this.page.getByRole('heading', { level: 1 }).waitFor();
    }

    press = (name, within = this.page) => within.getByRole('button', { name, exact: true }).click();
    go = (name) => this.page.getByRole('navigation').getByRole('link', { name }).click();
    ready = (name) => this.page.locator(`button[aria-disabled=false]:text-is("${name}")`).first().waitFor();
    field = (label) => this.page.getByRole('spinbutton', { name: label });
    phase = (words) => this.page.locator(`.phase:has-text("${words}")`).waitFor({ timeout: 60_000 });
    fact = async (name) => (await this.page.locator('dl.facts div', { has: this.page.locator(`dt:text-is("${name}")`) }).locator('dd').textContent()).trim();

    async setUp(steps, lr, corpus = text) {
        await this.go('Set up');
        await this.page.getByRole('radio', { name: 'Paste' }).evaluate((radio) => radio.click()); // wherever it stands while the page settles
        await this.page.getByLabel('Your text').fill(corpus);
        await this.field('How long').fill(String(steps));
        await this.field('Gentle start').fill('5');
        await this.field('Size of a correction').fill(String(lr));
        await this.ready('Start training');
    }

    async train(steps, lr = 0.005) {
        await this.setUp(steps, lr);
        await this.press('Start training');
        await this.phase('Done');
    }

    async saved(step) {
        await this.page.locator(`[data-test=saved]:has-text("at step ${step.toLocaleString('en')},")`).waitFor();
    }

    /** Of a run at rest, once it is saved there. Saving a paused run first ends the step that is under way. */
    async restingStep() {
        const step = await this.page.waitForFunction(() => {
            const stepIn = (selector) => /step ([\d,]*\d)/.exec(document.querySelector(selector)?.textContent ?? '')?.[1];
            return stepIn('.phase') !== undefined && stepIn('.phase') === stepIn('[data-test=saved]') && stepIn('.phase');
        });
        return Number((await step.jsonValue()).replace(',', ''));
    }

    /** A run of so many steps, paused somewhere at its beginning and saved; the step. */
    async trainHalf(steps) {
        await this.setUp(steps, 0.005);
        await this.press('Start training');
        await this.page.waitForFunction(() => Number(/step ([\d,]+) of/.exec(document.querySelector('.phase')?.textContent ?? '')?.[1]) >= 40);
        await this.press('Pause');
        await this.phase('Paused');
        return this.restingStep();
    }

    async download(name, within = this.page) {
        const [download] = await Promise.all([this.page.waitForEvent('download'), this.press(name, within)]);
        return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
    }

    /** Every loss as it was computed: the curve of the newest save of the run of this name, or of the newest run. */
    async curve() {
        return this.page.evaluate(async () => {
            const runs = await (await navigator.storage.getDirectory()).getDirectoryHandle('runs');
            let newest = { saved: '' };
            for await (const [, run] of runs.entries())
                for await (const [name, slot] of run.entries()) {
                    if (slot.kind !== 'directory') continue;
                    const open = async (file) => (await slot.getFileHandle(file)).getFile();
                    const record = await open('record.json').then(async (file) => JSON.parse(await file.text()), () => undefined);
                    if (!record || record.saved <= newest.saved) continue;
                    const curve = new Float64Array(await (await open('curve.f64')).arrayBuffer());
                    newest = { ...record, slot: name, losses: [...curve.subarray(0, curve.length / 2)] };
                }
            return newest;
        });
    }

    async accessible() {
        await this.page.evaluate(axe);
        const { violations } = await this.page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
        const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
        assert.deepEqual(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`), []);
        const wide = await this.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `the page is ${wide} px too wide`);
    }

    /** Usable as it is, on a small screen and a large one, light and dark. Where pictures are wanted, or `every`: at all widths that
     * matter, in both. */
    async look(name, every = this.shots !== undefined) {
        const all = ['light', 'dark'].flatMap((scheme) => [360, 768, 1280].map((width) => [scheme, width]));
        for (const [scheme, width] of every ? [['light', 320], ...all] : [all[0], all[5]]) {
            await this.page.emulateMedia({ colorScheme: scheme });
            await this.page.setViewportSize({ width, height: 900 });
            await this.page.waitForTimeout(this.shots ? 250 : 30);
            await this.accessible();
            if (this.shots && width > 320) await this.page.screenshot({ path: `${this.shots}/${name}-${width}-${scheme}.png`, fullPage: true });
        }
        await this.page.emulateMedia({ colorScheme: 'light' });
    }
}
