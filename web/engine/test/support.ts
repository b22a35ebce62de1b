/** What the tests share: the package as built, the native program, a corpus. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createEngine, EngineError, type Engine, type EngineOptions, type RunEvent, type RunSettings } from '../dist/index.js';

export const program = process.env['POSTTRAIN'] ?? 'build/posttrain';
export const folder = mkdtempSync(join(tmpdir(), 'posttrain-wasm-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Enough for a validation part; the start of Moby-Dick. */
export const corpus = new Uint8Array(readFileSync(process.env['CORPUS'] ?? 'build/data/moby-dick.txt').subarray(0, 60_000));
export const corpusPath = join(folder, 'corpus.txt');
writeFileSync(corpusPath, corpus);

/** Small, with sizes that are no multiple of a vector: a model of some 30 thousand parameters. */
export const small = { layers: 2, dModel: 36, heads: 3, ctx: 24, batch: 6 } satisfies RunSettings;
export const smallFlags = ['--layers', '2', '--d-model', '36', '--heads', '3', '--ctx', '24', '--batch', '6'];

export function native(...args: string[]): string {
    return execFileSync(program, args, { encoding: 'latin1', stdio: ['ignore', 'pipe', 'pipe'] });
}

let runs = 0;
/** The file and the losses of a native run. */
export function nativeRun(...flags: string[]): { path: string; bytes: Uint8Array; losses: number[] } {
    const out = join(folder, `native-${runs++}`);
    native('train', '--corpus', corpusPath, '--out', out, '--quiet', ...flags);
    const log = readFileSync(join(out, 'log.jsonl'), 'utf8').trim().split('\n');
    const losses = log.map((line) => JSON.parse(line) as { type: string; loss: number });
    const path = join(out, 'model.tinygpt');
    return {
        path,
        bytes: new Uint8Array(readFileSync(path)),
        losses: losses.filter((l) => l.type === 'step').map((l) => l.loss),
    };
}

/** What the file says and its body; the time of saving is taken out. */
export function parts(file: Uint8Array): { header: Record<string, unknown>; body: Uint8Array } {
    const length = new DataView(file.buffer, file.byteOffset).getUint32(8, true);
    const header = JSON.parse(Buffer.from(file.subarray(12, 12 + length)).toString()) as Record<string, unknown>;
    delete header['savedAt'];
    return { header, body: file.subarray(12 + length) };
}

export interface Outcome {
    losses: number[];
    events: RunEvent[];
    file: Uint8Array<ArrayBuffer>;
}

/** A whole run in an engine. */
export async function train(engine: Engine, settings: RunSettings): Promise<Outcome> {
    const events: RunEvent[] = [];
    const run = await engine.train({ corpus, settings, onEvent: (event) => events.push(event) });
    await run.done;
    return { losses: lossesOf(events), events, file: await run.save() };
}

export function lossesOf(events: RunEvent[]): number[] {
    return events.flatMap((event) => (event.type === 'step' ? [event.loss] : []));
}

/** An engine that is closed as the test ends. */
export async function open(t: TestContext, options: EngineOptions = {}): Promise<Engine> {
    const engine = await createEngine({ module: 'wasm32-relaxed', threads: 2, ...options });
    t.after(() => engine.close());
    return engine;
}

/** For assert.rejects. */
export function refuses(status: string, words: RegExp): (error: unknown) => boolean {
    return (error) => {
        assert.ok(error instanceof EngineError, String(error));
        assert.equal(error.status, status, error.message);
        assert.match(error.message, words);
        return true;
    };
}
