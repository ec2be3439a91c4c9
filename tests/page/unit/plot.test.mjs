import assert from 'node:assert/strict';
import {test} from 'node:test';

import {axisOf} from '../../../src/page/plot.js';

test('a small spread has a linear axis from zero', () => {
  const axis = axisOf([900, 1200, 1800]);

  assert.equal(axis.log, false);
  assert.deepEqual(axis.ticks, [0, 1200, 1800]);
  assert.equal(axis.y(900), 0.5);
});

test('one outlier makes the axis logarithmic', () => {
  const axis = axisOf([20, 22, 25, 30, 20_000]);

  assert.equal(axis.log, true);
  assert.deepEqual(axis.ticks, [20, 25, 20_000]);
  assert.equal(axis.y(20), 0);
  assert.equal(axis.y(20_000), 1);
  assert.ok(Math.abs(axis.y(200) - 1 / 3) < 1e-9);
});

test('every value lies between the bottom and the top', () => {
  const lists = [[], [0], [0, 0, 0], [1], [0, 1e10], [5, 7, 3e9], [-4, 2], [0, 0, 5e6], [1, 1, 1e12]];
  for (const values of lists) {
    const axis = axisOf(values);
    for (const value of [...values, ...axis.ticks]) {
      const y = axis.y(value);
      assert.ok(y >= 0 && y <= 1 + 1e-9, `${value} of ${JSON.stringify(values)}: ${y}`);
    }
  }
});

test('the median of an even number of values lies between the two in the middle', () => {
  assert.equal(axisOf([3]).median, 3);
  assert.equal(axisOf([1, 2, 10, 20]).median, 6);
});
