import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { headers } from './headers.mjs';

// The engine's own dependency on a worker, its threads and its modules are found by `new URL(…, import.meta.url)`.
export default defineConfig({
    base: './',
    publicDir: '../../build/web-public',
    plugins: [svelte()],
    worker: { format: 'es' },
    optimizeDeps: { exclude: ['posttrain-engine'] },
    server: { headers, fs: { allow: ['.', '../../build/web-engine'] } },
    build: { target: 'es2022', outDir: '../../build/web', emptyOutDir: true, modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
});
