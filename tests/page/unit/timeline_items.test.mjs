import assert from 'node:assert/strict';
import {test} from 'node:test';

import {itemAt, itemsOf, spanText, summaryOf} from '../../../src/page/timeline_items.js';
import {setZone} from '../../../src/page/time.js';

test('a running run lasts until now', () => {
  const items = itemsOf({runs: [[100, 100, 'r', 1]], pulses: [[900, 900, 1]]}, 500);

  assert.deepEqual(items, [
    {result: 'running', from: 100, until: 500, count: 1},
    {from: 900, until: 900, count: 1},
  ]);
});

test('the item under the pointer is found, and a failed one before its neighbours', () => {
  const items = itemsOf({runs: [[0, 100, 's', 1], [102, 103, 'f', 1], [200, 300, 's', 1]], pulses: []}, 0);

  assert.equal(itemAt(items, 50, 6), items[0]);
  assert.equal(itemAt(items, 101, 6).result, 'failed');
  assert.equal(itemAt(items, 150, 6), undefined);
  assert.equal(itemAt(items, 196, 6), items[2]);
});

test('a lane is summed up in words', () => {
  setZone({offsets: [{from: null, seconds: 0}]});
  const at = (text) => Date.parse(`2026-11-16T${text}Z`);
  const task = {taskName: 'backup', runs: [[0, 1, 's', 2], [5, 6, 'f', 1]], pulses: [[at('02:15'), at('02:15'), 1], [at('03:15'), at('03:15'), 1]]};

  assert.equal(summaryOf(task, at('03:00')), 'backup: 3 runs, 1 failed; next 03:15');
  assert.equal(summaryOf({...task, runs: [], pulses: []}, at('03:00')), 'backup: 0 runs; no pulse in this range');
  assert.equal(summaryOf({...task, runs: [[0, 1, 'i', 1], [2, 2, 'r', 1]]}, at('03:00')),
    'backup: 1 run, 1 interrupted, 1 running; next 03:15');
});

test('the end of a span has its date only on another day, and always its offset', () => {
  const at = (text) => Date.parse(text);
  setZone({offsets: [{from: null, seconds: -14400}, {from: '2026-11-01T06:00:00.000Z', seconds: -18000}]});

  assert.equal(spanText(at('2026-11-01T05:30:00Z'), at('2026-11-01T06:30:00Z')), '2026-11-01 01:30:00 −04:00 – 01:30:00 −05:00');
  assert.equal(spanText(at('2026-11-01T03:00:00Z'), at('2026-11-01T05:00:00Z')),
    '2026-10-31 23:00:00 −04:00 – 2026-11-01 01:00:00 −04:00');
});
