/** Figures in words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './load.mjs';

const { roughly } = await load('src/lib/format.ts');

test('an estimate is said in the unit that one would say it in', () => {
    const said = [0.2, 17, 80, 100, 300, 5000, 6000, 6900, 30_000, 100_000, 200_000, 900_000].map(roughly);
    assert.deepEqual(said, ['1 s', '17 s', '80 s', '1.5 min', '5 min', '83 min', '1.5 h', '2 h', '8 h', '28 h', '2.5 days', '10 days']);
});
