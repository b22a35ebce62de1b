export { createEngine, Engine, listPresets, planRun } from './engine.js';
export type { EngineOptions, LadderOptions } from './engine.js';
export { FileParts } from './file_parts.js';
export { gpuAbilities } from './gpu.js';
export { chooseModule, hostAbilities, reachableBytes, refuseThreads } from './modules.js';
export type { Choice, ChoiceOptions, HostAbilities } from './modules.js';
export { Run } from './run.js';
export type { Bytes, TrainOptions } from './run.js';
export * from './types.js';
