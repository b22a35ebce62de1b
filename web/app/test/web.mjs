/** The built page in Chromium. Usage: node web.mjs FOLDER [--shots FOLDER] [TOPIC…]
 * FOLDER: the site. TOPIC: a file of topics/; all, when left out. --shots: pictures of the views at three widths, light and dark.
 * Ends with "N passed, N failed". CHROMIUM names the browser. */
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Driver } from './driver.mjs';

const all = readdirSync(new URL('topics', import.meta.url)).map((file) => file.replace('.mjs', ''));
const { values, positionals } = parseArgs({ options: { shots: { type: 'string' } }, allowPositionals: true });
const [folder, ...wanted] = positionals;
const unknown = wanted.filter((topic) => !all.includes(topic));
if (!folder || unknown.length) {
    console.error(unknown.length ? `web.mjs: no topic ${unknown.join(', ')}; there are ${all.join(', ')}` : 'usage: node web.mjs FOLDER [--shots FOLDER] [TOPIC…]');
    process.exit(2);
}

const driver = await Driver.start(folder, values.shots);
for (const topic of wanted.length ? wanted : all) {
    const { default: run } = await import(`./topics/${topic}.mjs`);
    await run(driver);
    await driver.noComplaints(topic);
}
await driver.end();
console.log(`${driver.passed} passed, ${driver.failed} failed`);
process.exitCode = driver.failed ? 1 : 0;
