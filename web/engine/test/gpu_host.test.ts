/** The host's side of a GPU, over one that does as it is told: what a real one seldom does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BROKEN, FAILED, FINE, Gpu, LOST, OUT_OF_MEMORY, READY, WAITING } from '../dist/gpu.js';
import { createEngine, gpuAbilities } from '../dist/index.js';
import { open, refuses, small } from './support.ts';

class OutOfMemory extends Error {}
Object.assign(globalThis, { GPUOutOfMemoryError: OutOfMemory });

/** A GPU with room for so many bytes, whose programs are had when `compile` is called. */
function fake({ room = Infinity, software = false } = {}) {
    const lost = Promise.withResolvers<{ message: string }>();
    const programs: PromiseWithResolvers<object>[] = [];
    let held = 0;
    let scope: Error | null = null;
    const createBuffer = ({ size }: { size: number }) => {
        held += size;
        if (held > room) scope = new OutOfMemory('VK_ERROR_OUT_OF_DEVICE_MEMORY');
        const buffer = { size, destroy: () => void (held -= size), mapAsync: () => Promise.resolve(), getMappedRange: () => new Uint8Array(size).fill(7).buffer };
        return buffer;
    };
    const encoder = { copyBufferToBuffer: () => {}, finish: () => ({}) };
    const device = {
        lost: lost.promise, limits: {}, features: new Set(), addEventListener: () => {}, destroy: () => {},
        createBuffer, pushErrorScope: () => (scope = null), popErrorScope: () => Promise.resolve(scope),
        createBindGroupLayout: () => ({}), createPipelineLayout: () => ({}), createShaderModule: () => ({}), createCommandEncoder: () => encoder,
        createComputePipelineAsync: () => {
            const program = Promise.withResolvers<object>();
            programs.push(program);
            return program.promise;
        },
        queue: { submit: () => {}, onSubmittedWorkDone: () => Promise.resolve() },
    };
    const info = { vendor: 'acme', architecture: 'one', device: '', description: '', isFallbackAdapter: software };
    const adapter = { info, limits: {}, features: new Set(), requestDevice: () => Promise.resolve(device) };
    const api = { requestAdapter: () => Promise.resolve(adapter) } as unknown as GPU;
    return { api, lost, programs, held: () => held };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

test('an allocation that fails is told, and stays', async () => {
    const gpu = await Gpu.open({ api: fake({ room: 1000 }).api });
    gpu.newBuffer(false, 800);
    await gpu.allocated();
    assert.equal(gpu.failure, FINE);
    gpu.newBuffer(false, 800);
    await gpu.allocated();
    assert.equal(gpu.failure, OUT_OF_MEMORY);
    assert.match(gpu.said, /OUT_OF_DEVICE_MEMORY/);
    assert.equal(gpu.beginRead(1, 0, 4), 0, 'nothing is done any more');
});

test('how much memory there is, is found by taking and letting go', async () => {
    const { api, held } = fake({ room: 100_000 });
    const gpu = await Gpu.open({ api });
    assert.equal(await gpu.room(90_000), 90_000);
    assert.equal(gpu.failure, FINE);
    assert.equal(await gpu.room(200_000), 15 * 6400);
    assert.equal(gpu.failure, OUT_OF_MEMORY);
    assert.equal(held(), 0);
});

test('what is freed and read leaves nothing behind', async () => {
    const { api, held } = fake();
    const gpu = await Gpu.open({ api });
    const buffer = gpu.newBuffer(false, 256);
    const read = gpu.beginRead(buffer, 0, 8);
    gpu.submit();
    await settled();
    let got = 0;
    assert.equal(gpu.pollRead(read, (bytes) => (got = bytes[7]!)), READY);
    assert.equal(got, 7);
    assert.deepEqual({ ...gpu.live }, { buffers: 1, bytes: 256 });
    gpu.freeBuffer(buffer);
    assert.deepEqual({ ...gpu.live }, { buffers: 0, bytes: 0 });
    assert.equal(held(), 0);
});

test('a compiler that does not end is given up', async () => {
    const { api, programs } = fake();
    const gpu = await Gpu.open({ api, compileMs: 80 });
    const [first, second] = [gpu.newPipeline('', 'first', 1), gpu.newPipeline('', 'second', 1)];
    programs[0]!.resolve({});
    await settled();
    assert.deepEqual([gpu.pipelineState(first), gpu.pipelineState(second)], [READY, WAITING]);
    for (let i = 0; i < 50 && gpu.failure === FINE; i++) await settled();
    assert.deepEqual([gpu.pipelineState(first), gpu.pipelineState(second)], [READY, FAILED]);
    assert.equal(gpu.failure, BROKEN);
    assert.match(gpu.said, /compiler finished no program/);
});

test('a program on trial may fail, or never end, and the GPU is fine', async () => {
    const { api, programs } = fake();
    const gpu = await Gpu.open({ api, compileMs: 40 });
    const [first, second] = [gpu.newPipeline('', 'first', 1, true), gpu.newPipeline('', 'second', 1, true)];
    programs[0]!.reject(new Error('no'));
    await new Promise((resolve) => setTimeout(resolve, 700));
    assert.deepEqual([gpu.pipelineState(first), gpu.pipelineState(second)], [FAILED, WAITING]);
    assert.equal(gpu.failure, FINE);
    assert.deepEqual({ ...gpu.compiling }, { done: 0, total: 0 });
    gpu.freePipeline(second);
    assert.equal(gpu.pipelineState(second), FAILED, 'it is no more');
    gpu.close();
});

test('a program that is refused fails, unless the GPU was lost', async () => {
    for (const loses of [false, true]) {
        const { api, programs, lost } = fake();
        const gpu = await Gpu.open({ api });
        const program = gpu.newPipeline('', 'main', 1);
        programs[0]!.reject(new Error('no'));
        await settled();
        assert.equal(gpu.pipelineState(program), WAITING);
        if (loses) lost.resolve({ message: 'gone' });
        for (let i = 0; i < 200 && gpu.failure === FINE; i++) await settled();
        assert.equal(gpu.failure, loses ? LOST : BROKEN);
        assert.match(gpu.said, loses ? /gone/ : /main does not compile: no/);
    }
});

test('news come with the loss', async () => {
    const { api, lost } = fake();
    const gpu = await Gpu.open({ api });
    const news = gpu.news();
    lost.resolve({ message: 'A valid external Instance reference no longer exists.' });
    await news;
    assert.equal(gpu.failure, LOST);
    gpu.close();
});

test('an emulated GPU is declined unless it was asked for', async () => {
    await assert.rejects(Gpu.open({ api: fake({ software: true }).api }), refuses('UNSUPPORTED', /only software emulation/));
    const gpu = await Gpu.open({ api: fake({ software: true }).api, software: true });
    assert.equal(gpu.info.software, true);
    assert.equal(gpu.info.adapter, 'acme one');
});

test('without a GPU the processor works, and why is told', async (t) => {
    await assert.rejects(createEngine({ device: 'webgpu', threads: 1 }), refuses('UNSUPPORTED', /no access to a GPU/));
    await assert.rejects(createEngine({ device: 'gpu' as 'cpu' }), refuses('BAD_INPUT', /cpu, webgpu or auto/));
    const engine = await open(t, { device: 'auto', threads: 1 });
    assert.equal(engine.info.device, 'cpu');
    assert.match(engine.info.whyNoGpu!, /no access to a GPU/);
    assert.match((await gpuAbilities()).why, /no access to a GPU/);
    const run = await engine.train({ corpus: 'x'.repeat(4000), settings: { ...small, steps: 1 } });
    assert.equal(await run.done, true);
    assert.deepEqual(await engine.gpuMemory(), { buffers: 0, bytes: 0 });
});
