/** What a curve says in words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './load.mjs';

const { trendOf, trendWords, verdictOn } = await load('src/lib/verdict.ts');
const curve = (steps, lossAt) => Array.from({ length: steps }, (_, i) => lossAt(i));

test('the sentence of the curve and the verdict measure alike', () => {
    const kinds = { 'still falling': 'learning', 'level lately': 'level', 'rising lately': 'rising' };
    for (const slope of [-1e-3, -3e-4, -1e-4, 0, 1e-4, 3e-4, 1e-3]) {
        const loss = curve(246, (i) => 3 + slope * i);
        assert.equal(kinds[trendWords(trendOf(loss).fell)], verdictOn(loss, []).kind, `${slope}`);
    }
});

test('a verdict tells what it was seen on', () => {
    assert.equal(verdictOn(curve(200, (i) => 4 - 0.01 * i), []).words, 'It is still learning: the loss of the last 50 steps is 0.50 below that of the 50 before.');
    assert.match(verdictOn(curve(200, () => 3), []).words, /^It has levelled off at 3\.00, for 50 steps by now\./);
    assert.equal(verdictOn(curve(99, () => 3), []), undefined);
});
