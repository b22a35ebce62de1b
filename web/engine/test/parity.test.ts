/** The same C gives the same numbers: module beside module, and beside the native program. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { createEngine, type ModuleName } from '../dist/index.js';
import { corpus, folder, lossesOf, native, nativeRun, parts, small, smallFlags, train } from './support.ts';

const strict: ModuleName[] = ['wasm32', 'wasm32-threads', 'wasm64-threads'];

test('strict modules write the file that the native program writes, byte for byte', async () => {
    const want = nativeRun(...smallFlags, '--steps', '12', '--isa', 'base', '--lr', '0.002');
    for (const module of strict) {
        const engine = await createEngine({ module, threads: 2 });
        assert.equal(engine.info.isa, 'wasm');
        const got = await train(engine, { ...small, steps: 12, lr: 0.002 });
        await engine.close();
        assert.equal(got.losses.length, 12);
        assert.ok(Buffer.from(parts(got.file).body).equals(parts(want.bytes).body), `${module}: the bodies differ`);
        assert.deepEqual(parts(got.file).header, parts(want.bytes).header);
    }
});

test('relaxed modules stay within 1e-6 of the native program for 50 steps', async () => {
    const want = nativeRun(...smallFlags, '--steps', '50', '--lr', '0.0003');
    for (const module of ['wasm32-relaxed', 'wasm64-relaxed'] as const) {
        const engine = await createEngine({ module, threads: 2 });
        assert.equal(engine.info.isa, 'wasm-relaxed');
        const { losses } = await train(engine, { ...small, steps: 50, lr: 0.0003 });
        await engine.close();
        const worst = Math.max(...losses.map((loss, i) => Math.abs(loss / want.losses[i]! - 1)));
        assert.equal(losses.length, 50);
        assert.ok(worst < 1e-6, `${module}: ${worst}`);
    }
});

test('a native file goes on in a module along the curve it would have had', async () => {
    const flags = [...smallFlags, '--isa', 'base'];
    const half = nativeRun(...flags, '--steps', '6');
    const engine = await createEngine({ module: 'wasm32-threads', threads: 2 });
    const whole = await train(engine, { ...small, steps: 12 });
    const info = await engine.importModel(half.bytes);
    assert.equal(info.step, 6);
    assert.equal(info.dModel, 36);
    const rest = await train(engine, { batch: small.batch, steps: 12, resume: true });
    assert.deepEqual(rest.losses, whole.losses.slice(6));
    assert.ok(Buffer.from(parts(rest.file).body).equals(parts(whole.file).body));
    await engine.close();
});

test("a module's file is read by the native program, which scores and continues it alike", async () => {
    const engine = await createEngine({ module: 'wasm32' });
    const { file } = await train(engine, { ...small, steps: 8, lr: 0.003 });
    const path = join(folder, 'from-wasm.tinygpt');
    writeFileSync(path, file);
    const text = corpus.subarray(0, 500);
    writeFileSync(join(folder, 'text.txt'), text);
    const want = JSON.parse(native('eval', path, '--corpus', join(folder, 'text.txt'), '--isa', 'base', '--json')) as Record<string, number>;
    const got = await engine.evaluate(text);
    assert.equal(got.loss, want['loss']);
    assert.equal(got.tokens, 499);
    const greedy = native('sample', path, '--prompt', 'Call me ', '--max-tokens', '40', '--temperature', '0', '--isa', 'base');
    const wild = native('sample', path, '--prompt', 'Call me ', '--max-tokens', '40', '--top-k', '20', '--seed', '9', '--isa', 'base');
    const sampled = async (settings: object) => {
        const ids: number[] = [];
        for await (const token of engine.sample({ prompt: 'Call me ', tokens: 40, ...settings })) ids.push(token.id);
        return Buffer.from(ids).toString('latin1');
    };
    assert.equal(await sampled({ temperature: 0 }), greedy);
    assert.equal(await sampled({ topK: 20, seed: 9 }), wild);
    await engine.close();
});

test('evaluating, sampling, looking and saving change nothing', async () => {
    const engine = await createEngine({ module: 'wasm32-threads', threads: 2 });
    const settings = { ...small, steps: 10 };
    const want = await train(engine, settings);
    const events: Parameters<typeof lossesOf>[0] = [];
    const run = await engine.train({ corpus, settings, onEvent: (event) => events.push(event) });
    await run.pause();
    for (let i = 0; i < 2; i++) {
        await engine.evaluate('It was the best of times.');
        for await (const token of engine.sample({ tokens: 30, seed: i })) void token;
        await engine.look('Call me');
        await engine.attention(1);
        await engine.lens(0);
        await run.save();
    }
    run.resume();
    await run.done;
    assert.deepEqual(lossesOf(events), want.losses);
    assert.ok(Buffer.from(parts(await run.save()).body).equals(parts(want.file).body));
    await engine.close();
});

test('the weights as .safetensors, byte for byte as the native program converts them', async (t) => {
    const { path, bytes } = nativeRun(...smallFlags, '--steps', '3');
    const out = join(folder, 'weights.safetensors');
    native('convert', path, out);
    const engine = await createEngine({ module: 'wasm32' });
    t.after(() => engine.close());
    await assert.rejects(engine.safetensors(), /open a file first/);
    await engine.importModel(bytes);
    assert.ok(Buffer.from(await engine.safetensors()).equals(readFileSync(out)));
});

test("a file tells the settings of its run, with which it goes on along the native program's curve", async (t) => {
    const flags = ['--lr', '0.004', '--warmup', '3', '--schedule', 'wsd', '--dropout', '0.2', '--seed', '18446744073709551615', '--accum', '2'];
    const want = nativeRun(...smallFlags, ...flags, '--steps', '10', '--isa', 'base', '--save-every', '4', '--keep', '0');
    const early = readFileSync(join(dirname(want.path), 'checkpoints', 'step-00000004', 'model.tinygpt'));
    const engine = await createEngine({ module: 'wasm32-threads', threads: 2 });
    t.after(() => engine.close());
    const { run, step } = await engine.importModel(early);
    assert.deepEqual([step, run.steps, run.batch, run.accum, run.lr, run.warmup, run.schedule, run.dropout, run.seed], [4, 10, 6, 2, 0.004, 3, 'wsd', 0.2, '18446744073709551615']);
    const rest = await train(engine, { ...run, resume: true });
    // The native log writes nine digits.
    assert.deepEqual(rest.losses.map((loss) => Number(loss.toPrecision(9))), want.losses.slice(4));
});

test('threads change nothing', async () => {
    const files: Uint8Array[] = [];
    for (const threads of [1, 3]) {
        const engine = await createEngine({ module: 'wasm32-relaxed', threads });
        assert.equal(engine.info.threads, threads);
        files.push(parts((await train(engine, { ...small, steps: 6 })).file).body);
        await engine.close();
    }
    assert.ok(Buffer.from(files[0]!).equals(files[1]!));
});

