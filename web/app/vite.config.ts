import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { headers } from './headers.mjs';
import { precache } from './precache.mjs';

const site = '../../build/web';

// The engine's own dependency on a worker, its threads and its modules are found by `new URL(…, import.meta.url)`.
export default defineConfig({
    base: './',
    publicDir: '../../build/web-public',
    plugins: [svelte(), precache(site)],
    worker: { format: 'es' },
    optimizeDeps: { exclude: ['posttrain-engine'] },
    server: { headers, fs: { allow: ['.', '../../build/web-engine'] } },
    build: {
        target: 'es2022',
        outDir: site,
        emptyOutDir: true,
        modulePreload: { polyfill: false },
        assetsInlineLimit: 0,
        rollupOptions: {
            input: { index: 'index.html', sw: 'src/sw.ts' },
            // A service worker must keep its name, and lie where its scope begins.
            output: { entryFileNames: ({ name }) => (name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js') },
        },
    },
});
