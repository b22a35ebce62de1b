/** Calls that should not be: in the wrong order, at once, of the wrong kind. Each gets a sentence, and none reaches what it does not belong to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEngine, planRun, type Engine, type Run } from '../dist/index.js';
import { corpus, open, refuses, small, train } from './support.ts';

/** Never done before it is stopped. */
const endless = { ...small, steps: 100_000 };
/** Its file takes many slices of work. */
const heavy = { ...endless, dModel: 480, ctx: 8, batch: 1 };

const whatever = (engine: Engine) => engine as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;

test('a run that is paused while it is being saved is saved all the same', { timeout: 60_000 }, async (t) => {
    const engine = await open(t);
    const run = await engine.train({ corpus, settings: heavy });
    for (let i = 0; i < 3; i++) {
        const saved = run.save();
        await run.pause();
        assert.equal((await engine.importModel(await saved)).dtype, 'f32');
        run.resume();
    }
});

test('the last word counts, however often a run is paused and resumed', { timeout: 60_000 }, async (t) => {
    const engine = await open(t);
    const run = await engine.train({ corpus, settings: endless });
    run.resume();
    run.resume();
    await run.pause();
    assert.equal(await run.done, false);
    run.resume();
    await run.pause();
    assert.equal(await run.done, false);
    run.resume();
    const first = run.pause();
    run.resume();
    await Promise.all([first, run.pause()]);
    assert.equal(await run.done, false);
    run.resume();
    await run.stop();
    assert.equal(await run.done, true);
});

test('a run that was let go does nothing to the one that came after', { timeout: 60_000 }, async (t) => {
    const engine = await open(t);
    const old = await engine.train({ corpus, settings: heavy });
    const saved = assert.rejects(old.save(), refuses('INTERRUPTED', /let go before it was saved/));
    const run = await engine.train({ corpus, settings: endless });
    await saved;
    await old.pause();
    const words = /this run was let go/;
    await assert.rejects(old.stop(), refuses('BAD_INPUT', words));
    await assert.rejects(old.save(), refuses('BAD_INPUT', words));
    await assert.rejects(old.continue(200_000), refuses('BAD_INPUT', words));
    old.resume();
    await assert.rejects(old.done, refuses('BAD_INPUT', words));
    await run.pause();
    assert.equal(await run.done, false, 'it was stopped by the other');
});

test('loading a model pauses the run that was at work', { timeout: 60_000 }, async (t) => {
    const engine = await open(t);
    const run = await engine.train({ corpus, settings: endless });
    await engine.importModel(await run.save());
    await engine.load();
    assert.equal(await run.done, false);
    assert.ok((await engine.evaluate('Loaded.')).loss > 0);
});

test('two runs, and two files, that are begun at once come one after the other', async (t) => {
    const engine = await open(t);
    const wanted = [1, 2].map((layers) => engine.train({ corpus, settings: { ...endless, layers } }));
    const [one, two] = (await Promise.all(wanted)) as [Run, Run];
    assert.ok(two.plan.params > one.plan.params);
    assert.equal(await one.done, false);
    await two.stop();
    const file = await two.save();
    const slowly = async function* () {
        for (let at = 0; at < file.length; at += 50_000) yield file.subarray(at, at + 50_000);
    };
    const [whole] = await Promise.allSettled([engine.importModel(slowly(), file.length), engine.importModel(file.subarray(0, 100))]);
    assert.equal(whole.status, 'fulfilled');
});

test('texts that are evaluated at once, and samples, do not mix', async (t) => {
    const engine = await open(t);
    await train(engine, { ...small, steps: 2 });
    const texts = ['one', 'another text '.repeat(300), 'and a third one '.repeat(40)];
    const alone = [];
    for (const text of texts) alone.push(await engine.evaluate(text));
    assert.deepEqual(await Promise.all(texts.map((text) => engine.evaluate(text))), alone);
    const write = async (prompt: string) => (await Array.fromAsync(engine.sample({ prompt, tokens: 400, seed: 1 }))).map(({ id }) => id);
    const each = [await write('A'), await write('z')];
    assert.notDeepEqual(each[0], each[1]);
    assert.deepEqual(await Promise.all([write('A'), write('z')]), each);
});

test('a signal that was given before counts, and one that comes too late harms nothing', async (t) => {
    const engine = await open(t);
    await train(engine, { ...small, steps: 2 });
    const late = new AbortController();
    await engine.evaluate('x'.repeat(50), { signal: late.signal });
    const signal = AbortSignal.abort();
    await assert.rejects(engine.evaluate('x'.repeat(1e6), { signal }), refuses('INTERRUPTED', /cancelled/));
    assert.deepEqual(await Array.fromAsync(engine.sample({ tokens: 1_000_000 }, { signal })), []);
    const waiting = new AbortController();
    const long = engine.evaluate('x'.repeat(3e5));
    const behind = engine.evaluate('x'.repeat(3e5), { signal: waiting.signal });
    waiting.abort();
    await assert.rejects(behind, refuses('INTERRUPTED', /cancelled/));
    await long;
    await engine.close();
    late.abort(); // a rejection that nobody handles would fail this file
    await sleep(20);
});

test('numbers that are none are not taken for settings left out', async (t) => {
    const engine = await open(t);
    for (const [name, value] of Object.entries({ lr: NaN, steps: Infinity, dropout: NaN, seed: NaN }))
        await assert.rejects(planRun({ ...small, [name]: value }), refuses('BAD_INPUT', new RegExp(`^${name} is (NaN|Infinity)`)));
    assert.ok((await planRun({ ...small, seed: 42n as unknown as number })).params > 0);
    await train(engine, { ...small, steps: 2 });
    await assert.rejects(Array.fromAsync(engine.sample({ temperature: NaN })), refuses('BAD_INPUT', /temperature is NaN/));
    const run = await engine.train({ corpus, settings: { ...small, steps: 1 } });
    for (const steps of [NaN, 2.5, Infinity]) await assert.rejects(run.continue(steps), refuses('BAD_INPUT', /must be a whole number/));
    await engine.look('abc');
    for (const layer of [NaN, 0.5, 2 ** 32 + 1, 'x', undefined] as number[]) {
        await assert.rejects(engine.lens(layer), refuses('BAD_INPUT', /layer is .* whole number/));
        await assert.rejects(engine.attention(layer), refuses('BAD_INPUT', /layer is .* whole number/));
    }
    await assert.rejects(engine.lens(0, 1.5), refuses('BAD_INPUT', /top is 1\.5/));
    await assert.rejects(engine.probe(Infinity), refuses('BAD_INPUT', /ms is Infinity/));
    for (const size of [NaN, -1, 1.5]) await assert.rejects(engine.importModel([], size), refuses('BAD_INPUT', /cannot have/));
});

test('what is of another kind is refused with a sentence', async (t) => {
    const engine = whatever(await open(t));
    await train(engine as unknown as Engine, { ...small, steps: 2 });
    for (const text of [undefined, 42, {}, null]) {
        await assert.rejects(engine['evaluate']!(text), refuses('BAD_INPUT', /a string or a Uint8Array/));
        await assert.rejects(engine['look']!(text), refuses('BAD_INPUT', /a string or a Uint8Array/));
    }
    for (const bytes of ['TGPT', null, 5]) await assert.rejects(engine['importModel']!(bytes, 5), refuses('BAD_INPUT', /must be a Uint8Array, or pieces/));
    for (const piece of [null, 'x', new Uint16Array(2)]) await assert.rejects(engine['importModel']!([piece], 5), refuses('BAD_INPUT', /a piece of the file is no Uint8Array/));
    for (const options of [undefined, { settings: null }, {}]) await assert.rejects(engine['train']!(options), refuses('BAD_INPUT', /settings must be an object/));
    await assert.rejects(engine['train']!({ corpus, settings: { lr: () => 1 } }), refuses('BAD_INPUT', /what train was given cannot go/));
    await assert.rejects(engine['odds']!(null), refuses('BAD_INPUT', /Float32Array/));
});

test('an engine that cannot be is refused before it is begun', async () => {
    for (const threads of [0, -1, 1.5, NaN, 10_000]) await assert.rejects(createEngine({ threads }), refuses('BAD_INPUT', /threads is .* 1 to 256/));
    for (const module of ['nope', 'constructor'] as never[]) await assert.rejects(createEngine({ module }), refuses('BAD_INPUT', /no module/));
    for (const fixedBytes of [-1, 65_536, 1e15]) await assert.rejects(createEngine({ fixedBytes }), refuses('NO_MEMORY', /bytes/));
});

test('half a character in a prompt is one that cannot be shown, as everywhere', async (t) => {
    const engine = await open(t);
    await train(engine, { ...small, steps: 2 });
    const write = async (prompt: string) => (await Array.fromAsync(engine.sample({ prompt, tokens: 20 }))).map(({ id }) => id);
    assert.deepEqual(await write('a\ud800b'), await write('a\ufffdb'));
});

test('after it was closed an engine says so, at whatever is asked', async (t) => {
    const engine = await open(t);
    const run = await engine.train({ corpus, settings: endless });
    const writing = engine.sample({ tokens: 1_000_000 });
    await writing.next();
    await engine.close();
    await engine.close();
    const words = /the engine was closed/;
    await assert.rejects(Array.fromAsync(writing), refuses('INTERRUPTED', words));
    for (const work of [() => engine.presets(), () => run.stop(), () => run.save(), () => engine.evaluate('xy'), () => engine.train({ corpus, settings: small })])
        await assert.rejects(work(), refuses('INTERRUPTED', words));
});

test('a damaged file is refused with a sentence wherever it is cut or changed, and the next one is opened', async (t) => {
    const engine = await open(t);
    const { file } = await train(engine, { ...small, layers: 1, dModel: 12, steps: 1 });
    const headerEnd = 12 + new DataView(file.buffer).getUint32(8, true);
    const places = Array.from({ length: 60 }, (_, i) => Math.floor((i * i * file.length) / 3600));
    for (const at of places) {
        await assert.rejects(engine.importModel(file.subarray(0, at)), refuses(at < 12 ? 'BAD_INPUT' : 'CORRUPT', /^[^\n]{10,300}$/), `cut at ${at}`);
        const broken = file.slice();
        broken[at]! ^= 1 << (at % 8);
        const said = await engine.importModel(broken).then(() => '', (error: unknown) => String(error)); // of the header, not every word matters
        assert.match(said, at < headerEnd ? /^(EngineError: [^\n]{10,300})?$/ : /^EngineError: [^\n]{10,300}$/, `changed at ${at}`);
    }
    const huge = file.slice();
    huge.fill(255, 8, 12);
    await assert.rejects(engine.importModel(huge), refuses('UNSUPPORTED', /header_len is 4294967295/));
    const tensors = new TextEncoder().encode('\x3e\0\0\0\0\0\0\0{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}        \0\0\0\0');
    await assert.rejects(engine.importModel(tensors), refuses('BAD_INPUT', /not a \.tinygpt file/));
    assert.equal((await engine.importModel(file)).step, 1);
});
