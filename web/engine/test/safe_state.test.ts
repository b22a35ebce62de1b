/** The checkpoint that is kept in case that a GPU is lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SafeState } from '../dist/safe_state.js';

const piece = (position: number, ...bytes: number[]) => ({ position, data: new Uint8Array(bytes) });
const saved = (step: number, failed = false) => ({ type: 'saved' as const, step, bytes: 2, failed });

/** Of a run that goes on from a file: the first is due at once. */
function due(): SafeState {
    const safe = new SafeState();
    safe.begin({ resume: true, saveEvery: 10 }, 100);
    return safe;
}

test('what it asks for is heard by nobody else, and asked for once', () => {
    const safe = due();
    assert.equal(safe.takeDue(), true);
    assert.equal(safe.takeDue(), false);
    assert.equal(safe.add(piece(0, 1), false), false);
    assert.equal(safe.takeDue(), false, 'one is under way');
    assert.equal(safe.add(piece(1, 2), false), false);
    assert.equal(safe.quiet, true);
    safe.end(saved(3));
    assert.deepEqual([...safe.last!.file.bytes()], [1, 2]);
    assert.equal(safe.untold(false), undefined);
    assert.equal(safe.untold(true)!.event.step, 3, 'at the end it is told');
    assert.equal(safe.untold(true), undefined, 'once');
});

test('one that is due by itself is told', () => {
    const safe = due();
    safe.takeDue();
    safe.add(piece(0, 1), false);
    safe.end(saved(20));
    assert.equal(safe.untold(false)!.event.step, 20);
});

test('the next may begin before the last is known to be whole', () => {
    const safe = due();
    assert.equal(safe.takeDue(), true);
    safe.add(piece(0, 1), false);
    safe.add(piece(1, 2), false);
    assert.equal(safe.add(piece(0, 3), true), true, 'somebody asked for this one');
    safe.end(saved(8));
    assert.deepEqual([...safe.last!.file.bytes()], [1, 2]);
    assert.equal(safe.quiet, false);
    safe.add(piece(1, 4), true);
    safe.end(saved(9));
    assert.deepEqual([...safe.last!.file.bytes()], [3, 4]);
});

test('one that failed, or whose run is gone, leaves the last', () => {
    const safe = due();
    safe.add(piece(0, 1), true);
    safe.end(saved(4));
    safe.add(piece(0, 9), true);
    safe.end(saved(5, true));
    safe.add(piece(0, 9), true);
    safe.abandon();
    safe.end(saved(6));
    assert.equal(safe.last!.event.step, 4);
});

test('too large a run is not kept', () => {
    const safe = new SafeState();
    safe.begin({ resume: true }, 2 ** 27);
    assert.equal(safe.enough, false);
    assert.equal(safe.takeDue(), false);
    assert.equal(safe.add(piece(0, 1), false), true);
    safe.end(saved(1));
    assert.equal(safe.last, undefined);
});
