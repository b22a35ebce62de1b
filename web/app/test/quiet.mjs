/** Whether this machine does other work, so that a time measured now says little. */
import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';

const LOOKS = 20;
const LOOK_MS = 50;

/** Threads that would run now, without this one: a mean over a second, or where the system does not tell, over the last minute. */
async function load() {
    let sum = 0;
    for (let i = 0; i < LOOKS; i++) {
        try {
            sum += Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[3].split('/')[0]) - 1;
        } catch {
            return loadavg()[0];
        }
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    return sum / LOOKS;
}

/** What there is to say about it; undefined: it is quiet. */
export async function busy() {
    const now = await load();
    return now < availableParallelism() ? undefined : `load ${now.toFixed(1)} on ${availableParallelism()} cores`;
}
