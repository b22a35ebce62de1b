/** What a run would take on this machine: seconds, from a short measurement; and what to say when its memory cannot be had. */
import { chooseModule, createEngine, planRun, type Plan, type Preset, type RunSettings } from 'posttrain-engine';
import { fromPreset, inPlainWords, pace, runSettings } from './knobs';

const PROBE_MS = 200;
/** Of the rate of a plain product of matrices, what a step reaches as a whole. */
const REACHED = 0.6;
/** Forward once, backward twice: a multiplication and an addition for each parameter and token. */
const FLOPS_PER_PARAMETER = 6;

/** Billions of operations a second, with all threads. */
export async function measureSpeed(): Promise<number> {
    const engine = await createEngine();
    try {
        return (await engine.probe(PROBE_MS)).gflops;
    } finally {
        await engine.close();
    }
}

/** Of a run with its checks, which go forward only. `tokens`: of a step. */
export function secondsOf(params: number, tokens: number, steps: number, gflops: number): number {
    const { evalEvery, evalBatches } = pace(steps);
    const checks = 1 + Math.ceil(steps / evalEvery);
    return (FLOPS_PER_PARAMETER * params * tokens * (steps + (checks * evalBatches) / 3)) / (REACHED * gflops * 1e9);
}

/** Why no module holds so much; empty where one does. */
function whyTooLarge(needBytes: number): string {
    try {
        chooseModule({ needBytes });
        return '';
    } catch (error) {
        return inPlainWords((error as Error).message);
    }
}

async function presetThatFits(presets: Preset[], room: RunSettings): Promise<string> {
    for (const preset of [...presets].reverse())
        if (!(await planRun({ ...runSettings(fromPreset(preset), 1 << 20), ...room })).refusal) return `The preset ${preset.name} would run.`;
    return '';
}

/** Why a run cannot be had in this room, and what can: the engine's word on its batch, and the largest preset. Empty where it can. */
export async function problemOfMemory({ refusal, bytes }: Plan, presets: Preset[], room: RunSettings): Promise<string> {
    if (!refusal) return '';
    return [whyTooLarge(bytes), inPlainWords(refusal), await presetThatFits(presets, room)].filter(Boolean).join(' ');
}
