/** Records a run of the engine for the page to play before a visitor has one of their own: what really happened, and when.
 * Usage: node record.mjs ENGINE CORPUS OUT     ENGINE: the folder of the engine's package; Node 24 or newer */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const SECONDS = 30;
/** Steps of the first run, which tells how many fit into that time. */
const REHEARSED = 400;
/** Those that the page begins with. */
const SETTINGS = { preset: 'tiny', lr: 2e-3, warmup: 50, schedule: 'cosine', seed: 42, sampleTokens: 160 };

const [folder, corpusPath, out] = process.argv.slice(2);
if (!out) {
    console.error('Usage: node record.mjs ENGINE CORPUS OUT');
    process.exit(2);
}
const { createEngine } = await import(resolve(join(folder, 'dist/index.js')));
const corpus = new Uint8Array(readFileSync(corpusPath));
const engine = await createEngine();

/** A run and its events, each with its time in milliseconds since the first step began. */
async function record(steps) {
    const events = [];
    const settings = { ...SETTINGS, steps, evalEvery: Math.ceil(steps / 15), evalBatches: 4, sampleEvery: Math.ceil(steps / 15) };
    const begun = performance.now();
    const run = await engine.train({ corpus, settings, onEvent: (event) => events.push({ at: Math.round(performance.now() - begun), ...event }) });
    await run.done;
    return { events, params: run.plan.params, seconds: (performance.now() - begun) / 1000 };
}

let steps = REHEARSED;
let taken = await record(steps);
while (Math.abs(taken.seconds - SECONDS) > SECONDS / 10) {
    steps = Math.round((steps * SECONDS) / taken.seconds);
    taken = await record(steps);
}
const { events, params, seconds } = taken;
await engine.close();

const told = events.filter(({ type }) => type === 'step');
const column = (name, digits) => told.map((event) => Number(event[name].toPrecision(digits)));
const recording = {
    engine: engine.info.version,
    module: engine.info.module,
    threads: engine.info.threads,
    seconds: Number(seconds.toFixed(1)),
    preset: SETTINGS.preset,
    params,
    text: 'Moby-Dick',
    at: column('at', 6),
    loss: column('loss', 4),
    gradNorm: column('gradNorm', 3),
    lr: column('lr', 3),
    checks: events.filter(({ type }) => type === 'evaluated').map(({ at, step, loss }) => [at, step, Number(loss.toPrecision(4))]),
    samples: events.filter(({ type }) => type === 'sampled').map(({ at, step, text }) => [at, step, text]),
};
writeFileSync(out, `${JSON.stringify(recording)}\n`);
console.log(`${told.length} steps in ${recording.seconds} s, loss ${recording.loss[0]} to ${recording.loss.at(-1)}`);
