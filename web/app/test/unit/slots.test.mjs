/** Which of two saves is read, and which is written over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './load.mjs';

const { nextNumber, readSeal, toRead, toWrite } = await load('src/shelf/slots.ts');
const { readRecord } = await load('src/shelf/record.ts');
const file = { bytes: 1, print: 'x' };
const seal = (number) => ({ number, step: 10 * number, files: { 'model.tinygpt': file, 'curve.f64': file, 'record.json': file } });

test('the newest is read first, the other one written', () => {
    assert.deepEqual(toRead({ a: seal(3), b: seal(4) }), ['b', 'a']);
    assert.equal(toWrite({ a: seal(3), b: seal(4) }), 'a');
    assert.equal(toWrite({ a: seal(5), b: seal(4) }), 'b');
    assert.equal(nextNumber({ a: seal(3), b: seal(4) }), 5);
});

test('a slot without a seal is written, never read', () => {
    assert.deepEqual(toRead({ a: undefined, b: seal(1) }), ['b']);
    assert.equal(toWrite({ a: undefined, b: seal(1) }), 'a');
    assert.equal(toWrite({ a: seal(1), b: undefined }), 'b');
    assert.deepEqual(toRead({ a: undefined, b: undefined }), []);
    assert.equal(toWrite({ a: undefined, b: undefined }), 'a');
    assert.equal(nextNumber({ a: undefined, b: undefined }), 1);
});

test('a seal cut short at any byte is none', () => {
    const whole = JSON.stringify(seal(7));
    assert.deepEqual(readSeal(whole), seal(7));
    for (let n = 0; n < whole.length; n++) assert.equal(readSeal(whole.slice(0, n)), undefined);
    for (const bad of ['null', '[]', '7', '{}', JSON.stringify({ ...seal(1), number: -1 }), JSON.stringify({ ...seal(1), files: {} })]) assert.equal(readSeal(bad), undefined);
});

test('a record of another shape is none', () => {
    const record = {
        format: 1, id: 'x', name: 'n', created: '', saved: '', settings: {}, step: 1, steps: 2, first: 0, strict: false, engine: { module: '', isa: '', version: '' },
        corpus: { name: '', bytes: 1, sha256: '', builtIn: true }, checks: [[1, 2.5]], samples: [{ step: 1, text: '' }], spikes: 0,
    };
    assert.deepEqual(readRecord(JSON.stringify(record)), record);
    assert.equal(readRecord(JSON.stringify({ format: 2, news: true })), 'newer');
    const bad = [{ format: 0 }, { format: '2' }, { step: -1 }, { name: 3 }, { checks: [[1]] }, { samples: [{ step: 1 }] }, { corpus: null }, { engine: [] }, { settings: [] }];
    for (const change of bad) assert.equal(readRecord(JSON.stringify({ ...record, ...change })), undefined, JSON.stringify(change));
});
