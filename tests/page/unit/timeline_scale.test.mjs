import assert from 'node:assert/strict';
import {test} from 'node:test';

import {clamped, day, markOf, rangeOf, scaleOf, stepOf, ticks, usualRange, zoomed} from '../../../src/page/timeline_scale.js';
import {dayText, setZone, stamp} from '../../../src/page/time.js';

const minute = 60_000;
const hour = 60 * minute;
const at = (text) => Date.parse(text);
const now = at('2026-11-01T05:00:00Z');
const newYorkFall = {at: at('2026-11-01T06:00:00Z'), before: -14400, after: -18000};
const newYorkSpring = {at: at('2026-03-08T07:00:00Z'), before: -18000, after: -14400};
const lordHoweFall = {at: at('2026-04-04T15:00:00Z'), before: 39600, after: 37800};
const lordHoweSpring = {at: at('2026-10-03T15:30:00Z'), before: 37800, after: 39600};

// The axis writes the ticks with the zone of the daemon, so the tests do too.
function labels(found, before, ...changes) {
  setZone({offsets: [{from: null, seconds: before}, ...changes.map((change) => ({from: new Date(change.at).toISOString(), seconds: change.after}))]});
  return found.map((tick) => stamp(tick.at, {date: false}));
}

test('a scale maps instants to pixels and back', () => {
  const scale = scaleOf({from: 1000, until: 3000}, 100);

  assert.equal(scale.x(1000), 0);
  assert.equal(scale.x(3000), 100);
  assert.equal(scale.ms(scale.x(1720)), 1720);
  assert.equal(scale.perPixel, 20);
});

test('the usual range has now in the middle', () => {
  const {from, until} = usualRange(now);

  assert.equal((from + until) / 2, now);
  assert.equal(until - from, 2 * day);
});

test('a range stays within seven days of now', () => {
  assert.deepEqual(clamped({from: now - 30 * day, until: now - 29 * day}, now), {from: now - 7 * day, until: now - 6 * day});
  assert.deepEqual(clamped({from: now + 29 * day, until: now + 30 * day}, now), {from: now + 6 * day, until: now + 7 * day});
  assert.deepEqual(clamped({from: now - 90 * day, until: now + 90 * day}, now), {from: now - 7 * day, until: now + 7 * day});
});

test('a range of less than 15 minutes grows around its middle', () => {
  assert.deepEqual(clamped({from: now - minute, until: now + minute}, now), {from: now - 7.5 * minute, until: now + 7.5 * minute});
});

test('zooming keeps the anchor where it is', () => {
  const range = {from: now - 3 * hour, until: now + 9 * hour};

  assert.deepEqual(zoomed(range, 0.5, now), {from: now - 1.5 * hour, until: now + 4.5 * hour});
  assert.deepEqual(zoomed(zoomed(range, 0.5, now), 2, now), range);
});

test('a range is read from the query, and nonsense is ignored', () => {
  const read = (text) => rangeOf(new URLSearchParams(text), now);

  assert.deepEqual(read('from=2026-11-01T00:00:00Z&until=2026-11-01T06:00:00Z'),
    {from: at('2026-11-01T00:00:00Z'), until: at('2026-11-01T06:00:00Z')});
  for (const text of ['', 'from=2026-11-01T00:00:00Z', 'from=x&until=y', 'from=2026-11-02T00:00:00Z&until=2026-11-01T00:00:00Z'])
    assert.equal(read(text), null, text);
});

test('steps between labels are round and leave room', () => {
  assert.equal(stepOf(2 * day / 1000, 56), 3 * hour);
  assert.equal(stepOf(15 * minute / 1000, 56), minute);
  assert.equal(stepOf(14 * day / 300, 56), 7 * day);
});

test('ticks lie at round civil times', () => {
  const found = ticks(at('2026-11-16T05:17:00Z'), at('2026-11-16T08:00:00Z'), hour, [], 19800);

  assert.deepEqual(labels(found, 19800), ['11:00 +05:30', '12:00 +05:30', '13:00 +05:30']);
});

test('the hour that comes twice has its ticks twice', () => {
  const found = ticks(at('2026-11-01T04:00:00Z'), at('2026-11-01T08:00:00Z'), hour, [newYorkFall], -14400);

  assert.deepEqual(labels(found, -14400, newYorkFall), ['00:00 −04:00', '01:00 −04:00', '01:00 −05:00', '02:00 −05:00']);
  assert.deepEqual(found.map((tick) => tick.at - found[0].at), [0, hour, 2 * hour, 3 * hour]);
});

test('the hour that is missing has no tick', () => {
  const found = ticks(at('2026-03-08T05:00:00Z'), at('2026-03-08T09:00:00Z'), hour, [newYorkSpring], -18000);

  assert.deepEqual(labels(found, -18000, newYorkSpring), ['00:00 −05:00', '01:00 −05:00', '03:00 −04:00', '04:00 −04:00']);
  assert.deepEqual(found.map((tick) => tick.at - found[0].at), [0, hour, 2 * hour, 3 * hour]);
});

test('changes by half an hour have their ticks too', () => {
  const fall = ticks(at('2026-04-04T14:00:00Z'), at('2026-04-04T16:00:00Z'), 30 * minute, [lordHoweFall], 39600);
  const spring = ticks(at('2026-10-03T15:00:00Z'), at('2026-10-03T16:30:00Z'), 30 * minute, [lordHoweSpring], 37800);

  assert.deepEqual(labels(fall, 39600, lordHoweFall), ['01:00 +11:00', '01:30 +11:00', '01:30 +10:30', '02:00 +10:30']);
  assert.deepEqual(labels(spring, 37800, lordHoweSpring), ['01:30 +10:30', '02:30 +11:00', '03:00 +11:00']);
});

test('days of 23 and 25 hours begin at midnight', () => {
  const found = ticks(at('2026-10-31T04:00:00Z'), at('2026-11-03T04:00:00Z'), day, [newYorkFall], -14400);

  assert.deepEqual(labels(found, -14400, newYorkFall), ['00:00 −04:00', '00:00 −04:00', '00:00 −05:00']);
  assert.ok(found.every((tick) => tick.midnight));
  assert.equal(found[2].at - found[1].at, 25 * hour);
});

test('weeks begin on a Monday', () => {
  const found = ticks(at('2026-11-01T00:00:00Z'), at('2026-11-15T00:00:00Z'), 7 * day, [], 0);

  setZone({offsets: [{from: null, seconds: 0}]});
  assert.deepEqual(found.map((tick) => dayText(tick.at, found[0].at - 30 * day)), ['Mon 2 Nov', 'Mon 9 Nov']);
});

test('a change of the clocks is a gap or a repeat, with its civil times', () => {
  assert.equal(markOf(newYorkSpring).label, '02:00–03:00 does not exist');
  assert.equal(markOf(newYorkSpring).kind, 'gap');
  assert.equal(markOf(lordHoweSpring).label, '02:00–02:30 does not exist');
  assert.equal(markOf(newYorkFall).label, '01:00–02:00 twice');
  assert.equal(markOf(newYorkFall).offsets, '−04:00, then −05:00');
  assert.deepEqual([markOf(newYorkFall).from, markOf(newYorkFall).until],
    [at('2026-11-01T05:00:00Z'), at('2026-11-01T07:00:00Z')]);
  assert.equal(markOf(lordHoweFall).label, '01:30–02:00 twice');
  assert.equal(markOf(lordHoweFall).until - markOf(lordHoweFall).from, hour);
});
