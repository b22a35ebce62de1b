/* Measures the engine's modules beside the native program, in turns: products and training steps.
 * Usage: node bench/wasm.mjs PACKAGE_FOLDER PROGRAM CORPUS [--seconds S] [--presets LIST] [--threads N] [--rounds N] [--only TEXT] [--json FILE]
 *
 * --only: rows whose name contains the text. A figure is the best and the median of single calls or steps. Native rows and the peak come from `posttrain bench`, run in the
 * same round as the modules, so that both meet the same load. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: {
        seconds: { type: 'string', default: '3' },
        presets: { type: 'string', default: 'small,medium,reference,large,xl' },
        threads: { type: 'string', default: String(availableParallelism()) },
        rounds: { type: 'string', default: '2' },
        only: { type: 'string', default: '' },
        json: { type: 'string' },
    },
});
const [folder, program, corpusPath] = positionals;
const { createEngine } = await import(resolve(folder, 'dist/index.js'));
const { chromium, resultsOf } = await import(resolve(folder, 'test/chromium.ts'));
const corpus = new Uint8Array(readFileSync(corpusPath));
const threads = Number(options.threads);
const seconds = Number(options.seconds);
const rounds = Number(options.rounds);

/** The rows of the table: what is measured, slowest first. */
const kinds = [
    { name: 'scalar, 1 thread', module: 'scalar', threads: 1 },
    { name: 'SIMD, 1 thread', module: 'wasm32', threads: 1 },
    { name: `SIMD, ${threads} threads`, module: 'wasm32-threads', threads },
    { name: 'relaxed, 1 thread', module: 'wasm32-relaxed', threads: 1 },
    { name: `relaxed, ${threads} threads`, module: 'wasm32-relaxed', threads },
    { name: `relaxed, ${threads} threads, 64 bit`, module: 'wasm64-relaxed', threads },
    ...(chromium ? [{ name: `relaxed, ${threads} threads, Chromium`, module: 'wasm32-relaxed', threads, page: true }] : []),
].filter(({ name }) => name.includes(options.only));

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

function native(...args) {
    const text = execFileSync(program, ['bench', ...args, '--seconds', String(seconds), '--json'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        maxBuffer: 1 << 28,
    });
    return JSON.parse(text);
}

/** Of one engine: seconds of steps of a preset, or GFLOP/s of products. These two also run in a page, so they name no variable
 * of this file. */
async function steps(createEngine, corpus, kind, preset, seconds) {
    const engine = await createEngine({ module: kind.module, threads: kind.threads });
    const times = [];
    let warm = 0;
    const run = await engine.train({
        corpus,
        settings: { preset, steps: 100000, inspect: false },
        onEvent: (event) => event.type === 'step' && ++warm > 3 && times.push(event.seconds),
    });
    const begun = performance.now();
    while ((performance.now() - begun) / 1000 < seconds || times.length < 3) await new Promise((go) => setTimeout(go, 50));
    await run.pause();
    await engine.close();
    return times;
}

async function products(createEngine, kind, sizes, seconds) {
    const engine = await createEngine({ module: kind.module, threads: kind.threads });
    const rates = [];
    for (const size of sizes) rates.push((await engine.probe((seconds * 1000) / sizes.length, size)).gflops);
    await engine.close();
    return rates;
}

/** One of the two in Chromium. */
async function inPage(what) {
    const script = `
        import { createEngine } from './dist/index.js';
        const corpus = new Uint8Array(await (await fetch('./corpus')).arrayBuffer());
        ${steps}
        ${products}
        await fetch('./result', { method: 'POST', body: JSON.stringify(await ${what}) });`;
    const over = [];
    const results = await resultsOf({ after: (end) => over.push(end) }, script, 1, 600);
    for (const end of over) end();
    return results[0];
}

function stepsOf(kind, preset) {
    if (!kind.page) return steps(createEngine, corpus, kind, preset, seconds);
    return inPage(`steps(createEngine, corpus, ${JSON.stringify(kind)}, '${preset}', ${seconds})`);
}

function productsOf(kind) {
    if (!kind.page) return products(createEngine, kind, SIZES, seconds);
    return inPage(`products(createEngine, ${JSON.stringify(kind)}, ${JSON.stringify(SIZES)}, ${seconds})`);
}

const SIZES = [128, 256, 384, 768];
const results = {
    machine: cpus()[0]?.model,
    node: process.version,
    load: loadavg()[0],
    date: new Date().toISOString(),
    threads,
    peak: 0,
    products: {},
    presets: {},
};

for (let round = 0; round < rounds; round++) {
    for (const kind of kinds) {
        const rates = await productsOf(kind);
        results.products[kind.name] = (results.products[kind.name] ?? rates).map((rate, i) => Math.max(rate, rates[i]));
    }
    for (const preset of options.presets.split(',')) {
        const bench = native('train', '--preset', preset, '--threads', String(threads));
        const row = bench.rows[0];
        const of = (results.presets[preset] ??= { params: row.params, tokens: row.tokens, native: [], rows: {} });
        results.peak = Math.max(results.peak, ...bench.limits.filter((l) => l.threads === threads).map((l) => l.flop_per_second.most));
        of.native.push(...row.seconds.samples);
        for (const kind of kinds) {
            if (kind.module === 'scalar' && row.params > 1e6) continue;
            (of.rows[kind.name] ??= []).push(...(await stepsOf(kind, preset)));
        }
    }
}
if (options.json) writeFileSync(options.json, JSON.stringify(results));

const cell = (text, width = 12) => String(text).padStart(width);
const percent = (x) => `${(100 * x).toFixed(1)} %`;
console.log(`${results.machine}; Node ${results.node}; load ${results.load.toFixed(1)}; ${results.date}`);
console.log(`native peak of multiply-adds, ${threads} threads: ${(results.peak / 1e9).toFixed(0)} GFLOP/s\n`);
console.log(`${'products, best GFLOP/s'.padEnd(28)}${SIZES.map((size) => cell(`${size}^3`, 9)).join('')}`);
for (const [name, rates] of Object.entries(results.products))
    console.log(`${name.padEnd(28)}${rates.map((rate) => cell(rate.toFixed(1), 9)).join('')}`);
for (const [preset, { params, tokens, native: nativeSeconds, rows }] of Object.entries(results.presets)) {
    console.log(`\n${preset.padEnd(28)}${['best ms', 'median ms', '6N GFLOP/s', 'of peak', 'of native'].map((h) => cell(h)).join('')}`);
    const best = Math.min(...nativeSeconds);
    for (const [name, times] of [[`native, ${threads} threads`, nativeSeconds], ...Object.entries(rows)]) {
        const fastest = Math.min(...times);
        const rate = (6 * params * tokens) / fastest;
        const cells = [fastest * 1e3, median(times) * 1e3, rate / 1e9].map((x) => cell(x.toFixed(x < 10 ? 2 : 1)));
        console.log(`${name.padEnd(28)}${cells.join('')}${cell(percent(rate / results.peak))}${cell(percent(best / fastest))}`);
    }
}
