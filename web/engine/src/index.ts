export { createEngine, Engine, listPresets, planRun, Run } from './engine.js';
export type { Bytes, EngineOptions, LadderOptions, TrainOptions } from './engine.js';
export { FileParts } from './file_parts.js';
export { gpuAbilities } from './gpu.js';
export { chooseModule, hostAbilities, refuseThreads } from './modules.js';
export type { Choice, ChoiceOptions, HostAbilities } from './modules.js';
export * from './types.js';
