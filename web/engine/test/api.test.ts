/** Runs, files, samples and looks: what the API promises, and what it says to bad input. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    chooseModule,
    FileParts,
    hostAbilities,
    listPresets,
    planRun,
    refuseThreads,
    type FileChunk,
    type RunEvent,
} from '../dist/index.js';
import { corpus, lossesOf, open, parts, refuses, small, train } from './support.ts';

test('a module is chosen and said why', async (t) => {
    const engine = await open(t, { module: undefined! });
    assert.equal(engine.info.module, 'wasm32-relaxed');
    assert.equal(engine.info.addressBits, 32);
    assert.equal(chooseModule({ strict: true }).module, 'wasm32-threads');
    const large = chooseModule({ needBytes: 6e9 });
    assert.equal(large.module, 'wasm64-relaxed');
    assert.match(large.reasons.join(), /6\.0 GB/);
    assert.throws(() => chooseModule({ needBytes: 40e9 }), refuses('NO_MEMORY', /40\.0 GB/));
});

test('plans: parameters and bytes of every preset, nothing allocated', async (t) => {
    const presets = await listPresets();
    assert.equal(presets.find((p) => p.name === 'behemoth')?.params, 473_244_160);
    const plan = await planRun({ preset: 'behemoth' });
    assert.equal(plan.params, 473_244_160);
    assert.equal(plan.fits, false);
    assert.ok(plan.bytes > 7.5e9 && plan.bytes < 12e9);
    const shape = presets.find((p) => p.name === 'behemoth')!;
    assert.equal(plan.cacheBytes, 2 * 4 * shape.layers * shape.ctx * shape.dModel);
    const xl = { preset: 'xl', batch: 64 };
    const { bytes, arenas, refusal } = await planRun(xl);
    assert.equal(refusal, undefined);
    const tight = { ...xl, memoryBytes: Math.floor(0.7 * bytes) };
    const advice = (await planRun(tight)).refusal!;
    assert.match(advice, /^the run needs [\d.]+ [MG]B of memory and [\d.]+ [MG]B are available: --batch \d+ would fit \(/);
    const batch = Number(/--batch (\d+)/.exec(advice)![1]);
    assert.ok(batch >= 32 && batch < 64);
    assert.equal((await planRun({ ...tight, batch })).refusal, undefined);
    assert.match((await planRun({ ...tight, batch: batch + 1 })).refusal!, /--batch/);
    assert.match((await planRun({ ...xl, gpuBufferBytes: arenas.step / 2 })).refusal!, /needs a buffer of .*: --batch \d+ would fit/);
    assert.match((await planRun({ ...xl, gpuBindingBytes: 2 ** 20 })).refusal!, /needs a tensor of .*: --batch \d+ would fit/);
    const engine = await open(t);
    const before = await engine.memoryBytes();
    assert.ok((await engine.plan({ preset: 'xl' })).fits);
    assert.equal(await engine.memoryBytes(), before);
    await assert.rejects(engine.train({ corpus, settings: { preset: 'behemoth' } }), refuses('NO_MEMORY', /of memory.*32-bit.*64-bit module/));
    assert.equal((await train(engine, { ...small, steps: 1 })).losses.length, 1);
});

test('memory does not grow while it trains', async (t) => {
    const engine = await open(t);
    const run = await engine.train({ corpus, settings: { ...small, steps: 30, evalEvery: 10, sampleEvery: 10, saveEvery: 10, sampleTokens: 20 } });
    const before = await engine.memoryBytes();
    await run.done;
    assert.equal(await engine.memoryBytes(), before);
});

test('a memory of fixed size is enough when it is as large as the plan', async (t) => {
    const plan = await planRun({ ...small, corpusBytes: corpus.length });
    const engine = await open(t, { fixedBytes: plan.bytes });
    const before = await engine.memoryBytes();
    assert.equal((await train(engine, { ...small, steps: 3 })).losses.length, 3);
    assert.equal(await engine.memoryBytes(), before);
});

test('pause, resume, stop and continue keep the curve', async (t) => {
    const engine = await open(t);
    const settings = { ...small, steps: 40, readEvery: 3 };
    const want = await train(engine, settings);
    const events: RunEvent[] = [];
    const run = await engine.train({ corpus, settings, onEvent: (event) => events.push(event) });
    await run.pause();
    const count = events.length;
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(events.length, count, 'it went on although it was paused');
    run.resume();
    await run.stop();
    const stopped = lossesOf(events).length;
    assert.ok(stopped < 40);
    await run.continue(40);
    assert.equal(await run.done, true);
    assert.deepEqual(lossesOf(events), want.losses);
    assert.ok(Buffer.from(parts(await run.save()).body).equals(parts(want.file).body));
    await assert.rejects(run.continue(40), refuses('BAD_INPUT', /40 steps, but 40 are done/));
});

test('a corpus in pieces gives the same run', async (t) => {
    const engine = await open(t);
    const settings = { ...small, steps: 3 };
    const want = await train(engine, settings);
    const bytes = typeof corpus === 'string' ? new TextEncoder().encode(corpus) : corpus;
    const pieces = [bytes.subarray(0, 1001), bytes.subarray(1001)];
    const events: RunEvent[] = [];
    const run = await engine.train({ corpus: pieces, corpusSize: bytes.length, settings, onEvent: (event) => events.push(event) });
    await run.done;
    assert.deepEqual(lossesOf(events), want.losses);
    await assert.rejects(engine.train({ corpus: pieces, settings }), refuses('BAD_INPUT', /how large the corpus is/));
});

test('checkpoints come in pieces, and a run can be saved while it works', async (t) => {
    const engine = await open(t);
    const chunks: FileChunk[] = [];
    const events: RunEvent[] = [];
    const run = await engine.train({
        corpus,
        settings: { ...small, steps: 60 },
        onEvent: (event) => events.push(event),
        onChunk: (chunk) => chunks.push(chunk),
    });
    const early = await run.save();
    await run.done;
    const whole = new FileParts();
    for (const chunk of chunks) whole.add(chunk);
    assert.ok(chunks.length > 4);
    assert.ok(Buffer.from(parts(whole.bytes()).body).equals(parts(await run.save()).body));
    const info = await engine.importModel(early);
    assert.ok(info.step < 60);
    assert.equal(info.dtype, 'f32');
});

test('a run can begin paused, and is saved in pieces at a step that is told', async (t) => {
    const engine = await open(t);
    const events: RunEvent[] = [];
    const run = await engine.train({ corpus, settings: { ...small, steps: 5 }, onEvent: (event) => events.push(event), paused: true });
    const whole = new FileParts();
    assert.equal(await run.saveTo((chunk) => whole.add(chunk)), 0);
    assert.equal(await run.done, false);
    assert.deepEqual(lossesOf(events), []);
    assert.equal((await engine.importModel(whole.bytes())).step, 0);
    run.resume();
    assert.equal(await run.done, true);
    assert.equal(lossesOf(events).length, 5);
    assert.equal(await run.saveTo(() => undefined), 5);
});

test('weights in f16 and int8 need a GPU, and f32 is what a run has', async (t) => {
    const engine = await open(t);
    const { file } = await train(engine, { ...small, steps: 2 });
    await engine.importModel(file);
    for (const weights of ['f16', 'int8'] as const)
        await assert.rejects(engine.load({ weights }), refuses('UNSUPPORTED', new RegExp(`no kernels for weights in ${weights}`)));
    await assert.rejects(engine.load({ weights: 'int4' as 'int8' }), refuses('BAD_INPUT', /f32, f16 or int8/));
    await assert.rejects(engine.train({ corpus, settings: { ...small, weights: 'f16' } as object }), refuses('BAD_INPUT', /f32 while they are trained/));
    await engine.load({ weights: 'f32' });
    assert.ok((await engine.evaluate('Call me Ishmael.')).loss > 0);
});

test('a file comes in pieces too', async (t) => {
    const engine = await open(t);
    const { file } = await train(engine, { ...small, steps: 2 });
    const other = await open(t, { module: 'wasm32' });
    const pieces = Array.from({ length: Math.ceil(file.length / 10_000) }, (_, i) => file.subarray(i * 10_000, (i + 1) * 10_000));
    const info = await other.importModel(pieces, file.length);
    assert.equal(info.step, 2);
    assert.equal(info.header['version'] ?? 2, 2);
    await other.load();
    assert.ok((await other.evaluate('Call me Ishmael.')).loss > 0);
    await assert.rejects(other.importModel(pieces), refuses('BAD_INPUT', /how large/));
    await assert.rejects(other.importModel(pieces.slice(1), file.length), refuses('BAD_INPUT', /announced/));
});

test('sampling streams, tells probabilities, and can be broken off', async (t) => {
    const engine = await open(t);
    await train(engine, { ...small, steps: 2 });
    let text = '';
    let n = 0;
    for await (const token of engine.sample({ prompt: 'A', tokens: 30, top: 5, temperature: 0 })) {
        n++;
        text += token.text;
        assert.equal(token.top?.length, 5);
        assert.equal(token.top![0]!.id, token.id);
        assert.equal(token.top![0]!.p, token.p);
        assert.ok(token.top!.every((l, i) => i === 0 || l.p <= token.top![i - 1]!.p));
    }
    assert.equal(n, 30);
    assert.ok(text.length > 0);
    for await (const token of engine.sample({ tokens: 1_000_000 })) {
        void token;
        break;
    }
    const stop = new AbortController();
    n = 0;
    for await (const token of engine.sample({ tokens: 1_000_000 }, { signal: stop.signal })) {
        void token;
        if (++n === 10) stop.abort();
        if (n > 1000) break;
    }
    assert.ok(n >= 10 && n <= 1000, `${n} tokens after it was aborted`);
    assert.ok((await engine.evaluate('And it still answers.')).loss > 0);
});

test('logits come with a sample, and the odds of any dials from them without another forward pass', async (t) => {
    const engine = await open(t);
    await train(engine, { ...small, steps: 20 });
    const tokens = await Array.fromAsync(engine.sample({ prompt: 'Call', tokens: 40, top: 64, logits: true }));
    for (const { logits, top } of tokens) {
        assert.equal(logits?.length, 256);
        const plain = await engine.odds(logits!);
        assert.equal(plain.length, 256);
        assert.deepEqual(plain.slice(0, 64).map(({ id }) => id), top!.map(({ id }) => id));
        assert.ok(plain.slice(0, 64).every(({ p }, i) => Math.abs(p - top![i]!.p) < 1e-9));
    }
    const { logits } = tokens[39]!;
    const few = await engine.odds(logits!, { temperature: 0.5, topK: 3 });
    assert.equal(few.length, 3);
    assert.ok(Math.abs(few.reduce((sum, { p }) => sum + p, 0) - 1) < 1e-12);
    const plain = await engine.odds(logits!);
    assert.ok(Math.abs(few[0]!.p / few[1]!.p - (plain[0]!.p / plain[1]!.p) ** 2) < 1e-6);
    assert.equal((await engine.odds(logits!, { minP: 1 })).length, 1);
    assert.equal((await engine.odds(logits!, { temperature: 0 }))[0]!.p, 1);
    await assert.rejects(engine.odds(logits!, { topP: 2 }), refuses('BAD_INPUT', /top-p is 2/));
    await assert.rejects(engine.odds(new Float32Array(0)), refuses('BAD_INPUT', /list of numbers/));
    await assert.rejects(engine.odds(new Float32Array([NaN, NaN])), refuses('BAD_INPUT', /list of numbers/));
});

test('a run goes on from a file with half the learning rate, and its files remember', async (t) => {
    const engine = await open(t);
    const settings = { ...small, steps: 100_000, schedule: 'constant', warmup: 0, lr: 0.002 } as const; // never done before it is stopped
    let run = await engine.train({ corpus, settings });
    for (const want of [0.001, 0.0005]) {
        await run.stop();
        await engine.importModel(await run.save());
        const rates: number[] = [];
        const { promise, resolve } = Promise.withResolvers<void>();
        const onEvent = (event: RunEvent) => {
            if (event.type === 'step') resolve(void rates.push(event.lr));
        };
        run = await engine.train({ corpus, settings: { ...settings, resume: true, halveLr: true }, onEvent });
        await promise;
        assert.ok(rates.every((lr) => Math.abs(lr - want) < 1e-9), `rates are ${rates}, not ${want}`);
    }
});

test('a run that is paused while it saves can be saved', { timeout: 60_000 }, async (t) => {
    const engine = await open(t);
    const settings = { ...small, dModel: 480, ctx: 8, batch: 1, steps: 4, saveEvery: 2 }; // a file of 67 MB takes some slices
    for (let i = 0; i < 3; i++) {
        let pausing: Promise<void> | undefined;
        const onEvent = (event: RunEvent) => void (event.type === 'saving' && (pausing ??= run.pause()));
        const run = await engine.train({ corpus, settings, onEvent });
        await run.done;
        await pausing;
        assert.ok((await run.save()).length > 1e6);
    }
});

test('threads can be refused', () => {
    refuseThreads('the page was asked to');
    assert.equal(chooseModule().module, 'wasm32');
    assert.equal(hostAbilities().unshared, 'the page was asked to');
    refuseThreads('');
    assert.equal(chooseModule().module, 'wasm32-relaxed');
});

test('looking inside: attention is causal, the last lens is what sampling draws from', async (t) => {
    const engine = await open(t);
    await train(engine, { ...small, steps: 3 });
    const look = await engine.look('Call me');
    assert.deepEqual(look.tokens.map((token) => token.text).join(''), 'Call me');
    const T = 7;
    for (let layer = 0; layer < look.layers; layer++) {
        const weights = await engine.attention(layer);
        assert.equal(weights.length, look.heads * T * T);
        for (let row = 0; row < look.heads * T; row++) {
            const of = weights.subarray(row * T, row * T + T);
            assert.ok(Math.abs(of.reduce((a, b) => a + b) - 1) < 1e-5);
            assert.ok(of.subarray((row % T) + 1).every((w) => w === 0));
        }
    }
    const { values, top } = await engine.lens(look.layers, 3);
    assert.equal(values.length, T * look.vocab);
    const [next] = await Array.fromAsync(engine.sample({ prompt: 'Call me', tokens: 1, temperature: 0, top: 3 }));
    assert.deepEqual(top![T - 1]!.map((l) => l.id), next!.top!.map((l) => l.id));
    assert.ok(Math.abs(top![T - 1]![0]!.p - next!.p) < 1e-6);
    const both = await Promise.all([engine.lens(0), engine.attention(1), engine.lens(1)]);
    assert.deepEqual(both.map((b) => (b instanceof Float32Array ? b.length : b.values.length)), [T * 256, 3 * T * T, T * 256]);
});

test('bad input gets one sentence and harms nothing', async (t) => {
    const engine = await open(t);
    await assert.rejects(engine.train({ settings: small }), refuses('BAD_INPUT', /give a corpus/));
    await assert.rejects(engine.evaluate('x'), refuses('BAD_INPUT', /train one or load a file/));
    await assert.rejects(engine.train({ corpus: 'short', settings: small }), refuses('BAD_INPUT', /5 bytes/));
    const bad = [
        [{ ...small, lr: 'high' }, /lr must be a number/],
        [{ ...small, colour: 1 }, /no setting 'colour'/],
        [{ ...small, heads: 5 }, /not a multiple of heads/],
        [{ preset: 'enormous' }, /no preset 'enormous'/],
        [{ ...small, steps: 0 }, /steps is 0/],
        [{ ...small, seed: '18446744073709551616' }, /seed must be/],
        [{ ...small, resume: true }, /open a file first/],
    ] as const;
    for (const [settings, words] of bad)
        await assert.rejects(engine.train({ corpus, settings: settings as object }), refuses('BAD_INPUT', words));
    await assert.rejects(engine.importModel(new Uint8Array(100)), refuses('BAD_INPUT', /not a \.tinygpt/));
    const { file } = await train(engine, { ...small, steps: 2, seed: '18446744073709551615' });
    const broken = file.slice();
    broken[broken.length - 5]! ^= 1;
    await assert.rejects(engine.importModel(broken), refuses('CORRUPT', /checksum|crc/i));
    await assert.rejects(engine.importModel(file.subarray(0, file.length - 1)), refuses('CORRUPT', /bytes/));
    await assert.rejects(engine.look('longer than the context of this model'), refuses('BAD_INPUT', /1 to 24/));
    await assert.rejects(engine.lens(9), refuses('BAD_INPUT', /run a text first/));
    assert.ok((await engine.evaluate('Still there.')).loss > 0);
});

test('a run that diverges says where, after what it did', async (t) => {
    const engine = await open(t);
    const events: RunEvent[] = [];
    const run = await engine.train({ corpus, settings: { ...small, steps: 200, lr: 900, clip: 0 }, onEvent: (event) => events.push(event) });
    await assert.rejects(run.done, refuses('DIVERGED', /first bad tensor/));
    assert.ok(lossesOf(events).length > 0);
    assert.ok((await engine.probe(20, 64)).gflops > 0);
});
