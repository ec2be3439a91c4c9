import assert from 'node:assert/strict';
import {writeFile} from 'node:fs/promises';
import test from 'node:test';

import {awaitRows, eventually, open, row, start} from './support/harness.mjs';
import {heldWorld} from './support/held.mjs';
import {emptyWorld} from './support/worlds.mjs';

// A second or two before 08:15:00 UTC, when "check website" is due.
const beforeAPulse = {at: Date.parse('2026-06-17T08:14:57.500Z')};

test('a row changes when its run ends, without a reload and without asking now and then', async (t) => {
  const {world, release} = await heldWorld();
  const daemon = await start(t, world);
  // Long timers never fire, so that only an event can make the page ask.
  const page = await open(t, daemon, '/', {before: (page) => page.addInitScript(() => {
    const {setTimeout} = window;
    window.setTimeout = (work, ms, ...rest) => (ms > 10_000 ? 0 : setTimeout(work, ms, ...rest));
  })});
  const state = () => row(page, 'z').locator('td.state').innerText();
  await eventually(async () => assert.match(await state(), /Running/));
  await page.getByText('Live', {exact: true}).waitFor();
  await page.evaluate(() => { window.stayed = true; });

  await release(0);
  await eventually(async () => assert.match(await state(), /Waiting/));
  assert.match(await row(page, 'z').locator('td.last').innerText(), /succeeded/);
  assert.match(await row(page, 'z').getByRole('img').getAttribute('aria-label'), /^last run: succeeded$/);
  assert.equal(await page.evaluate(() => window.stayed), true);
});

test('a task that begins to fail moves to the top and keeps the focus', async (t) => {
  const {world, release} = await heldWorld();
  const daemon = await start(t, world);
  const page = await open(t, daemon);
  await eventually(async () => assert.equal(await page.locator('tr[data-task]').first().getAttribute('data-task'), 'a'));
  await row(page, 'z').getByRole('link').focus();

  await release(3);
  await eventually(async () => assert.equal(await page.locator('tr[data-task]').first().getAttribute('data-task'), 'z'));
  await eventually(async () => assert.match(await row(page, 'z').innerText(), /Failing[^]*exit status 3: ends with 3/));
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'z');
});

test('the runs, the timeline and the page of a task show a run that ends meanwhile', async (t) => {
  const {world, release} = await heldWorld();
  const daemon = await start(t, world);
  const [runs, task, timeline] = [await open(t, daemon, '/runs'), await open(t, daemon, '/tasks/z'), await open(t, daemon, '/timeline')];
  await runs.locator('[data-run][data-task=a]').waitFor();
  await task.locator('.mark.running').first().waitFor();
  await timeline.locator('[data-task=z] [data-result=running]').waitFor({state: 'attached'});
  assert.equal(await runs.locator('[data-run][data-task=z]').count(), 0);

  await release(3);
  await runs.locator('[data-run][data-task=z][data-result=failed]').waitFor();
  await task.locator('[data-run][data-result=failed]').waitFor();
  await timeline.locator('[data-task=z] [data-result=failed]').waitFor({state: 'attached'});
});

test('a task that is due starts and ends while the page is open', async (t) => {
  const daemon = await start(t, 'shop', beforeAPulse);
  const page = await open(t, daemon);

  await eventually(async () => assert.match(await row(page, 'check website').locator('td.next').innerText(), /10:16 \+02:00/));
  await daemon.event('TaskRunCompleted', ({taskName}) => taskName === 'check website');
});

test('a reload of the task file adds and removes rows', async (t) => {
  const file = (names) => names.map((name) => `[[task]]\nname = "${name}"\ncron = "0 3 * * *"\nretry = "1h"\nrun = "true"\n`).join('');
  const world = await emptyWorld(file(['one', 'two']));
  const daemon = await start(t, world);
  const page = await open(t, daemon);
  await row(page, 'two').waitFor();

  await writeFile(`${world.directory}/tasks.toml`, file(['two', 'three']));
  daemon.signal('SIGHUP');
  await row(page, 'three').waitFor();
  await eventually(async () => assert.equal(await row(page, 'one').count(), 0));
});

test('a task that becomes overdue is shown without an event', async (t) => {
  const daemon = await start(t, 'shop', {...beforeAPulse, options: ['--max-concurrent', '2']});
  const page = await open(t, daemon);
  await awaitRows(page);

  await eventually(async () => assert.equal(await row(page, 'check website').getAttribute('data-state'), 'overdue'));
});
