/** The engine on a GPU: what the C asks of a browser's WebGPU, in Chromium with an emulated one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngineInfo, RunEvent } from '../dist/index.js';
import { chromium, resultsOf } from './chromium.ts';

const skip = chromium ? false : 'no Chromium here';
/** Some 20 thousand parameters. */
const settings = { layers: 1, dModel: 32, heads: 2, ctx: 16, batch: 4, lr: 3e-4, clip: 0.5, steps: 50, evalEvery: 25, evalBatches: 1, inspect: true };

interface Outcome {
    error?: string;
    info: EngineInfo;
    events: RunEvent[];
    text: string;
    evaluation: { loss: number };
    values: number[];
    attention: number[];
    census: { buffers: number; bytes: number }[];
    saved: number;
    refusal: string;
}

/** A page that does the same on the processor and on the GPU, whose process ends twice meanwhile, and posts the two outcomes. */
const script = `
import { createEngine } from './dist/index.js';
const corpus = new Uint8Array(await (await fetch('./corpus')).arrayBuffer());
async function go(options) {
    const engine = await createEngine({ threads: 1, ...options });
    const events = [], census = [];
    let saved, refusal = '';
    const run = await engine.train({ corpus, settings: ${JSON.stringify(settings)}, onEvent: async (event) => {
        const first = event.type === 'step' && !events.some(({ type, step }) => type === 'step' && step === event.step);
        events.push(event);
        if (first && event.step % 8 === 0 && event.step <= 24) census.push(await engine.gpuMemory());
        if (first && event.step === 16) saved = run.saveTo(() => {});
        if (first && event.step === 32 && options.device) await fetch('./crash-gpu');
    } });
    await run.done;
    const use = async () => {
        let text = '';
        for await (const token of engine.sample({ prompt: 'Call me ', tokens: 12, temperature: 0 })) text += token.text;
        const evaluation = await engine.evaluate('It was the whiteness of the whale that above all things appalled me.');
        await engine.look('Call me Ishmael');
        const { values } = await engine.lens(1);
        const attention = await engine.attention(0);
        census.push(await engine.gpuMemory());
        return { text, evaluation, values: [...values], attention: [...attention] };
    };
    await use();
    const used = await use();
    saved = await saved;
    if (options.device) await fetch('./crash-gpu');
    await run.continue(60);
    await run.done.catch(async (error) => {
        refusal = error.status + ': ' + error.message;
        await run.useCpu();
        await run.done;
    });
    const { info } = engine;
    const outcome = { info, events, ...used, census, saved, refusal };
    await engine.close();
    return outcome;
}
for (const options of [{}, { device: 'webgpu', softwareGpu: true }]) {
    const outcome = await go(options).catch((error) => ({ error: String(error?.stack ?? error) }));
    await fetch('./result', { method: 'POST', body: JSON.stringify(outcome) });
}
`;

/** What was told last of each step and each check. */
function lossesOf(events: RunEvent[]): Map<string, number> {
    return new Map(events.flatMap((event) => (event.type === 'step' || event.type === 'evaluated' ? [[`${event.type} ${event.step}`, event.loss]] : [])));
}

function near(got: Iterable<number>, want: Iterable<number>, tolerance: number): void {
    const [a, b] = [[...got], [...want]];
    assert.equal(a.length, b.length);
    for (const [i, x] of a.entries()) assert.ok(Math.abs(x - b[i]!) <= tolerance * Math.max(1, Math.abs(b[i]!)), `${i}: ${x}, not ${b[i]}`);
}

test('a GPU gives the same as the processor, also when it is lost meanwhile', { skip }, async (t) => {
    const [cpu, gpu] = (await resultsOf(t, script, 2, 170, { gpu: true })) as [Outcome, Outcome];
    assert.equal(cpu.error, undefined);
    assert.equal(gpu.error, undefined);
    assert.equal(cpu.info.device, 'cpu');
    assert.equal(gpu.info.device, 'webgpu');
    assert.equal(gpu.info.gpu!.software, true);
    const [losses, expected] = [lossesOf(gpu.events), lossesOf(cpu.events)];
    assert.equal([...expected.keys()].filter((key) => key.startsWith('step')).length, 60);
    near([...expected.keys()].map((key) => losses.get(key) ?? NaN), expected.values(), 2e-5);
    assert.equal(gpu.text, cpu.text);
    near([gpu.evaluation.loss], [cpu.evaluation.loss], 2e-5);
    near(gpu.values, cpu.values, 1e-3);
    near(gpu.attention, cpu.attention, 1e-4);
    const [first, second] = gpu.census.splice(-2);
    assert.deepEqual(second, first, 'at rest nothing is left');
    const buffers = gpu.census.map((census) => census.buffers);
    assert.ok(buffers.length > 1 && Math.max(...buffers) - Math.min(...buffers) <= 1, `what is read back is let go: ${JSON.stringify(gpu.census)}`);
    const restored = gpu.events.filter((event) => event.type === 'restored');
    assert.equal(restored[0]!.step, gpu.saved);
    assert.equal(restored[0]!.message, `The GPU restarted. Restored step ${gpu.saved}, continuing.`);
    assert.match(gpu.refusal, /^LOST: The GPU was lost twice within a minute/);
    assert.equal(restored.at(-1)!.device, 'cpu');
});

/** A model that the processor trained, on the GPU, its weights kept in three ways. */
const packed = `
import { createEngine } from './dist/index.js';
const result = { outcomes: [] };
try {
    const corpus = new Uint8Array(await (await fetch('./corpus')).arrayBuffer()).subarray(0, 40000);
    const cpu = await createEngine({ threads: 1 });
    const run = await cpu.train({ corpus, settings: ${JSON.stringify({ ...settings, steps: 200, lr: 3e-3, evalEvery: 0 })} });
    await run.done;
    const file = await run.save();
    await cpu.close();
    const engine = await createEngine({ threads: 1, device: 'webgpu', softwareGpu: true });
    await engine.importModel(file);
    for (const weights of ['f32', 'f16', 'int8']) {
        const { arenas } = await engine.load({ weights });
        let text = '';
        for await (const token of engine.sample({ prompt: 'Call me ', tokens: 12, temperature: 0 })) text += token.text;
        const { loss } = await engine.evaluate('It was the whiteness of the whale that above all things appalled me.');
        result.outcomes.push({ model: arenas.model, text, loss });
    }
} catch (error) { result.error = String(error?.stack ?? error); }
await fetch('./result', { method: 'POST', body: JSON.stringify(result) });
`;

test('a model on a GPU keeps its weights in f16 or int8', { skip }, async (t) => {
    const [result] = (await resultsOf(t, packed, 1, 120, { gpu: true })) as [{ error?: string; outcomes: { model: number; text: string; loss: number }[] }];
    assert.equal(result.error, undefined);
    const [f32, f16, int8] = result.outcomes;
    assert.ok(f16!.model < 0.6 * f32!.model && int8!.model < 0.4 * f32!.model, JSON.stringify(result.outcomes));
    assert.equal(f16!.text, f32!.text);
    near([f16!.loss], [f32!.loss], 1e-3);
    near([int8!.loss], [f32!.loss], 1e-2);
    assert.ok(f16!.loss !== f32!.loss && int8!.loss !== f32!.loss);
});

/** No GPU has room, as it says a moment after it was asked. */
const prelude = `globalThis.GPUDevice && (GPUDevice.prototype.popErrorScope = async () => new GPUOutOfMemoryError('no room'));`;
const scarce = `
import { createEngine } from './dist/index.js';
const result = {};
try {
    const auto = await createEngine({ threads: 1, device: 'auto' });
    result.auto = auto.info;
    await auto.close();
    const engine = await createEngine({ threads: 1, device: 'webgpu', softwareGpu: true });
    result.refusals = [];
    for (const _ of [1, 2]) await engine.train({ corpus: 'x'.repeat(4000), settings: ${JSON.stringify(settings)} }).catch((error) => result.refusals.push(error.status + ': ' + error.message));
} catch (error) { result.error = String(error?.stack ?? error); }
await fetch('./result', { method: 'POST', body: JSON.stringify(result) });
`;

test('a GPU without room refuses a run in one sentence; an emulated one is not chosen', { skip }, async (t) => {
    const [result] = (await resultsOf(t, scarce, 1, 60, { gpu: true, prelude })) as [{ error?: string; auto: EngineInfo; refusals: string[] }];
    assert.equal(result.error, undefined);
    assert.equal(result.auto.device, 'cpu');
    assert.match(result.auto.whyNoGpu!, /software emulation/);
    const sentence = 'NO_MEMORY: the GPU has no memory for this: choose a smaller model, batch or context (no room)';
    assert.deepEqual(result.refusals, [sentence, sentence]);
});

/** A run on a GPU that tries its smallest kernel: what was told of that, what the browser keeps of it, and the losses. */
const trial = `
import { createEngine } from './dist/index.js';
const corpus = new Uint8Array(await (await fetch('./corpus')).arrayBuffer());
const kept = async () => (await (await caches.open('posttrain.memory')).match('./dist/webgpu.json'))?.text();
async function go(options) {
    const engine = await createEngine({ threads: 1, ...options });
    const events = [];
    const run = await engine.train({ corpus, settings: ${JSON.stringify({ ...settings, steps: 3, evalEvery: 0 })}, onEvent: (event) => events.push(event) });
    await run.done;
    await engine.close();
    return { losses: events.flatMap(({ type, loss }) => type === 'step' ? [loss] : []), tried: events.filter(({ type }) => type === 'compiling') };
}
const result = {};
try {
    const gpu = { device: 'webgpu', softwareGpu: 'tried' };
    result.cpu = await go({});
    result.first = await go(gpu);
    result.kept = await kept();
    await (await caches.open('posttrain.memory')).put('./dist/webgpu.json', new Response(result.kept.replaceAll(/"32x32 4x4"(?!:)/g, '"naive"')));
    result.second = await go(gpu);
    result.keptThen = await kept();
} catch (error) { result.error = String(error?.stack ?? error); }
await fetch('./result', { method: 'POST', body: JSON.stringify(result) });
`;

interface Tried {
    losses: number[];
    tried: { done: number; total: number; remark?: string }[];
}
interface Trials {
    error?: string;
    cpu: Tried;
    first: Tried;
    second: Tried;
    kept: string;
    keptThen: string;
}

test('a GPU tries its kernels before its first step, and the browser remembers how they fared', { skip }, async (t) => {
    const [result] = (await resultsOf(t, trial, 1, 170, { gpu: true })) as [Trials];
    assert.equal(result.error, undefined);
    assert.deepEqual(result.first.tried[0], { type: 'compiling', done: 0, total: 2 });
    assert.ok(result.first.tried.some(({ done, total }) => done === 2 && total === 2));
    assert.ok(result.first.tried.every(({ remark }) => remark === undefined));
    assert.deepEqual(JSON.parse(result.kept).verdicts, { naive: 'right', '32x32 4x4': 'right' });
    assert.equal(result.second.tried[0]!.total, 1, 'what is remembered is not tried again');
    assert.equal(result.keptThen, result.kept.replaceAll(/"32x32 4x4"(?!:)/g, '"naive"'));
    near(result.first.losses, result.cpu.losses, 2e-5);
    near(result.second.losses, result.cpu.losses, 2e-5);
});

/** The shaders that the worker fetches have a line that the smallest kernel does not compile with. */
const spoiler = `
const fetched = globalThis.fetch;
globalThis.fetch = async (url, ...rest) => {
    const response = await fetched(url, ...rest);
    if (!String(url?.href ?? url).endsWith('shaders.wgsl')) return response;
    return new Response((await response.text()).replace('const THREADS: u32 =', 'const_assert BM != 32u;\\nconst THREADS: u32 ='));
};
`;

test('a kernel that a browser does not compile is told and not used', { skip }, async (t) => {
    const [result] = (await resultsOf(t, trial, 1, 170, { gpu: true, prelude: spoiler })) as [Trials];
    assert.equal(result.error, undefined);
    const remark = '1 of 2 kernels for products failed their trial and is not used: 32x32 4x4 (does not compile)';
    assert.deepEqual(result.first.tried.find((event) => event.remark), { type: 'compiling', done: 2, total: 2, remark });
    assert.deepEqual(result.second.tried[0], { type: 'compiling', done: 0, total: 1 });
    assert.equal(result.second.tried.find((event) => event.remark)?.remark, remark, 'it is told again without another trial');
    near(result.first.losses, result.cpu.losses, 2e-5);
});

/** A GPU with so many bytes for buffers. */
const ROOM = 20e6;
const small = `{
    let held = 0;
    const { createBuffer, popErrorScope } = GPUDevice.prototype;
    const { destroy } = GPUBuffer.prototype;
    GPUDevice.prototype.createBuffer = function (descriptor) { held += descriptor.size; this.short ||= held > ${ROOM}; return createBuffer.call(this, descriptor); };
    GPUDevice.prototype.popErrorScope = async function () { await popErrorScope.call(this); return this.short ? new GPUOutOfMemoryError('no room') : null; };
    GPUBuffer.prototype.destroy = function () { held -= this.size; destroy.call(this); };
}`;
const crowded = `
import { createEngine } from './dist/index.js';
const result = {};
try {
    const engine = await createEngine({ threads: 1, device: 'webgpu', softwareGpu: true });
    const corpus = 'x'.repeat(4000), settings = { ...${JSON.stringify(settings)}, batch: 1024, steps: 1 };
    await engine.train({ corpus, settings }).catch((error) => (result.refusal = error.status + ': ' + error.message));
    const batch = Number(/--batch (\\d+)/.exec(result.refusal)?.[1]);
    result.bytes = (await engine.train({ corpus, settings: { ...settings, batch }, paused: true })).plan.bytes;
} catch (error) { result.error = String(error?.stack ?? error); }
await fetch('./result', { method: 'POST', body: JSON.stringify(result) });
`;

test('a GPU with less room than a run needs names the batch that would do', { skip }, async (t) => {
    const [result] = (await resultsOf(t, crowded, 1, 60, { gpu: true, prelude: `globalThis.GPUDevice && ${small.replace('{', '(() => {')})()` })) as [{ error?: string; refusal: string; bytes: number }];
    assert.equal(result.error, undefined);
    assert.match(result.refusal, /^NO_MEMORY: the run needs [\d.]+ MB on device webgpu, which gives 1\d\.\d MB: --batch \d+ would fit \([\d.]+ MB\)$/);
    assert.ok(result.bytes > 1e6);
});
