/** A GPU through the browser's WebGPU, as the C asks for it (src/device/webgpu/host.h): what it is, what went wrong with it, and
 * its buffers, programs and commands. gpu_imports.ts brings the calls here. Nothing waits; `news` tells when to look again. */
import { platform } from '#platform';
import { EngineError, type GpuInfo } from './types.js';

/** As in host.h. */
export const FINE = 0;
export const LOST = 1;
export const OUT_OF_MEMORY = 2;
export const BROKEN = 3;
export const WAITING = 0;
export const READY = 1;
export const FAILED = 2;

/** As WebGPU numbers them. */
const USAGE = { MAP_READ: 0x1, COPY_SRC: 0x4, COPY_DST: 0x8, UNIFORM: 0x40, STORAGE: 0x80 };
const COMPUTE = 0x4;
const READ = 0x1;
/** Of a uniform: what one dispatch is told. */
const UNIFORM_SLOT = 256;
const OPEN_MS = 20_000;
/** A compiler that finishes nothing for so long has failed. */
const COMPILE_MS = 60_000;
/** In which it is found out how much memory there is. */
const ROOM_PIECES = 32;
/** A refusal may be the first sign of a loss, which is told a moment later. */
const LOSS_MS = 500;
/** An event may have come unnoticed: look again after so long. */
const NEWS_MS = 50;

const EMULATORS = /swiftshader|llvmpipe|lavapipe|basic render|software/i;
const SUBGROUP_MATRIX = 'chromium-experimental-subgroup-matrix';
const FEATURES = ['shader-f16', 'subgroups', 'timestamp-query', SUBGROUP_MATRIX];
const LIMITS = [
    'maxStorageBufferBindingSize', 'maxBufferSize', 'maxStorageBuffersPerShaderStage', 'maxComputeWorkgroupStorageSize',
    'maxComputeInvocationsPerWorkgroup', 'maxComputeWorkgroupSizeX', 'maxComputeWorkgroupSizeY', 'maxComputeWorkgroupSizeZ',
] as const;

const noGpu = 'This browser gives no access to a GPU here.';
const onlyEmulated = 'There is only software emulation of a GPU here, which is slower than the processor itself.';

/** Things by number, from 1; 0 is none. */
class Table<T> {
    private readonly items: (T | undefined)[] = [undefined];
    private readonly free: number[] = [];

    add(item: T): number {
        const at = this.free.pop() ?? this.items.length;
        this.items[at] = item;
        return at;
    }

    get(at: number): T | undefined {
        return this.items[at];
    }

    take(at: number): T | undefined {
        const item = this.items[at];
        if (item === undefined) return undefined;
        this.items[at] = undefined;
        this.free.push(at);
        return item;
    }

    *[Symbol.iterator](): Generator<T> {
        for (const item of this.items) if (item !== undefined) yield item;
    }
}

interface Pipeline {
    state: number;
    object?: GPUComputePipeline;
}

interface Reading {
    buffer: GPUBuffer;
    state: number;
    mapping: boolean;
}

export interface Range {
    buffer: number;
    offset: number;
    bytes: number;
}

export interface OpenGpuOptions {
    /** An emulated one will do. */
    software?: boolean;
    /** For tests: instead of the browser's. */
    api?: GPU;
    compileMs?: number;
}

function within<T>(work: Promise<T>, words: string): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error(words)), OPEN_MS);
    return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

/** What the browser says of its GPU, without opening it. Throws, in words, where there is none. */
async function findAdapter(api: GPU | undefined): Promise<GPUAdapter> {
    if (!api) throw new EngineError('UNSUPPORTED', noGpu);
    const adapter = await within(api.requestAdapter({ powerPreference: 'high-performance' }), 'it does not answer').catch((error: Error) => {
        throw new EngineError('UNSUPPORTED', `${noGpu} (${error.message})`);
    });
    if (!adapter) throw new EngineError('UNSUPPORTED', noGpu);
    return adapter;
}

function infoOf(adapter: GPUAdapter): GpuInfo {
    const { vendor, architecture, device, description, isFallbackAdapter } = adapter.info;
    const { limits, features } = adapter;
    const name = description || [vendor, architecture, device].filter(Boolean).join(' ') || 'unnamed';
    return {
        adapter: name,
        software: (isFallbackAdapter ?? false) || EMULATORS.test(`${name} ${architecture} ${device}`),
        f16: features.has('shader-f16'),
        subgroups: features.has('subgroups'),
        subgroupMatrix: (features as ReadonlySet<string>).has(SUBGROUP_MATRIX),
        timestamps: features.has('timestamp-query'),
        bufferBytes: limits.maxBufferSize,
        bindingBytes: limits.maxStorageBufferBindingSize,
        workgroupBytes: limits.maxComputeWorkgroupStorageSize,
        invocations: limits.maxComputeInvocationsPerWorkgroup,
    };
}

/** The GPU that would be used here, or why none would. */
export async function gpuAbilities(): Promise<{ gpu?: GpuInfo; why: string }> {
    try {
        const gpu = infoOf(await findAdapter(globalThis.navigator?.gpu));
        return { gpu, why: gpu.software ? onlyEmulated : '' };
    } catch (error) {
        return { why: (error as Error).message };
    }
}

export class Gpu {
    readonly info: GpuInfo;
    readonly device: GPUDevice;
    failure = FINE;
    said = '';
    /** Programs that were asked for, and how many of them are had. */
    readonly compiling = { done: 0, total: 0 };
    readonly live = { buffers: 0, bytes: 0 };
    submitted = 0;
    done = 0;
    /** What `remember` got on an earlier day. */
    remembered = '';
    private readonly compileMs: number;
    private compiledAt = 0;
    private compileTimer: ReturnType<typeof setTimeout> | undefined;
    private readonly buffers = new Table<GPUBuffer>();
    private readonly pipelines = new Table<Pipeline>();
    private readonly groups = new Table<GPUBindGroup>();
    private readonly readings = new Table<Reading>();
    private readonly layouts: { group: GPUBindGroupLayout; pipeline: GPUPipelineLayout }[] = [];
    private readonly dynamicOffset = new Uint32Array(1);
    private encoder: GPUCommandEncoder | undefined;
    private pass: GPUComputePassEncoder | undefined;
    private allocations: Promise<void>[] = [];
    private listeners: (() => void)[] = [];
    private closed = false;

    static async open({ software = false, api = globalThis.navigator?.gpu, compileMs = COMPILE_MS }: OpenGpuOptions = {}): Promise<Gpu> {
        const adapter = await findAdapter(api);
        const info = infoOf(adapter);
        if (info.software && !software) throw new EngineError('UNSUPPORTED', onlyEmulated);
        const requiredFeatures = FEATURES.filter((name) => adapter.features.has(name)) as GPUFeatureName[];
        const requiredLimits = Object.fromEntries(LIMITS.map((name) => [name, adapter.limits[name]]));
        const device = await within(adapter.requestDevice({ requiredFeatures, requiredLimits }), 'it does not answer').catch((error: Error) => {
            throw new EngineError('UNSUPPORTED', `The GPU cannot be opened: ${error.message}`);
        });
        const gpu = new Gpu(device, info, compileMs);
        gpu.remembered = await platform.recall();
        return gpu;
    }

    private constructor(device: GPUDevice, info: GpuInfo, compileMs: number) {
        this.device = device;
        this.info = info;
        this.compileMs = compileMs;
        void device.lost.then(({ message }) => this.fail(LOST, message || 'no reason was given'));
        device.addEventListener('uncapturederror', (event) => {
            const { error } = event as GPUUncapturedErrorEvent;
            this.fail(error instanceof GPUOutOfMemoryError ? OUT_OF_MEMORY : BROKEN, error.message);
        });
    }

    close(): void {
        this.closed = true;
        clearTimeout(this.compileTimer);
        for (const buffer of this.buffers) this.drop(buffer);
        for (const { buffer } of this.readings) this.drop(buffer);
        this.device.destroy();
        this.tell();
    }

    /* ---- what happened ---- */

    /** The first failure stays, but that a loss explains what was refused before. */
    private fail(kind: number, words: string): void {
        if (this.closed || (this.failure !== FINE && !(kind === LOST && this.failure === BROKEN))) return;
        this.failure = kind;
        this.said = words.replaceAll('\n', ' ').trim();
        this.tell();
    }

    private refused(words: string, after = () => {}): void {
        setTimeout(() => {
            this.fail(BROKEN, words);
            after();
        }, LOSS_MS);
    }

    private tell(): void {
        for (const listener of this.listeners.splice(0)) listener();
    }

    /** Settles when something has happened, or after a moment. */
    async news(): Promise<void> {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, NEWS_MS);
        const nudge = this.nudge();
        this.listeners.push(resolve);
        await promise;
        clearTimeout(timer);
        clearInterval(nudge);
    }

    /** Firefox looks for finished work ten times a second, or when something is submitted. */
    private nudge(): ReturnType<typeof setInterval> | undefined {
        if (!/firefox/i.test(globalThis.navigator?.userAgent ?? '')) return undefined;
        return setInterval(() => this.device.queue.submit([this.device.createCommandEncoder().finish()]), 1);
    }

    /** Whether everything that was asked for could be had is known now. */
    async allocated(): Promise<void> {
        await Promise.all(this.allocations.splice(0));
    }

    /** For the next time that a GPU is opened here. */
    remember(text: string): void {
        this.remembered = text;
        void platform.remember(text);
    }

    /* ---- buffers ---- */

    private make(usage: number, bytes: number): GPUBuffer {
        this.device.pushErrorScope('out-of-memory');
        const buffer = this.device.createBuffer({ usage, size: bytes });
        const scope = this.device.popErrorScope().then(
            (error) => error && this.fail(OUT_OF_MEMORY, error.message),
            () => undefined, // the GPU was lost, which is told elsewhere
        ) as Promise<void>;
        this.allocations.push(scope);
        void scope.then(() => (this.allocations = this.allocations.filter((other) => other !== scope)));
        this.live.buffers++;
        this.live.bytes += bytes;
        return buffer;
    }

    /** How many of so many bytes can be had now, in a 32nd of them: found by taking and letting go. The GPU has failed with it, if not all. */
    async room(most: number): Promise<number> {
        const { STORAGE } = USAGE;
        const bytes = Math.min(Math.ceil(most / ROOM_PIECES / 256) * 256, this.info.bufferBytes || Infinity);
        const taken: GPUBuffer[] = [];
        while (this.failure === FINE && taken.length * bytes < most) {
            taken.push(this.make(STORAGE, bytes));
            await this.allocated();
        }
        for (const buffer of taken) this.drop(buffer);
        const had = this.failure === FINE ? taken.length : taken.length - 1;
        return Math.min(had * bytes, most);
    }

    private drop(buffer: GPUBuffer): void {
        this.live.buffers--;
        this.live.bytes -= buffer.size;
        buffer.destroy();
    }

    newBuffer(uniform: boolean, bytes: number): number {
        const { UNIFORM, STORAGE, COPY_SRC, COPY_DST } = USAGE;
        return this.buffers.add(this.make((uniform ? UNIFORM : STORAGE | COPY_SRC) | COPY_DST, bytes));
    }

    freeBuffer(at: number): void {
        const buffer = this.buffers.take(at);
        if (buffer && !this.closed) this.drop(buffer);
    }

    write(at: number, offset: number, bytes: Uint8Array): void {
        if (this.failure === FINE) this.device.queue.writeBuffer(this.buffers.get(at)!, offset, bytes);
    }

    /* ---- programs ---- */

    /** Of n storage buffers behind the uniform. */
    private layout(n: number): { group: GPUBindGroupLayout; pipeline: GPUPipelineLayout } {
        return (this.layouts[n] ??= this.makeLayout(n));
    }

    private makeLayout(n: number): { group: GPUBindGroupLayout; pipeline: GPUPipelineLayout } {
        const entries = Array.from({ length: n + 1 }, (_, binding): GPUBindGroupLayoutEntry => ({
            binding,
            visibility: COMPUTE,
            buffer: binding ? { type: 'storage' } : { type: 'uniform', hasDynamicOffset: true },
        }));
        const group = this.device.createBindGroupLayout({ entries });
        return { group, pipeline: this.device.createPipelineLayout({ bindGroupLayouts: [group] }) };
    }

    /** One on trial may fail, or never end: whoever tries it looks at its state, and at the clock. */
    newPipeline(code: string, entryPoint: string, bindings: number, trial = false): number {
        const pipeline: Pipeline = { state: WAITING };
        const finish = (state: number, object?: GPUComputePipeline) => {
            if (pipeline.state !== WAITING) return;
            Object.assign(pipeline, { state, object });
            if (!trial) this.compiling.done++;
            this.compiledAt = performance.now();
            this.tell();
        };
        const fail = (error: Error) => this.refused(`the program ${entryPoint} does not compile: ${error.message}`, () => finish(FAILED));
        if (!trial && this.compiling.done === this.compiling.total++) this.compiledAt = performance.now();
        const module = trial ? this.moduleOnTrial(code) : this.device.createShaderModule({ code });
        this.device.createComputePipelineAsync({ layout: this.layout(bindings).pipeline, compute: { module, entryPoint } }).then(
            (object) => finish(READY, object),
            (error: Error) => (trial ? finish(FAILED) : fail(error)),
        );
        if (!trial) this.watchCompiler();
        return this.pipelines.add(pipeline);
    }

    /** What is wrong with it, its program tells as well. */
    private moduleOnTrial(code: string): GPUShaderModule {
        this.device.pushErrorScope('validation');
        const module = this.device.createShaderModule({ code });
        this.device.popErrorScope().catch(() => undefined); // the GPU was lost, which is told elsewhere
        return module;
    }

    private watchCompiler(): void {
        this.compileTimer ??= setTimeout(() => {
            this.compileTimer = undefined;
            if (this.compiling.done === this.compiling.total || this.closed) return;
            if (performance.now() - this.compiledAt < this.compileMs) return this.watchCompiler();
            for (const pipeline of this.pipelines) if (pipeline.state === WAITING) pipeline.state = FAILED;
            this.fail(BROKEN, `its compiler finished no program within ${Math.round(this.compileMs / 1000)} s`);
        }, this.compileMs / 4);
    }

    pipelineState(at: number): number {
        return this.pipelines.get(at)?.state ?? FAILED;
    }

    freePipeline(at: number): void {
        this.pipelines.take(at);
    }

    newGroup(uniform: number, ranges: Range[]): number {
        const entries: GPUBindGroupEntry[] = [{ binding: 0, resource: { buffer: this.buffers.get(uniform)!, size: UNIFORM_SLOT } }];
        for (const [i, { buffer, offset, bytes }] of ranges.entries()) entries.push({ binding: i + 1, resource: { buffer: this.buffers.get(buffer)!, offset, size: bytes } });
        return this.groups.add(this.device.createBindGroup({ layout: this.layout(ranges.length).group, entries }));
    }

    freeGroup(at: number): void {
        this.groups.take(at);
    }

    /* ---- commands ---- */

    private outsidePass(): GPUCommandEncoder {
        this.pass?.end();
        this.pass = undefined;
        return (this.encoder ??= this.device.createCommandEncoder());
    }

    dispatch(pipeline: number, group: number, uniformOffset: number, x: number, y: number, z: number): void {
        const program = this.pipelines.get(pipeline)?.object;
        const bound = this.groups.get(group);
        if (this.failure !== FINE || !program || !bound) return;
        this.pass ??= this.outsidePass().beginComputePass();
        this.dynamicOffset[0] = uniformOffset;
        this.pass.setPipeline(program);
        this.pass.setBindGroup(0, bound, this.dynamicOffset, 0, 1);
        this.pass.dispatchWorkgroups(x, y, z);
    }

    copy(to: number, toOffset: number, from: number, fromOffset: number, bytes: number): void {
        if (this.failure === FINE) this.outsidePass().copyBufferToBuffer(this.buffers.get(from)!, fromOffset, this.buffers.get(to)!, toOffset, bytes);
    }

    clear(at: number, offset: number, bytes: number): void {
        if (this.failure === FINE) this.outsidePass().clearBuffer(this.buffers.get(at)!, offset, bytes);
    }

    beginRead(at: number, offset: number, bytes: number): number {
        if (this.failure !== FINE) return 0;
        const buffer = this.make(USAGE.MAP_READ | USAGE.COPY_DST, bytes);
        this.outsidePass().copyBufferToBuffer(this.buffers.get(at)!, offset, buffer, 0, bytes);
        return this.readings.add({ buffer, state: WAITING, mapping: false });
    }

    /** READY once: then `take` has had the bytes. */
    pollRead(at: number, take: (bytes: Uint8Array) => void): number {
        const reading = this.readings.get(at);
        if (!reading || this.failure !== FINE) return FAILED;
        if (reading.state === WAITING) return WAITING;
        if (reading.state === READY) take(new Uint8Array(reading.buffer.getMappedRange()));
        this.readings.take(at);
        this.drop(reading.buffer);
        return reading.state;
    }

    submit(): void {
        if (!this.encoder || this.failure !== FINE) return;
        this.device.queue.submit([this.outsidePass().finish()]);
        this.encoder = undefined;
        this.submitted++;
        this.device.queue.onSubmittedWorkDone().then(
            () => {
                this.done++;
                this.tell();
            },
            () => undefined, // the GPU was lost, which is told elsewhere
        );
        for (const reading of this.readings) if (!reading.mapping) this.map(reading);
    }

    /** What is read back is mapped as soon as the copy to it is on its way. */
    private map(reading: Reading): void {
        reading.mapping = true;
        reading.buffer.mapAsync(READ).then(
            () => {
                reading.state = READY;
                this.tell();
            },
            (error: Error) => this.refused(`it does not give its bytes back: ${error.message}`),
        );
    }
}
