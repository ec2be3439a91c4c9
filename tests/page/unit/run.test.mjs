import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {test} from 'node:test';

import {bytes, endText, historyCommand, reasonText, shellWord} from '../../../src/page/run.js';

const run = {
  taskName: 'backup', reason: 'cron', attempt: 1, startedAt: '2026-11-16T12:00:00.250Z', durationMs: 1500, result: 'succeeded',
  exitStatus: 0, signal: null, timeLimit: false,
};

test('sizes have a unit', () => {
  for (const [n, text] of [
    [0, '0 bytes'], [1, '1 byte'], [1023, '1023 bytes'], [1024, '1.0 KiB'], [11214848, '10.7 MiB'], [200 * 1024, '200 KiB'],
    [3 * 2 ** 30, '3.0 GiB'], [2 ** 52, '4096 TiB'],
  ]) assert.equal(bytes(n), text);
});

test('a shell reads each word as it was', () => {
  const words = [
    'backup', 'a b', "it's", '$(date)', '`id`', '"x"', 'a\\b', 'back\\', '', 'a;b', 'é 漢', '*', '~', '#', 'new\nline', "tab\t'quote'", 'soft\u00adhyphen', 'tag\u{e0041}', '\\n\n',
  ];
  for (const word of words) {
    assert.equal(execFileSync('bash', ['-c', `printf %s ${shellWord(word)}`], {env: {LC_ALL: 'C.UTF-8'}}).toString(), word, word);
  }
  assert.equal(shellWord('backup'), 'backup');
  assert.equal(shellWord('a b'), "'a b'");
});

test('bidirectional controls do not reorder a command', () => {
  assert.equal(shellWord('\u202egnp'), "$'\\u202egnp'");
});

test('a command shows the run that ended then', () => {
  assert.equal(historyCommand(run, '/var/lib/a b'),
    "dutiful history --state '/var/lib/a b' --since 2026-11-16T12:00:01.750Z --full backup");
  assert.match(historyCommand({...run, taskName: '-n'}, 's'), / -- '-n'$/);
});

test('the end of a run is what the history knows', () => {
  for (const [more, text] of [
    [{}, 'exit status 0'],
    [{exitStatus: 3}, 'exit status 3'],
    [{exitStatus: null, signal: 9, timeLimit: true}, 'time limit exceeded, signal 9'],
    [{exitStatus: null}, 'the command was not started'],
    [{exitStatus: null, result: 'interrupted'}, 'unknown: the daemon ended first'],
  ]) assert.equal(endText({...run, ...more}), text);
});

test('the attempt is named if it is not the first', () => {
  assert.equal(reasonText(run), 'cron');
  assert.equal(reasonText({...run, reason: 'retry', attempt: 3}), 'retry, attempt 3');
  assert.equal(reasonText({...run, reason: null, attempt: 2}), 'attempt 2');
});
