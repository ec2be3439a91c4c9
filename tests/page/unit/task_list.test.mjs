import assert from 'node:assert/strict';
import {test} from 'node:test';

import {
  entriesOf, inOrder, isIn, lastEnd, parseSort, recentLabel, search, sortText, stateOf,
} from '../../../src/page/task_list.js';

const task = (taskName, more) => ({
  taskName, state: 'AwaitingRun', failing: false, overdueSince: null, lastResult: null, lastAttemptAt: null, lastSuccessAt: null,
  lastFailureAt: null, lastDurationMs: null, recent: '', nextDueAt: null, ...more,
});
const instant = '2026-11-16T12:00:00.000Z';
const names = (entries) => entries.map(({name}) => name).join(' ');

test('the state that matters most is shown', () => {
  assert.equal(stateOf(task('a')), 'waiting');
  assert.equal(stateOf(task('a', {state: 'Running'})), 'running');
  assert.equal(stateOf(task('a', {state: 'AwaitingRetry', failing: true})), 'failing');
  assert.equal(stateOf(task('a', {overdueSince: instant})), 'overdue');
  assert.equal(stateOf(task('a', {state: 'Running', failing: true, overdueSince: instant})), 'failing');
});

test('a task can be in several states, but only waits if it is in no other', () => {
  const both = task('a', {state: 'Running', failing: true});
  assert.ok(isIn(both, 'failing') && isIn(both, 'running'));
  assert.ok(!isIn(both, 'overdue') && !isIn(both, 'waiting'));
  assert.ok(isIn(task('a'), 'waiting'));
});

test('what needs attention is first, and running tasks keep their place', () => {
  const entries = entriesOf([
    task('a'), task('b', {state: 'Running'}), task('c', {overdueSince: instant}), task('d', {failing: true}), task('e'),
  ]);
  assert.equal(names(inOrder(entries, parseSort(null))), 'd c a b e');
});

test('tasks without a value are last in both directions', () => {
  const entries = entriesOf([
    task('never'), task('late', {nextDueAt: '2026-11-17T00:00:00.000Z'}), task('soon', {nextDueAt: instant}), task('none'),
  ]);
  assert.equal(names(inOrder(entries, parseSort('next'))), 'soon late never none');
  assert.equal(names(inOrder(entries, parseSort('-next'))), 'late soon never none');
});

test('each column begins with what people look for', () => {
  const entries = entriesOf([
    task('a', {lastDurationMs: 5, recent: 'sss', lastResult: 'succeeded', lastSuccessAt: '2026-11-16T12:00:00.000Z'}),
    task('b', {lastDurationMs: 50, recent: 'sfi', lastResult: 'failed', lastFailureAt: '2026-11-16T13:00:00.000Z'}),
  ]);
  for (const [sort, order] of [['task', 'a b'], ['-task', 'b a'], ['duration', 'b a'], ['recent', 'b a'], ['last', 'b a'], ['-last', 'a b']]) {
    assert.equal(names(inOrder(entries, parseSort(sort))), order, sort);
  }
});

test('a sort has one text, and the default has none', () => {
  for (const text of ['', '-state', 'task', '-task', 'last', '-next']) assert.equal(sortText(parseSort(text)), text);
  for (const text of [null, 'constructor', '--next', 'state']) assert.equal(sortText(parseSort(text)), '');
});

test('a search finds names that contain every word, and counts their states', () => {
  const entries = entriesOf([task('Backup db1'), task('backup DB2', {failing: true}), task('mail')]);

  const {found, counts} = search(entries, ' db  BACK ', '');

  assert.equal(names(found), 'Backup db1 backup DB2');
  assert.deepEqual(counts, {all: 2, failing: 1, overdue: 0, running: 0, waiting: 1});
  assert.equal(names(search(entries, 'backup', 'failing').found), 'backup DB2');
  assert.equal(search(entries, '', '').found.length, 3);
});

test('a search through 10,000 tasks looks at the names only', () => {
  const entries = entriesOf(Array.from({length: 10000}, (_, i) => task(`task ${i}`)));
  assert.equal(search(entries, '999', '').found.length, 19);
});

test('the last end is that of the last result', () => {
  const times = {lastAttemptAt: 'attempt', lastSuccessAt: 'success', lastFailureAt: 'failure'};
  assert.equal(lastEnd(task('a', {...times, lastResult: 'succeeded'})), 'success');
  assert.equal(lastEnd(task('a', {...times, lastResult: 'failed'})), 'failure');
  assert.equal(lastEnd(task('a', {...times, lastResult: 'interrupted'})), 'attempt');
  assert.equal(lastEnd(task('a', times)), null);
  // The attempt is that of the next run, and nobody knows when the interrupted one began.
  assert.equal(lastEnd(task('a', {...times, lastResult: 'interrupted', state: 'Running'})), null);
  assert.equal(lastEnd(task('a', {...times, lastResult: 'failed', state: 'Running'})), 'failure');
});

test('the strip of runs has a label', () => {
  for (const [recent, label] of [
    ['', 'no runs yet'], ['s', 'last run: succeeded'], ['f', 'last run: 1 failed'], ['sss', 'last 3 runs: all succeeded'],
    ['sfsfi', 'last 5 runs: 2 failed, 1 interrupted'],
  ]) assert.equal(recentLabel(recent), label);
});
