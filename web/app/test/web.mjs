/** The tests of the playground: units in Node, and the built page in Chromium.
 * Usage: node web.mjs FOLDER [--long] [--shots FOLDER] [TOPIC…]
 * FOLDER: the site. TOPIC: a file of topics/ or long/. When left out: the unit tests, all of topics/, and with --long those of long/.
 * --shots: pictures of every view at three widths, light and dark.
 * Environment: CHROMIUM names the browser, SOAK_SECONDS how long the soak trains, TIMES=1 tells how long each test took.
 * Ends with "N passed, N failed[, N skipped]"; without Chromium the browser's tests are skipped. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { findChromium } from './chromium.mjs';
import { Driver } from './driver.mjs';

const here = (path) => new URL(path, import.meta.url);
const { values, positionals } = parseArgs({ options: { shots: { type: 'string' }, long: { type: 'boolean' } }, allowPositionals: true });
const [folder, ...wanted] = positionals;
const topicsOf = (kind) => readdirSync(here(kind)).map((file) => [file.replace('.mjs', ''), here(`${kind}/${file}`)]);
const all = new Map([...topicsOf('topics'), ...topicsOf('long')]);
const usual = [...topicsOf('topics'), ...(values.long ? topicsOf('long') : [])].map(([name]) => name);
const unknown = wanted.filter((topic) => !all.has(topic));
if (!folder || unknown.length) {
    console.error(unknown.length ? `web.mjs: no topic ${unknown.join(', ')}; there are ${[...all.keys()].join(', ')}` : 'usage: node web.mjs FOLDER [--long] [--shots FOLDER] [TOPIC…]');
    process.exit(2);
}

const counts = { passed: 0, failed: 0, skipped: 0 };
function add({ passed, failed, skipped }) {
    counts.passed += passed;
    counts.failed += failed;
    counts.skipped += skipped;
}

function units() {
    const files = readdirSync(here('unit')).filter((file) => file.endsWith('.test.mjs')).map((file) => here(`unit/${file}`).pathname);
    const { stdout, status } = spawnSync(process.execPath, ['--test', '--test-reporter=tap', ...files], { encoding: 'utf8' });
    const told = (word) => Number(new RegExp(`^# ${word} (\\d+)$`, 'm').exec(stdout)?.[1] ?? 0);
    if (status !== 0) console.log(stdout);
    return { passed: told('pass'), failed: told('fail') || (status === 0 ? 0 : 1), skipped: told('skipped') };
}

async function topics(names) {
    let browser;
    try {
        browser = findChromium();
    } catch (error) {
        console.log(`web.mjs: ${error.message}`);
        return { passed: 0, failed: 1, skipped: 0 };
    }
    if (!browser) {
        console.log('skip: the playground in a browser: there is no Chromium here; CHROMIUM can name one, or install it (Debian: apt-get install chromium)');
        return { passed: 0, failed: 0, skipped: names.length };
    }
    const driver = await Driver.start(folder, browser, values.shots);
    for (const topic of names) {
        const { default: run } = await import(all.get(topic));
        await run(driver).catch((error) => driver.fail(topic, error)); // between two tests
        await driver.noComplaints(topic);
    }
    await driver.end();
    return driver;
}

if (!wanted.length) add(units());
add(await topics(wanted.length ? wanted : usual));
console.log(`${counts.passed} passed, ${counts.failed} failed${counts.skipped ? `, ${counts.skipped} skipped` : ''}`);
process.exit(counts.failed ? 1 : 0);
