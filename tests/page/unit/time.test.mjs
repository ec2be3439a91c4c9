import assert from 'node:assert/strict';
import {beforeEach, test} from 'node:test';

import {
  clock, dayAndClock, dayText, duration, lasting, mode, offsetAt, offsetText, onMode, parts, relative, setMode, setZone, stamp,
} from '../../../src/page/time.js';

const at = (text) => Date.parse(text);
const newYork = {offsets: [
  {from: null, seconds: -18000},
  {from: '2026-03-08T07:00:00.000Z', seconds: -14400},
  {from: '2026-11-01T06:00:00.000Z', seconds: -18000},
]};

// Changing the mode writes the times in the document again.
globalThis.document = {getElementsByTagName: () => []};

beforeEach(() => {
  setZone(newYork);
  setMode('local');
});

test('a time is in the zone of the daemon, with its offset', () => {
  assert.equal(stamp(at('2026-07-01T12:00:00Z')), '2026-07-01 08:00 −04:00');
  assert.equal(stamp(at('2026-12-01T12:00:05Z'), {seconds: true}), '2026-12-01 07:00:05 −05:00');
  assert.equal(stamp(at('2026-12-01T12:00:05Z'), {date: false, offset: false}), '07:00');
});

test('a repeated hour is told apart by its offset', () => {
  assert.equal(stamp(at('2026-11-01T05:30:00Z')), '2026-11-01 01:30 −04:00');
  assert.equal(stamp(at('2026-11-01T06:30:00Z')), '2026-11-01 01:30 −05:00');
});

test('the clock jumps over the hour that is missing', () => {
  assert.equal(clock(at('2026-03-08T06:59:00Z')), '01:59');
  assert.equal(clock(at('2026-03-08T07:00:00Z')), '03:00');
});

test('an offset holds from its first instant on', () => {
  assert.equal(offsetAt(at('2026-03-08T06:59:59.999Z')), -18000);
  assert.equal(offsetAt(at('2026-03-08T07:00:00.000Z')), -14400);
  assert.equal(offsetAt(at('1990-01-01T00:00:00Z')), -18000);
  assert.equal(offsetAt(at('2090-07-01T00:00:00Z')), -18000);
});

test('UTC is one switch away, and listeners hear of it', () => {
  const heard = [];
  const end = onMode((next) => heard.push(next));

  setMode('utc');
  assert.equal(mode(), 'utc');
  assert.equal(stamp(at('2026-07-01T12:00:00Z')), '2026-07-01 12:00 +00:00');
  end();
  setMode('local');

  assert.deepEqual(heard, ['utc']);
});

test('parts belong to the local day', () => {
  assert.deepEqual(parts(at('2026-07-01T02:03:04Z')),
    {year: 2026, month: 6, day: 30, hour: 22, minute: 3, second: 4, weekday: 2, offset: -14400});
});

test('offsets may have minutes and seconds', () => {
  assert.equal(offsetText(0), '+00:00');
  assert.equal(offsetText(20700), '+05:45');
  assert.equal(offsetText(-12600), '−03:30');
  assert.equal(offsetText(-17762), '−04:56:02');
});

test('a day is said as people say it', () => {
  const now = at('2026-11-16T12:00:00Z');
  for (const [instant, text] of [
    ['2026-11-16T05:00:00Z', 'today'],
    ['2026-11-16T04:59:00Z', 'yesterday'],
    ['2026-11-17T05:00:00Z', 'tomorrow'],
    ['2026-11-20T12:00:00Z', 'Fri 20 Nov'],
    ['2028-02-29T12:00:00Z', '29 Feb 2028'],
    ['2025-01-01T12:00:00Z', '1 Jan 2025'],
  ]) assert.equal(dayText(at(instant), now), text, instant);
  assert.equal(dayAndClock(at('2026-11-17T08:15:00Z'), now), 'tomorrow 03:15 −05:00');
});

test('a distance has the unit that matters', () => {
  const now = at('2026-11-16T12:00:00Z');
  for (const [seconds, text] of [
    [0, 'now'], [0.9, 'now'], [-0.9, 'now'], [1, 'in 1 s'], [59, 'in 59 s'], [60, 'in 1 min'], [725, 'in 12 min'],
    [3600, 'in 1 h'], [3600 * 1.5, 'in 1 h 30 min'], [3600 * 3.5, 'in 3 h'], [86400 * 2.5, 'in 2 d 12 h'], [86400 * 40, 'in 40 d'],
    [-5, '5 s ago'], [-7200, '2 h ago'],
  ]) assert.equal(relative(now + seconds * 1000, now), text, String(seconds));
  assert.equal(lasting(now - 65000, now), 'for 1 min');
  assert.equal(lasting(now + 5000, now), 'for 0 s');
});

test('a duration has two figures that matter', () => {
  for (const [ms, text] of [
    [null, '–'], [0, '0 ms'], [17, '17 ms'], [999, '999 ms'], [1000, '1.0 s'], [1234, '1.2 s'], [9999, '9.9 s'], [10000, '10 s'],
    [59999, '59 s'], [60000, '1 min'], [250000, '4 min 10 s'], [3600000, '1 h'], [7500000, '2 h 5 min'], [273600000, '3 d 4 h'],
    [-1500, '−1.5 s'],
  ]) assert.equal(duration(ms), text, String(ms));
});
