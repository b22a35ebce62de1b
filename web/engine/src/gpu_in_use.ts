/** The GPU that an engine computes on, and those that come after it when it is lost; or none: then the processor computes. */
import { platform } from '#platform';
import type { Abi } from './abi.js';
import { FINE, Gpu } from './gpu.js';
import { GpuShelf } from './gpu_imports.js';
import type { OpenOptions } from './protocol.js';
import { EngineError } from './types.js';

/** A GPU that is lost twice within this time is not trusted any more. */
const TRUST_MS = 60_000;
/** Of a trial: someone waits for it. */
const SLICE_MS = 15;
/** As in src/wasm/engine.h. */
const A_GPU = 1;
const TRIED_GPU = 2;

/** Kernels tried; with the last one, what is wrong with some of them. */
export interface Readiness {
    done: number;
    total: number;
    remark?: string;
}

export class GpuInUse {
    /** Where the module finds what it opens. */
    readonly shelf = new GpuShelf();
    /** In use; its successor takes its place. */
    now: Gpu | undefined;
    private readonly engine: () => Abi;
    private software: OpenOptions['softwareGpu'] = false;
    private lostAt = -Infinity;
    private compiled = 0;

    constructor(engine: () => Abi) {
        this.engine = engine;
    }

    /** The first. Why there is none to use; empty when there is one. */
    async open(software: OpenOptions['softwareGpu']): Promise<string> {
        this.software = software;
        try {
            const text = platform.shaders();
            text.catch(() => undefined);
            await this.renew();
            this.engine().callWith('shaders', await text);
            return '';
        } catch (error) {
            if (!(error instanceof EngineError)) throw error;
            return error.message;
        }
    }

    /** Another in place of the one in use, if any; what was on that is gone. */
    async renew(): Promise<void> {
        const gpu = await Gpu.open({ software: this.software !== false });
        this.shelf.offer(gpu);
        this.engine().call('use_gpu', this.software === 'tried' ? TRIED_GPU : A_GPU);
        this.now = gpu;
        this.compiled = 0;
    }

    /** What is there is the processor's from now on, and was unloaded. */
    leave(): void {
        this.engine().call('use_gpu', 0);
        this.now = undefined;
    }

    get failed(): boolean {
        return this.now !== undefined && this.now.failure !== FINE;
    }

    /** It was lost now: whether that is the second time within a minute. */
    lostAgain(): boolean {
        const again = performance.now() - this.lostAt < TRUST_MS;
        this.lostAt = performance.now();
        return again;
    }

    /** Back to the event loop: at once, or until the GPU has told something. */
    rest(waits: boolean): Promise<void> {
        return waits && this.now ? this.now.news() : platform.tick();
    }

    /** Before its first op it tries its kernels. */
    async ready(tell: (progress: Readiness) => void): Promise<void> {
        for (let told = -1; ; ) {
            const { again, waits, result } = this.engine().poll('ready_poll', SLICE_MS);
            const progress = result as Readiness;
            if (progress.total && (!again || progress.done !== told)) tell(progress);
            told = progress.done;
            if (!again) return;
            await this.rest(waits);
        }
    }

    /** How far its compiler is, when that is news. */
    compiling(): { done: number; total: number } | undefined {
        if (!this.now || this.compiled === this.now.compiling.done) return undefined;
        this.compiled = this.now.compiling.done;
        return { ...this.now.compiling };
    }
}
