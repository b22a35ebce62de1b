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

/** Its path; undefined where there is none. */
export function findChromium() {
    if (process.env.CHROMIUM) return process.env.CHROMIUM;
    const folders = (process.env.PATH ?? '').split(delimiter);
    return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(canRun);
}
