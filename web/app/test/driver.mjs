/** What the tests of the page share: servers, a browser, and visits, each with storage of its own. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { serve } from '../serve.mjs';
import { Visit } from './visit.mjs';
import { busy } from './quiet.mjs';

export { text } from './visit.mjs';

/** Why a test could not be: no failure, and said aloud. */
class Skip extends Error {}

/** The view, the run's state and all notices of a page, in a line. */
async function shown(page) {
    if (page.isClosed()) return 'a closed page';
    const texts = page.evaluate(() => [...document.querySelectorAll('h1, .phase, .notice, [data-test=verdict]')].map((e) => e.textContent.trim().replace(/\s+/g, ' ')).join(' | '));
    const late = new Promise((resolve) => setTimeout(resolve, 2000, 'a page that does not answer'));
    return Promise.race([texts, late]).catch((error) => `nothing: ${error.message}`);
}

export class Driver {
    passed = 0;
    failed = 0;
    skipped = 0;
    visits = [];
    servers = [];

    /** A browser for the site in `folder`; pictures go to `shots`, if it is named. */
    static async start(folder, browser, shots) {
        const driver = new Driver();
        Object.assign(driver, { folder, shots });
        if (shots) mkdirSync(shots, { recursive: true });
        driver.home = await driver.serve();
        driver.path = browser;
        driver.browser = await driver.launch(['--disable-gpu']);
        return driver;
    }

    /** Another browser. Not Playwright's own headless mode, which knows no WebGPU. */
    launch(args) {
        return chromium.launch({ executablePath: this.path, headless: false, args: ['--headless=new', '--no-sandbox', ...args] });
    }

    /** Another server. `headers`: what it sends with every file. */
    async serve({ folder = this.folder, headers } = {}) {
        const server = await serve(folder, 0, headers);
        this.servers.push(server);
        /** The server goes away; open pages stay. */
        const down = () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve)));
        return { url: `http://localhost:${server.address().port}/`, down };
    }

    /** A profile of its own with one empty page. `site`: of `serve`; `browser`: of `launch`; `options`: of Playwright's contexts. Scripts of the test (axe)
     * come from outside the page's policy. */
    async visit({ site = this.home, browser = this.browser, ...options } = {}) {
        const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, bypassCSP: true, ...options });
        const visit = new Visit(context, site.url, this.shots);
        await visit.tab();
        this.visits.push(visit);
        return visit;
    }

    async test(name, work) {
        const begun = performance.now();
        try {
            await work();
            this.passed++;
        } catch (error) {
            if (error instanceof Skip) {
                this.skipped++;
                console.log(`skip: ${name}: ${error.message}`);
                return;
            }
            await this.fail(name, error);
        } finally {
            if (process.env.TIMES) console.log(`${((performance.now() - begun) / 1000).toFixed(1)} s  ${name}`);
        }
    }

    /** With what every page shows, and a picture of the last, where pictures are wanted. */
    async fail(name, error) {
        this.failed++;
        console.log(`failed: ${name}\n${error.stack.replace(/(.{300}).*/g, '$1…')}`);
        for (const { page } of this.visits) console.log(`  shown: ${await shown(page)}`);
        const page = this.visits.at(-1)?.page;
        if (this.shots && page && !page.isClosed()) await page.screenshot({ path: `${this.shots}/failed-${this.failed}.png`, fullPage: true }).catch(() => undefined);
    }

    /** A measurement: `work` gives a time in ms that may be `most`. What else the machine does would be measured as well, so where
     * that is much, nothing is judged. */
    async timed(name, most, work) {
        await this.test(name, async () => {
            const before = await busy();
            const ms = await work();
            console.log(`note: ${name}: ${Math.round(ms)} ms, of ${most}`);
            if (before) throw new Skip(`not judged: ${before}`);
            assert.ok(ms <= most, `${ms} ms`);
        });
    }

    /** Of all visits since the last time. */
    async noComplaints(topic) {
        await this.test(`${topic}: no complaint in the console, no request to elsewhere`, () => {
            assert.deepEqual(this.visits.flatMap((visit) => visit.complaints), []);
            assert.deepEqual(this.visits.flatMap((visit) => visit.elsewhere), []);
        });
        for (const { context } of this.visits) await context.close();
        this.visits = [];
    }

    async end() {
        await this.browser.close();
        for (const server of this.servers) server.close();
    }
}
