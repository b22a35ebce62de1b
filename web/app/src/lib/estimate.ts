/** What a run would take on this machine: seconds, from a short measurement; and what to change when its memory cannot be had. */
import { chooseModule, createEngine, planRun, type Preset } from 'posttrain-engine';
import { fromPreset, pace, runSettings, type Settings } from './knobs';

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

async function fits(settings: Settings, size: number): Promise<boolean> {
    try {
        const { bytes } = await planRun(runSettings(settings, size || 1 << 20));
        chooseModule({ needBytes: bytes });
        return true;
    } catch {
        return false;
    }
}

/** A sentence: the largest batch, or else the largest preset, that would do. */
export async function sizeThatFits(settings: Settings, presets: Preset[], size: number): Promise<string> {
    for (let batch = Math.floor((settings.batch ?? 1) / 2); batch >= 1; batch = Math.floor(batch / 2))
        if (await fits({ ...settings, batch }, size)) return `With a batch size of ${batch} it would run.`;
    for (const preset of [...presets].reverse())
        if (await fits(fromPreset(preset), size)) return `The preset ${preset.name} would run.`;
    return '';
}
