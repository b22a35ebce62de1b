/** Links: what is written is read back; what is hostile gets one sentence. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './load.mjs';

const { isShared, linkOf, readLink } = await load('src/lib/share.ts');
const settings = { preset: 'tiny', layers: 2, dModel: 48, heads: 3, ctx: 64, batch: 8, steps: 300, lr: 2e-7, warmup: 50, seed: Number.MAX_SAFE_INTEGER, dropout: 0.1, schedule: 'wsd' };
const corpus = { name: 'Čapek & «Söhne» #1.txt', bytes: 12345, sha256: 'ab'.repeat(32), builtIn: false };
const link = linkOf(settings, corpus);

test('a link is read back as it was written', () => {
    assert.ok(isShared(link));
    assert.ok(link.length < 400, `${link.length} characters`);
    const { shared } = readLink(link);
    assert.deepEqual(shared, { settings, text: { name: corpus.name, bytes: 12345, sha256: corpus.sha256 } });
    assert.equal(isShared('#train'), false);
});

test('a name that no link may hold is changed when the link is made', () => {
    assert.equal(readLink(linkOf(settings, { ...corpus, name: 'a\u0007\nb.txt' })).shared.text.name, 'a  b.txt');
});

const changed = (key, value) => link.replace(new RegExp(`([#&])${key}=[^&]*`), `$1${key}=${value}`);
const hostile = [
    ['another version', changed('run', '2'), /version “2”.*reads version 1/],
    ['no version', '#run=', /version “”/],
    ['nothing else', '#run=1', /does not say “preset”/],
    ['a key too many', `${link}&__proto__=1`, /no setting “__proto__”/],
    ['a key twice', `${link}&lr=1`, /says “lr” twice/],
    ['a huge number', changed('layers', '1e308'), /Depth is 1e\+308; it can be 1 to 48/],
    ['a long number', changed('layers', '9'.repeat(400)), /Depth is “999.*…”, which is no number/],
    ['an endless number', changed('lr', '1e999'), /Size of a correction is “1e999”, which is no number|Size of a correction/],
    ['no number', changed('lr', 'NaN'), /Size of a correction is “NaN”, which is no number/],
    ['hexadecimal', changed('seed', '0x10'), /Luck is “0x10”, which is no number/],
    ['negative', changed('seed', '-1'), /Luck is “-1”, which is no number/],
    ['a part of a step', changed('steps', '1.5'), /How long is 1.5; give a whole number/],
    ['markup', changed('preset', '%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E'), /no size “<img src=x onerror=alert\(1\)>”/],
    ['a schedule of its own', changed('schedule', 'constructor'), /no schedule “constructor”/],
    ['control characters', changed('text', '%00%1b[31m'), /name of the text/],
    ['a name without end', changed('text', 'x'.repeat(500)), /name of the text/],
    ['a text without bytes', changed('bytes', '0'), /“0” bytes/],
    ['more bytes than there are', changed('bytes', '1e300'), /“1e\+300” bytes/],
    ['no hash', changed('sha256', 'zz'), /no SHA-256/],
    ['megabytes', `${link}&x=${'y'.repeat(1e6)}`, /characters, at most 2000/],
    ['broken encoding', changed('preset', '%E0%A4%A'), /no size “/],
];
for (const [name, hash, words] of hostile)
    test(`a link with ${name} gets one sentence`, () => {
        const { problem } = readLink(hash);
        assert.match(problem, words);
        assert.match(problem, /^This link cannot be followed: [^\n]{1,160}\.$/);
    });
