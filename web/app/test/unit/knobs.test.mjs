/** Settings in words, how often a run is looked at, and what that costs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './load.mjs';

const { pace, problemOf, runKnobs } = await load('src/lib/knobs.ts');
const seed = runKnobs.find(({ name }) => name === 'seed');
const steps = runKnobs.find(({ name }) => name === 'steps');

test('what is refused is not said to be allowed', () => {
    assert.equal(problemOf(seed, 1e20), 'Luck is 100000000000000000000; it can be 0 to 9,007,199,254,740,991.');
    assert.equal(problemOf(steps, 1e9), 'How long is 1,000,000,000; it can be 1 to 1,000,000.');
    assert.equal(problemOf(steps, 1_000_000), undefined);
});

test('a long run is looked at as often as a usual one, and the checks of a short one stay cheap', () => {
    for (const n of [1, 7, 50, 400, 2000, 6000, 1_000_000]) {
        const { evalEvery, evalBatches, sampleEvery } = pace(n);
        assert.ok(evalEvery >= 1 && evalEvery <= 100 && sampleEvery <= 400, `${n} steps: ${evalEvery}, ${sampleEvery}`);
        // A batch that only goes forward takes a third of a step.
        if (n >= 50) assert.ok(evalBatches / 3 <= 0.4 * evalEvery, `${n} steps: ${evalBatches} batches every ${evalEvery}`);
    }
    assert.deepEqual([pace(2000).evalEvery, pace(2000).evalBatches, pace(2000).sampleEvery], [100, 20, 200]);
});
