// What the reader does survives an update: the focus, a selection, an open group, the place in a plot.

import assert from 'node:assert/strict';
import test from 'node:test';

import {eventually, open, start} from './support/harness.mjs';
import {heldWorld} from './support/held.mjs';

const focused = (page) => page.evaluate(() => document.activeElement.textContent);
// A few seconds before "check website" is due.
const beforeAPulse = {at: Date.parse('2026-06-17T08:14:54Z')};

test('a button of an empty list keeps the focus', async (t) => {
  const {world, release} = await heldWorld();
  const daemon = await start(t, world);
  const [tasks, runs] = [await open(t, daemon, '/?q=nothing'), await open(t, daemon, '/runs?task=z')];
  await tasks.getByRole('button', {name: 'Show all tasks'}).focus();
  await runs.getByRole('button', {name: 'Show all tasks'}).focus();
  await tasks.getByText('1 running').waitFor();

  await release(0);
  await tasks.getByText('1 running').waitFor({state: 'detached'});
  await runs.locator('[data-run]').waitFor();
  assert.equal(await focused(tasks), 'Show all tasks');
  assert.equal(await focused(runs), 'Show all tasks');
});

test('the page of a task keeps what is open, and the place in a plot', async (t) => {
  const daemon = await start(t, 'shop', beforeAPulse);
  const page = await open(t, daemon, '/tasks/check%20website');
  await page.getByText('By day').click();
  const {runs} = await (await fetch(`${daemon.url}/api/v1/runs?task=check+website&limit=3`)).json();
  const tip = (run) => page.locator('.tip', {hasText: `:${run.startedAt.slice(14, 19)} `}).waitFor();
  const plot = page.getByRole('img', {name: /^Duration/});
  await plot.focus();
  await page.keyboard.press('ArrowLeft');
  await tip(runs[0]);

  await eventually(async () => assert.ok(await page.locator('[data-run]').first().getAttribute('data-run') > runs[0].id), 90_000);
  await tip(runs[0]);
  await page.keyboard.press('ArrowLeft');
  await tip(runs[1]);
  assert.equal(await page.locator('details:has(.days)').getAttribute('open'), '');
});

test('a summary keeps the focus', async (t) => {
  const page = await open(t, await start(t, 'shop', beforeAPulse), '/tasks/check%20website');
  const newest = await page.locator('[data-run]').first().getAttribute('data-run');
  await page.getByText('By day').focus();

  await eventually(async () => assert.notEqual(await page.locator('[data-run]').first().getAttribute('data-run'), newest), 90_000);
  assert.equal(await focused(page), 'By day');
});
