/** The same package in Chromium, where there is one: in a page with shared memory and in one without. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine, type EngineInfo } from '../dist/index.js';
import { chromium, resultsOf } from './chromium.ts';
import { small, train } from './support.ts';

interface Result {
    page: string;
    info?: EngineInfo;
    losses?: number[];
    text?: string;
    rows?: number;
    large?: string;
    error?: string;
}

const settings = { ...small, steps: 6 };

/** The page's script: a run, a sample, a look; then the other page. */
const script = `
import { chooseModule, createEngine } from './dist/index.js';
const page = location.pathname.split('/')[1];
const result = { page };
try {
    const corpus = new Uint8Array(await (await fetch('./corpus')).arrayBuffer());
    const engine = await createEngine({ threads: 2, strict: true });
    const losses = [];
    const run = await engine.train({ corpus, settings: ${JSON.stringify(settings)}, onEvent: (e) => e.type === 'step' && losses.push(e.loss) });
    await run.done;
    let text = '';
    for await (const token of engine.sample({ tokens: 8, temperature: 0 })) text += token.text;
    await engine.look('Call me');
    Object.assign(result, { info: engine.info, losses, text, rows: (await engine.attention(0)).length });
    try { result.large = chooseModule({ needBytes: 6e9 }).module; } catch (error) { result.large = error.message; }
    await engine.close();
} catch (error) { result.error = String(error?.stack ?? error); }
await fetch('./result', { method: 'POST', body: JSON.stringify(result) });
if (page === 'isolated') location.href = '/plain/page.html';
`;

test('a browser gives the same numbers, with threads and without', { skip: chromium ? false : 'no Chromium here' }, async (t) => {
    const results = (await resultsOf(t, script, 2, 60)) as Result[];
    const engine = await createEngine({ module: 'wasm32-threads', threads: 2 });
    const want = await train(engine, settings);
    await engine.close();
    for (const result of results) {
        assert.equal(result.error, undefined);
        assert.deepEqual(result.losses, want.losses);
        assert.equal(result.rows, 3 * 7 * 7);
        assert.ok(result.text);
    }
    const [isolated, plain] = results;
    assert.equal(isolated!.info!.module, 'wasm32-threads');
    assert.equal(isolated!.info!.threads, 2);
    assert.equal(isolated!.large, 'wasm64-relaxed');
    assert.equal(plain!.info!.module, 'wasm32');
    assert.match(plain!.info!.reasons.join(), /not cross-origin isolated/);
    assert.match(plain!.large!, /6\.0 GB.*32-bit/);
});
