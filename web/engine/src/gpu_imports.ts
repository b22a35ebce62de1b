/** The imports of the module "gpu" (src/device/webgpu/host.h): from addresses and numbers to a Gpu and back. */
import type { Word } from './abi.js';
import { Gpu, type Range } from './gpu.js';

/** In the order of pt_gpu_number_of. The alignment of offsets is what every GPU has. */
const numbers: ((gpu: Gpu) => number)[] = [
    ({ device }) => device.limits.maxStorageBufferBindingSize,
    ({ device }) => device.limits.maxBufferSize,
    ({ device }) => device.limits.maxStorageBuffersPerShaderStage,
    ({ device }) => device.limits.maxComputeWorkgroupStorageSize,
    ({ device }) => device.limits.maxComputeInvocationsPerWorkgroup,
    ({ device }) => device.limits.minStorageBufferOffsetAlignment,
    ({ device }) => device.limits.minUniformBufferOffsetAlignment,
    ({ info }) => Number(info.software),
    ({ device }) => Number(device.features.has('shader-f16')),
    ({ device }) => Number(device.features.has('subgroups')),
    ({ device }) => Number((device.features as ReadonlySet<string>).has('chromium-experimental-subgroup-matrix')),
    ({ live }) => live.buffers,
    ({ live }) => live.bytes,
];

const ADAPTER = 0;
const UNIFORM = 1;
const RANGE_BYTES = 24;

/** Which GPUs an instance has: the one that is offered is what it opens next. */
export class GpuShelf {
    private readonly gpus: (Gpu | undefined)[] = [];
    private offered: Gpu | undefined;

    offer(gpu: Gpu): void {
        this.offered = gpu;
    }

    /** Its number, 0 when none was offered. */
    open(): number {
        if (!this.offered) return 0;
        this.gpus.push(this.offered);
        this.offered = undefined;
        return this.gpus.length;
    }

    get(number: number): Gpu {
        return this.gpus[number - 1]!;
    }

    close(number: number): void {
        this.get(number).close();
        this.gpus[number - 1] = undefined;
    }
}

type Functions = Record<string, (...args: never[]) => unknown>;

export function gpuImports(memory: WebAssembly.Memory, shelf: GpuShelf): Functions {
    /** Addresses of 32 bits come signed. */
    const addressOf = (at: Word) => (typeof at === 'bigint' ? Number(at) : at >>> 0);
    const bytesAt = (at: Word, n: number) => new Uint8Array(memory.buffer, addressOf(at), n);
    /** A copy, because text cannot be decoded from shared memory. */
    const textAt = (at: Word, n: number) => new TextDecoder().decode(bytesAt(at, n).slice());
    const wordAt = (at: Word) => textAt(at, bytesAt(at, 256).indexOf(0));
    const put = (words: string, at: Word, cap: number) => {
        const room = bytesAt(at, cap);
        const copy = new Uint8Array(cap);
        new TextEncoder().encodeInto(words, copy.subarray(0, cap - 1));
        room.set(copy);
    };
    const rangeAt = (at: number): Range => {
        const view = new DataView(memory.buffer, at, RANGE_BYTES);
        return { buffer: view.getUint32(0, true), offset: Number(view.getBigInt64(8, true)), bytes: Number(view.getBigInt64(16, true)) };
    };
    return {
        open: (_software: number, why: Word, cap: number) => {
            const number = shelf.open();
            if (!number) put('none was opened', why, cap);
            return number;
        },
        close: (gpu: number) => shelf.close(gpu),
        number: (gpu: number, which: number) => numbers[which]?.(shelf.get(gpu)) ?? 0,
        words: (gpu: number, which: number, out: Word, cap: number) => put(which === ADAPTER ? shelf.get(gpu).info.adapter : shelf.get(gpu).said, out, cap),
        failure: (gpu: number) => shelf.get(gpu).failure,
        buffer_new: (gpu: number, kind: number, bytes: number) => shelf.get(gpu).newBuffer(kind === UNIFORM, bytes),
        buffer_free: (gpu: number, buffer: number) => shelf.get(gpu).freeBuffer(buffer),
        write: (gpu: number, buffer: number, offset: number, src: Word, bytes: number) => shelf.get(gpu).write(buffer, offset, bytesAt(src, bytes)),
        pipeline_new: (gpu: number, wgsl: Word, n: number, entry: Word, bindings: number, trial: number) =>
            shelf.get(gpu).newPipeline(textAt(wgsl, n), wordAt(entry), bindings, trial !== 0),
        pipeline_state: (gpu: number, pipeline: number) => shelf.get(gpu).pipelineState(pipeline),
        pipeline_free: (gpu: number, pipeline: number) => shelf.get(gpu).freePipeline(pipeline),
        group_new: (gpu: number, uniform: number, range: Word, n: number) =>
            shelf.get(gpu).newGroup(uniform, Array.from({ length: n }, (_, i) => rangeAt(addressOf(range) + i * RANGE_BYTES))),
        group_free: (gpu: number, group: number) => shelf.get(gpu).freeGroup(group),
        dispatch: (gpu: number, pipeline: number, group: number, offset: number, groups: Word) => {
            const view = new DataView(memory.buffer, addressOf(groups), 3 * 4);
            shelf.get(gpu).dispatch(pipeline, group, offset, view.getUint32(0, true), view.getUint32(4, true), view.getUint32(8, true));
        },
        copy: (gpu: number, to: number, toOffset: number, from: number, fromOffset: number, bytes: number) => shelf.get(gpu).copy(to, toOffset, from, fromOffset, bytes),
        clear: (gpu: number, buffer: number, offset: number, bytes: number) => shelf.get(gpu).clear(buffer, offset, bytes),
        read_begin: (gpu: number, buffer: number, offset: number, bytes: number) => shelf.get(gpu).beginRead(buffer, offset, bytes),
        read_poll: (gpu: number, read: number, dst: Word) => shelf.get(gpu).pollRead(read, (bytes) => bytesAt(dst, bytes.length).set(bytes)),
        submit: (gpu: number) => shelf.get(gpu).submit(),
        done: (gpu: number) => shelf.get(gpu).done,
        remembered: (gpu: number, out: Word, cap: number) => put(shelf.get(gpu).remembered, out, cap),
        remember: (gpu: number, text: Word, n: number) => shelf.get(gpu).remember(textAt(text, n)),
    };
}
