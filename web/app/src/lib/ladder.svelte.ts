/** The ladder of kernels on this page: measured in an engine of its own, and never beside a run, which would slow it and be slowed. */
import { createEngine, EngineError, type EngineInfo, type Kernel, type Rung } from 'posttrain-engine';
import { count } from './format';
import { inPlainWords } from './knobs';
import type { Lab } from './lab.svelte';

export const SIZES = [256, 512, 1024, 2048, 4096];
/** All that an emulated GPU is asked for. */
const EMULATED_SIZES = [256];

export type Measured = Extract<Rung, { gflops: number }>;
export const isMeasured = (rung: Rung | undefined): rung is Measured => rung !== undefined && 'gflops' in rung;

/** Three figures at least. */
export function rate(gflops: number): string {
    return gflops < 100 ? String(Number(gflops.toPrecision(3))) : count(gflops);
}

export class KernelLadder {
    kernels = $state.raw<Kernel[]>([]);
    sizes = $state.raw<number[]>([]);
    rungs = $state.raw<Rung[]>([]);
    info = $state.raw<EngineInfo | undefined>();
    working = $state(false);
    stopping = $state(false);
    problem = $state('');
    /** Why there are fewer rungs than there could be. */
    note = $state('');
    private readonly lab: Lab;
    private abort = new AbortController();

    constructor(lab: Lab) {
        this.lab = lab;
        $effect.root(() => {
            $effect(() => {
                if (lab.busy && this.working) this.stop('A run began, so measuring was stopped.');
            });
        });
    }

    get total(): number {
        return this.kernels.length * this.sizes.length;
    }

    /** What is measured now. */
    get next(): { kernel: string; size: number } | undefined {
        const [kernel, size] = [this.kernels[this.rungs.length % this.kernels.length], this.sizes[Math.floor(this.rungs.length / this.kernels.length)]];
        return kernel && size ? { kernel: kernel.name, size } : undefined;
    }

    at(kernel: string, size: number): Rung | undefined {
        return this.rungs.find((rung) => rung.kernel === kernel && rung.size === size);
    }

    best(size: number): Measured | undefined {
        return this.rungs.filter((rung) => rung.size === size).filter(isMeasured).toSorted((a, b) => b.gflops - a.gflops)[0];
    }

    /** In a sentence, at the largest size that was measured. */
    get summary(): string {
        const size = this.sizes.findLast((size) => this.best(size));
        const best = size && this.best(size);
        if (!best) return '';
        const cpu = this.rungs.findLast((rung) => rung.kernel === 'processor' && isMeasured(rung)) as Measured | undefined;
        const times = cpu && cpu.kernel !== best.kernel ? `, ${rate(Number((best.gflops / cpu.gflops).toPrecision(2)))} times the processor${cpu.size === size ? '' : ` at ${cpu.size}`}` : '';
        return `The fastest at ${size}: ${best.kernel} with ${rate(best.gflops)} GFLOP/s${times}.`;
    }

    async measure(): Promise<void> {
        const { lab } = this;
        if (this.working || lab.busy || !lab.backend.asked) return;
        const { gpu } = lab.backend;
        this.abort = new AbortController();
        Object.assign(this, { working: true, stopping: false, problem: '', note: '', rungs: [], kernels: [], sizes: gpu?.software ? EMULATED_SIZES : SIZES });
        lab.announcer.say('Measuring the kernels.');
        const engine = await createEngine(gpu ? { device: 'webgpu', softwareGpu: gpu.software } : {}).catch((error: Error) => void this.fail(error));
        try {
            this.info = engine?.info;
            this.kernels = (await engine?.kernels()) ?? [];
            for await (const rung of engine?.ladder({ sizes: this.sizes }, { signal: this.abort.signal }) ?? []) this.rungs = [...this.rungs, rung];
            if (!this.problem) lab.announcer.say(this.note || `Measured. ${this.summary}`);
        } catch (error) {
            this.fail(error);
        }
        await engine?.close();
        Object.assign(this, { working: false, stopping: false });
    }

    private fail(error: unknown): void {
        this.problem = error instanceof EngineError || error instanceof Error ? inPlainWords(error.message) : String(error);
        this.lab.announcer.say(`Measuring ended early. ${this.problem}`);
    }

    stop(note = 'Measuring was stopped.'): void {
        if (this.stopping) return;
        Object.assign(this, { stopping: true, note });
        this.abort.abort();
    }
}
