/** The service worker's list of files: what the built site holds, with hashes, and a version that is the hash of all. A part of vite.config.ts. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

const WORKER = 'sw.js';

function filesOf(folder) {
    const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const names = all.map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'));
    return names.filter((name) => name !== WORKER).sort();
}

/** Fills the list into the worker of a built site. */
export function fillPrecache(folder) {
    const hash = (bytes) => `sha256-${createHash('sha256').update(bytes).digest('base64')}`;
    const files = Object.fromEntries(filesOf(folder).map((name) => [name, hash(readFileSync(join(folder, name)))]));
    const version = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
    const path = join(folder, WORKER);
    const code = readFileSync(path, 'utf8');
    if (!code.includes('__PRECACHE__')) throw new Error(`${path} has no place for the list of files`);
    writeFileSync(path, code.replace('__PRECACHE__', () => JSON.stringify({ version, files })));
}

export function precache(folder) {
    return { name: 'precache', apply: 'build', enforce: 'post', closeBundle: () => fillPrecache(folder) };
}
