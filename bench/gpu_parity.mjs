/* Trains each preset with the engine, on WebAssembly and on a GPU, and compares every loss and the greedy text afterwards: the
 * browser's own host code on a real GPU, where no browser is. Exit status 1: a loss differs by more than 2e-5 of itself, or the texts do.
 * Usage: WEBGPU_PACKAGE=FOLDER node --import ./bench/gpu_in_node.mjs bench/gpu_parity.mjs PACKAGE_FOLDER CORPUS [--presets LIST]
 * [--steps N] [--software] */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const TOLERANCE = 2e-5;
const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: {
        presets: { type: 'string', default: 'tiny,small,medium' },
        steps: { type: 'string', default: '50' },
        software: { type: 'boolean', default: false },
    },
});
const [folder, corpusPath] = positionals;
const { createEngine } = await import(resolve(folder, 'dist/index.js'));
const corpus = new Uint8Array(readFileSync(corpusPath));

async function train(preset, device) {
    const engine = await createEngine(device);
    const losses = [];
    const run = await engine.train({
        corpus,
        settings: { preset, steps: Number(options.steps), lr: 3e-4, evalEvery: 10 },
        onEvent: ({ type, step, loss }) => {
            if (type === 'step' || type === 'evaluated') losses.push({ type, step, loss });
        },
    });
    await run.done;
    let text = '';
    for await (const token of engine.sample({ prompt: 'Call me ', tokens: 100, temperature: 0 })) text += token.text;
    const { info } = engine;
    await engine.close();
    return { losses, text, device: info.gpu ?? info.device };
}

const results = [];
for (const preset of options.presets.split(',')) {
    const cpu = await train(preset, {});
    const gpu = await train(preset, { device: 'webgpu', softwareGpu: options.software });
    if (cpu.losses.length === 0 || cpu.losses.length !== gpu.losses.length) throw new Error(`${preset}: ${cpu.losses.length} and ${gpu.losses.length} losses`);
    const worst = Math.max(...cpu.losses.map(({ loss }, i) => Math.abs(gpu.losses[i].loss - loss) / loss));
    const same = cpu.text === gpu.text;
    results.push({ preset, losses: cpu.losses.length, worst, text: same ? 'same' : { cpu: cpu.text, gpu: gpu.text }, device: gpu.device, cpu: cpu.losses, gpu: gpu.losses });
    console.error(`${preset}: ${cpu.losses.length} losses, the worst differs by ${worst.toExponential(1)} of itself; text ${same ? 'the same' : 'DIFFERS'}`);
    if (!(worst <= TOLERANCE) || !same) process.exitCode = 1;
}
console.log(JSON.stringify(results));
