/** A TypeScript file of the page, as Vite reads it, without a browser. */
import { runnerImport } from 'vite';

const root = new URL('../..', import.meta.url).pathname;

export async function load(path) {
    const { module } = await runnerImport(`${root}${path}`, { root, configFile: false, logLevel: 'error' });
    return module;
}
