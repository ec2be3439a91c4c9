import assert from 'node:assert/strict';
import {writeFile} from 'node:fs/promises';
import test from 'node:test';

import {awaitRows, eventually, open, start} from './support/harness.mjs';
import {emptyWorld} from './support/worlds.mjs';

const task = '[[task]]\nname = "every minute"\ncron = "* * * * *"\nretry = "1h"\nrun = "true"\n';

test('with --verify, the page says that the trace conforms, over how many events', async (t) => {
  const daemon = await start(t, await emptyWorld(task, {now: Date.parse('2026-06-17T10:14:57Z')}),
    {options: ['--verify', '--trace', 'trace.ndjson']});
  const page = await open(t, daemon);
  await awaitRows(page);

  const count = async () => {
    const text = await page.getByText(/events of the trace .*trace\.ndjson/).innerText();
    assert.match(text, /conform/);
    return Number(/(\d+) events/.exec(text)[1]);
  };
  const before = await eventually(count);
  assert.ok(before >= 1);
  // The next minute starts a run, and the count grows.
  await daemon.event('TaskRunStarted', ({actualTime}) => actualTime >= '2026-06-17T10:15');
  await eventually(async () => assert.ok(await count() > before));
});

test('without --verify, nothing is said about a judge', async (t) => {
  const page = await open(t, await start(t, await emptyWorld(task)));

  await awaitRows(page);
  assert.equal(await page.getByText(/conforms|trace/i).count(), 0);
});

test('a violation is named, with its axiom and its line', async (t) => {
  const world = await emptyWorld(task);
  // A run that was started for no reason, as a broken scheduler would have written it.
  const daemon = await start(t, world, {options: ['--verify', '--trace', 'trace.ndjson']});
  await daemon.event('TaskRunCompleted');
  await daemon.end();
  const {readFile} = await import('node:fs/promises');
  const lines = (await readFile(`${world.directory}/trace.ndjson`, 'utf8')).trimEnd().split('\n');
  const started = lines.find((line) => /"every minute"/.test(line) && /start/i.test(line));
  assert.ok(started, `no start in ${lines.join('\n')}`);
  const at = lines.indexOf(started);
  // The same start twice: the task runs twice at the same time.
  lines.splice(at, 0, started);
  await writeFile(`${world.directory}/trace.ndjson`, lines.join('\n') + '\n');
  daemon.events.length = 0;
  daemon.options = {...daemon.options, at: Date.parse('2026-06-17T10:14:58Z')};
  await daemon.start();
  const page = await open(t, daemon);

  await page.getByText(/Violates \w+ at line \d+/).waitFor();
  await page.getByText(/violations? in \d+ events/).waitFor();
});
