/** The ladder of kernels: its order and what it leaves out; on the processor in Node, on an emulated GPU in Chromium. Nothing is judged by its speed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError, type Kernel, type Rung, type Timing } from '../dist/index.js';
import { climb } from '../dist/ladder.js';
import { chromium, resultsOf } from './chromium.ts';
import { corpus, open, refuses, small } from './support.ts';

const timing = (seconds: number): Timing => ({ seconds, gflops: 1, blocks: 5, products: 1, shortest: 0.01 });
const whyOf = (rung: Rung | undefined) => (rung && 'why' in rung ? rung.why : '');

async function all<T>(rungs: AsyncIterable<T>): Promise<T[]> {
    const list: T[] = [];
    for await (const rung of rungs) list.push(rung);
    return list;
}

test('sizes come one after another, and what would take too long is left out', async () => {
    const ways: Kernel[] = [{ name: 'slow', device: 'webgpu' }, { name: 'no', device: 'webgpu', lacks: 'wings' }, { name: 'processor', device: 'cpu' }];
    const asked: string[] = [];
    const rungs = await all(
        climb(ways, [1024, 256, 512], (way, size) => {
            asked.push(`${way.name} ${size}`);
            return Promise.resolve(timing(0.01 * (size / 256) ** 3));
        }),
    );
    assert.deepEqual(rungs.map(({ kernel, size }) => `${kernel} ${size}`), [256, 512, 1024].flatMap((size) => ways.map(({ name }) => `${name} ${size}`)));
    assert.equal(whyOf(rungs[1]), 'it needs wings, which this GPU lacks');
    assert.equal(whyOf(rungs[6]), 'a single product would take about 0.64 s');
    assert.deepEqual(asked, ['slow 256', 'processor 256', 'slow 512', 'processor 512', 'processor 1024'], 'the processor may take up to a second');
});

test('a large size is tried small first', async () => {
    const asked: number[] = [];
    const time = (_: Kernel, size: number) => (asked.push(size), Promise.resolve(timing(10)));
    const rungs = await all(climb([{ name: 'slow', device: 'webgpu' }], [4096], time));
    assert.deepEqual(asked, [512]);
    assert.match(whyOf(rungs[0]), /about 5100 s/);
});

test('a kernel that fails is left out from then on, memory that is short for its device; a lost GPU ends it', async () => {
    const ways: Kernel[] = [{ name: 'bad', device: 'webgpu' }, { name: 'good', device: 'webgpu' }, { name: 'processor', device: 'cpu' }];
    const asked: string[] = [];
    const time = ({ name, device }: Kernel, size: number): Promise<Timing> => {
        asked.push(`${name} ${size}`);
        if (name === 'bad') return Promise.reject(new EngineError('INTERNAL', 'it does not compile'));
        if (size === 512 && device === 'webgpu') return Promise.reject(new EngineError('NO_MEMORY', 'no room'));
        return Promise.resolve(timing(0.001));
    };
    const rungs = await all(climb(ways, [256, 512], time));
    assert.deepEqual(rungs.map(whyOf), ['it does not compile', '', '', 'it does not compile', 'no room', '']);
    assert.deepEqual(asked, ['bad 256', 'good 256', 'processor 256', 'good 512', 'processor 512']);
    const lost = climb(ways, [256], () => Promise.reject(new EngineError('LOST', 'gone')));
    await assert.rejects(all(lost), refuses('LOST', /gone/));
});

test('the processor is measured in blocks of ten milliseconds, alone and until it is stopped', async (t) => {
    const engine = await open(t);
    assert.deepEqual(await engine.kernels(), [{ name: 'processor', device: 'cpu' }]);
    const rungs = await all(engine.ladder({ sizes: [48, 32] }));
    assert.deepEqual(rungs.map(({ kernel, size }) => [kernel, size]), [['processor', 32], ['processor', 48]]);
    for (const rung of rungs) {
        assert.ok('gflops' in rung);
        assert.equal(rung.blocks, 5);
        assert.ok(rung.shortest >= 0.01 && rung.products > 1, JSON.stringify(rung));
        assert.ok(Math.abs(rung.gflops - (2 * rung.size ** 3) / rung.seconds / 1e9) < 1e-9);
    }
    for await (const { size } of engine.ladder()) {
        assert.equal(size, 256);
        break;
    }
    const aborted = new AbortController();
    const seen: Rung[] = [];
    for await (const rung of engine.ladder({}, { signal: aborted.signal })) {
        seen.push(rung);
        aborted.abort();
    }
    assert.equal(seen.length, 1, 'it ends quietly');
    await assert.rejects(all(engine.ladder({ sizes: [0] })), refuses('BAD_INPUT', /a size is 0/));
    const odd = [undefined, null, '32', NaN, 32.5, -1, 2 ** 14 + 1, 2 ** 40, 32n, [32]] as number[];
    for (const size of odd) await assert.rejects(all(engine.ladder({ sizes: [32, size] })), refuses('BAD_INPUT', /a size is /));
    await assert.rejects(all(engine.ladder({ sizes: 5 as unknown as number[] })), refuses('BAD_INPUT', /must be lists/));
    await assert.rejects(all(engine.ladder({ kernels: [undefined] as unknown as string[] })), refuses('BAD_INPUT', /no kernel 'undefined' here/));
    await assert.rejects(all(engine.ladder({ kernels: ['naive'] })), refuses('BAD_INPUT', /no kernel 'naive' here; there are processor/));
});

test('it is refused beside a run, and ends when one takes the engine, also while it waits for its turn', async (t) => {
    const engine = await open(t);
    const climbing = [0, 1].map(() => all(engine.ladder({ sizes: [256, 512, 1024] })));
    for (const climb of climbing) climb.catch(() => undefined);
    const run = await engine.train({ corpus, settings: { ...small, steps: 3 } });
    for (const climb of climbing) await assert.rejects(climb, refuses('INTERRUPTED', /a run or a model took the engine/));
    await assert.rejects(all(engine.ladder()), refuses('BAD_INPUT', /measure with an engine of its own/));
    assert.equal(await run.done, true);
});

/** An emulated GPU has no units for matrices. */
const LACKING = 'subgroup matrix, f16';
const script = `
const LACKING = '${LACKING}';
import { createEngine } from './dist/index.js';
const result = {};
try {
    const engine = await createEngine({ threads: 1, device: 'webgpu', softwareGpu: true });
    result.info = engine.info;
    result.kernels = await engine.kernels();
    result.before = await engine.gpuMemory();
    result.rungs = [];
    for await (const rung of engine.ladder({ sizes: [32, 48], kernels: ['naive', 'processor', LACKING] })) result.rungs.push(rung);
    for await (const _ of engine.ladder({ kernels: ['naive'], sizes: [32, 64] })) break;
    result.after = await engine.gpuMemory();
    const run = await engine.train({ corpus: 'x'.repeat(4000), settings: { layers: 1, dModel: 16, heads: 1, ctx: 8, batch: 2, steps: 2 } });
    result.over = await run.done;
    await engine.close();
} catch (error) { result.error = String(error?.stack ?? error); }
await fetch('./result', { method: 'POST', body: JSON.stringify(result) });
`;

interface Outcome {
    error?: string;
    info: { gpu: Record<string, unknown> };
    kernels: Kernel[];
    rungs: Rung[];
    before: object;
    after: object;
    over: boolean;
}

test('a GPU’s kernels are measured beside the processor; one that it cannot run says why', { skip: chromium ? false : 'no Chromium here' }, async (t) => {
    const [result] = (await resultsOf(t, script, 1, 120, { gpu: true })) as [Outcome];
    assert.equal(result.error, undefined);
    assert.equal(typeof result.info.gpu['subgroupMatrix'], 'boolean');
    assert.deepEqual(result.kernels[0], { name: 'naive', device: 'webgpu' });
    assert.deepEqual(result.kernels.at(-1), { name: 'processor', device: 'cpu' });
    const lacking = result.kernels.find(({ name }) => name === LACKING)!;
    assert.equal(lacking.lacks, 'subgroup matrices of f16');
    assert.equal(result.rungs.length, 6);
    for (const rung of result.rungs) {
        if (rung.kernel === LACKING) assert.equal(whyOf(rung), 'it needs subgroup matrices of f16, which this GPU lacks');
        else assert.ok('gflops' in rung && rung.blocks === 5 && rung.shortest >= 0.01 && rung.gflops > 0, JSON.stringify(rung));
    }
    assert.deepEqual(result.after, result.before, 'what it was measured on is let go');
    assert.equal(result.over, true);
});
