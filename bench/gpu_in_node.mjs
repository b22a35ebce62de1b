/* Gives Node, and the workers it starts, a browser's `navigator.gpu`: that of the npm package `webgpu`, Dawn.
 * Usage: WEBGPU_PACKAGE=…/node_modules/webgpu node --import ./bench/gpu_in_node.mjs … */
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { create, globals } = await import(createRequire(import.meta.url).resolve(join(process.env['WEBGPU_PACKAGE'], 'index.js')));
Object.assign(globalThis, globals);
const gpu = create([]);
if (globalThis.navigator) Object.defineProperty(globalThis.navigator, 'gpu', { value: gpu });
else Object.defineProperty(globalThis, 'navigator', { value: { gpu, hardwareConcurrency: 1 } });
