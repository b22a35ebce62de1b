/** The browser of the tests: what CHROMIUM names, or the first of the usual names that is here. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

function canRun(path) {
    try {
        accessSync(path, constants.X_OK);
        return true;
    } catch {
        return false;
    }
}

/** Where a command is; undefined where it is not. */
function find(name) {
    if (name.includes('/')) return canRun(name) ? name : undefined;
    return (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)).find(canRun);
}

/** Its path; undefined where there is none. What CHROMIUM names must be there. */
export function findChromium() {
    const { CHROMIUM: named } = process.env;
    const path = (named ? [named] : NAMES).map(find).find(Boolean);
    if (named && !path) throw new Error(`CHROMIUM names ${named}, which is no program here: name another, or leave it out`);
    return path;
}
