/** Where runs are computed: what the visitor chose, and what there is. */
import { gpuAbilities, type EngineOptions, type GpuInfo, type RunSettings } from 'posttrain-engine';
import { recall, remember } from './remembered';

export type Choice = 'auto' | 'cpu' | 'gpu';

const KEY = 'posttrain.backend';
export const choices: { value: Choice; label: string }[] = [
    { value: 'auto', label: 'Automatic' },
    { value: 'cpu', label: 'Processor' },
    { value: 'gpu', label: 'GPU' },
];
const HELP = 'On Linux, Chrome needs version 144 or later and a recent Intel GPU; Firefox has no access to one there.';

function remembered(): Choice {
    const kept = recall('all', KEY);
    return choices.find(({ value }) => value === kept)?.value ?? 'auto';
}

export class Backend {
    choice = $state<Choice>(remembered());
    gpu = $state.raw<GpuInfo | undefined>();
    /** Why none is used by itself; empty when one is. */
    why = $state('');
    asked = $state(false);

    /** The browser has said what there is. */
    readonly known: Promise<unknown>;

    constructor() {
        this.known = gpuAbilities().then(({ gpu, why }) => Object.assign(this, { gpu, why, asked: true }));
    }

    choose(choice: Choice): void {
        this.choice = choice;
        remember('all', KEY, choice);
    }

    /** Whether the next run goes to the GPU. Plain C's bits are the processor's. */
    get usesGpu(): boolean {
        return this.choice === 'gpu' ? this.gpu !== undefined : this.choice === 'auto' && this.gpu !== undefined && !this.gpu.software;
    }

    /** Of the GPU, where the next run is to be there: of planRun. */
    get limits(): RunSettings {
        return this.usesGpu ? { gpuBufferBytes: this.gpu!.bufferBytes, gpuBindingBytes: this.gpu!.bindingBytes } : {};
    }

    /** Of createEngine. */
    options(strict: boolean): EngineOptions {
        if (strict || this.choice === 'cpu') return {};
        return this.choice === 'gpu' ? { device: 'webgpu', softwareGpu: true } : { device: 'auto' };
    }

    /** What the next run gets, and why. */
    get sentence(): string {
        if (!this.asked) return 'The browser has not said yet whether there is a GPU.';
        if (this.choice === 'cpu') return 'Training runs on your processor.';
        if (!this.gpu) return `${this.choice === 'gpu' ? 'There is no GPU to train on: choose the processor.' : 'Training runs on your processor.'} ${this.why} ${HELP}`;
        if (!this.gpu.software) return `Training runs on ${this.gpu.adapter}.`;
        return this.choice === 'gpu' ? `This GPU is software emulation (${this.gpu.adapter}), which is slower than the processor.` : `Training runs on your processor. ${this.why}`;
    }
}
