/** The largest preset, where there are 16 GB of memory: it is planned, takes a step, and a 32-bit module says why it cannot. */
import assert from 'node:assert/strict';
import { availableParallelism, freemem } from 'node:os';
import { test } from 'node:test';
import { createEngine, EngineError, planRun, type EngineInfo, type Plan } from '../dist/index.js';
import { chromium, resultsOf } from './chromium.ts';
import { corpus } from './support.ts';

const settings = { preset: 'behemoth', steps: 1, evalEvery: 0, inspect: false };
const skip = freemem() > 12e9 ? false : 'too little free memory here';

/** A cross entropy that a fresh model of this size can have: about that of a guess. */
function checkStep(info: EngineInfo, plan: Plan, losses: number[], seconds: number): void {
    assert.equal(plan.params, 473_244_160);
    assert.equal(info.module, 'wasm64-relaxed');
    assert.equal(losses.length, 1);
    assert.ok(Math.abs(losses[0]! - Math.log(256)) < 1, `loss ${losses[0]}`);
    console.log(`# ${info.threads} threads, plan ${(plan.bytes / 1e9).toFixed(2)} GB, loss ${losses[0]!.toFixed(4)}, ${seconds.toFixed(0)} s in all`);
}

test('behemoth takes a step in Node', { skip, timeout: 1200e3 }, async () => {
    const begun = performance.now();
    const plan = await planRun(settings);
    const engine = await createEngine({ needBytes: plan.bytes, threads: availableParallelism() });
    const losses: number[] = [];
    const run = await engine.train({ corpus, settings, onEvent: (e) => e.type === 'step' && losses.push(e.loss) });
    await run.done;
    const { info } = engine;
    await engine.close();
    checkStep(info, plan, losses, (performance.now() - begun) / 1000);
});

test('a 32-bit module refuses it and says why', { timeout: 60e3 }, async () => {
    const engine = await createEngine({ module: 'wasm32-relaxed', threads: 1 });
    await assert.rejects(engine.train({ corpus, settings }), (error) => {
        assert.ok(error instanceof EngineError && error.status === 'NO_MEMORY');
        assert.match(error.message, /of memory.*32-bit.*64-bit module/);
        return true;
    });
    await engine.close();
});

const script = `
import { createEngine, planRun } from './dist/index.js';
const settings = ${JSON.stringify(settings)};
const result = {};
try {
    const corpus = new Uint8Array(await (await fetch('./corpus')).arrayBuffer());
    result.plan = await planRun(settings);
    const engine = await createEngine({ needBytes: result.plan.bytes });
    result.losses = [];
    const run = await engine.train({ corpus, settings, onEvent: (e) => e.type === 'step' && result.losses.push(e.loss) });
    await run.done;
    result.info = engine.info;
    await engine.close();
} catch (error) { result.error = String(error?.stack ?? error); }
await fetch('./result', { method: 'POST', body: JSON.stringify(result) });
`;

test('behemoth takes a step in Chromium', { skip: skip || (chromium ? false : 'no Chromium here'), timeout: 1200e3 }, async (t) => {
    const begun = performance.now();
    const [result] = (await resultsOf(t, script, 1, 1200)) as { info: EngineInfo; plan: Plan; losses: number[]; error?: string }[];
    assert.equal(result!.error, undefined);
    checkStep(result!.info, result!.plan, result!.losses, (performance.now() - begun) / 1000);
});
