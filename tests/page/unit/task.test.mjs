import assert from 'node:assert/strict';
import {test} from 'node:test';

import {commandText, oddities} from '../../../src/page/task.js';
import {setZone} from '../../../src/page/time.js';

test('a command of the shell is shown as its text, any other one word by word', () => {
  assert.equal(commandText(['/bin/sh', '-c', 'pg_dump app | zstd']), 'pg_dump app | zstd');
  assert.equal(commandText(['/usr/bin/x', 'a b', 'c']), `/usr/bin/x 'a b' c`);
});

test('pulses at a local time that occurs twice are told apart', () => {
  setZone({offsets: [{from: null, seconds: -14400}, {from: '2026-11-01T06:00:00.000Z', seconds: -18000}]});
  const pulses = ['2026-11-01T04:30:00Z', '2026-11-01T05:30:00Z', '2026-11-01T06:30:00Z'].map((text) => Date.parse(text));

  assert.deepEqual(oddities(pulses), ['', 'first of two', 'second of two']);
  assert.deepEqual(oddities([pulses[1], pulses[2] + 600_000]), ['', 'after the clocks go back']);
});
