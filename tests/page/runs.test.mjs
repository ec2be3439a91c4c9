import assert from 'node:assert/strict';
import test from 'node:test';

import {assertNoHorizontalScroll, eventually, open, start} from './support/harness.mjs';

const runs = (page) => page.locator('[data-run]');
const attributes = (page, name) => runs(page).evaluateAll((rows, attribute) => rows.map((row) => row.getAttribute(attribute)), name);

async function openRuns(t, path = '/runs', options) {
  const page = await open(t, await start(t, 'shop'), path, options);
  await runs(page).first().waitFor();
  return page;
}

test('the newest runs of all tasks are first', async (t) => {
  const page = await openRuns(t);

  const ids = (await attributes(page, 'data-run')).map(Number);
  assert.deepEqual(ids, [...ids].sort((a, b) => b - a));
  assert.equal(ids.length, 50);
  assert.ok(new Set(await attributes(page, 'data-task')).size > 3);
});

test('older runs follow, each once', async (t) => {
  const page = await openRuns(t);

  await page.getByRole('button', {name: 'Show older runs'}).click();
  await eventually(async () => assert.equal(await runs(page).count(), 100));
  const ids = (await attributes(page, 'data-run')).map(Number);
  assert.equal(new Set(ids).size, 100);
  assert.deepEqual(ids, [...ids].sort((a, b) => b - a));
});

test('a filter by result shows only those, and is a part of the address', async (t) => {
  const page = await openRuns(t);

  await page.getByRole('group', {name: 'Result'}).getByRole('button', {name: 'Interrupted'}).click();
  // Two by the crash in the night, three by the last one.
  await eventually(async () => assert.equal(await runs(page).count(), 5));
  assert.deepEqual([...new Set(await attributes(page, 'data-result'))], ['interrupted']);
  assert.match(page.url(), /result=interrupted/);
  await page.reload();
  await eventually(async () => assert.equal(await runs(page).count(), 5));
});

test('a filter by time and a search combine', async (t) => {
  const page = await openRuns(t);

  await page.getByRole('searchbox').fill('BACKUP');
  await eventually(async () => assert.deepEqual([...new Set(await attributes(page, 'data-task'))], ['verify backup']));
  const all = await runs(page).count();
  await page.getByRole('group', {name: 'Ended within'}).getByRole('button', {name: '24 h'}).click();
  await eventually(async () => assert.equal(await runs(page).count(), 1));
  assert.equal(all, 3);
  await page.getByRole('searchbox').fill('nothing like it');
  await page.getByRole('heading', {name: 'No run matches'}).waitFor();
});

test('a run opens with its output, and leads to its task', async (t) => {
  const page = await openRuns(t, '/runs?q=back up database');

  await runs(page).first().getByRole('button').click();
  await page.getByText('wrote /srv/backup/shop.dump (4.2 GiB)').waitFor();
  await runs(page).first().getByRole('link', {name: 'back up database'}).click();
  await page.getByRole('heading', {level: 1, name: 'back up database'}).waitFor();
  assert.match(page.url(), /\/tasks\/back%20up%20database$/);
  await page.goBack();
  await page.getByRole('heading', {level: 1, name: 'Runs'}).waitFor();
  assert.match(page.url(), /\/runs\?q=/);
});

for (const width of [390, 360]) {
  test(`on a phone of ${width} px nothing is wider than the window`, async (t) => {
    const page = await openRuns(t, '/runs', {width, height: 844});

    await runs(page).first().getByRole('button').click();
    await assertNoHorizontalScroll(page);
  });
}

test('the longest time does not run into the next column', async (t) => {
  const daemon = await start(t, 'autumn');
  for (const width of [1001, 1280]) {
    const page = await open(t, daemon, '/tasks/at%20half%20past%20one', {width});
    await page.getByText(/^yesterday 01:30:00/).first().waitFor();
    assert.deepEqual(await page.locator('td.started').evaluateAll((cells) =>
      cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.innerText)), []);
  }
});

test('an output is announced, but not read aloud', async (t) => {
  const page = await openRuns(t, '/runs?q=back up database');

  await runs(page).first().getByRole('button').click();
  await page.getByRole('status').getByText('The output is shown.').waitFor({state: 'attached'});
  assert.equal(await page.locator('[aria-live] pre, [role=status] pre').count(), 0);
});

test('what was typed does not change the address of the next page', async (t) => {
  const page = await openRuns(t);

  await page.evaluate(() => {
    const field = document.querySelector('input[type=search]');
    field.value = 'backup';
    field.dispatchEvent(new Event('input'));
    document.querySelector('.pages-nav a[href="/"]').click();
  });
  await page.getByRole('heading', {level: 1, name: 'Tasks'}).waitFor();
  await page.waitForTimeout(400);
  assert.equal(new URL(page.url()).search, '');
});

test('older runs that arrive after the filter has changed are not shown', async (t) => {
  const page = await openRuns(t);
  let release;
  const released = new Promise((resolve) => { release = resolve; });
  await page.route(/cursor=/, async (route) => {
    await released;
    await route.continue();
  });

  await page.getByRole('button', {name: 'Show older runs'}).click();
  await page.getByRole('group', {name: 'Result'}).getByRole('button', {name: 'Interrupted'}).click();
  await eventually(async () => assert.equal(await runs(page).count(), 5));
  const answer = page.waitForResponse(/cursor=/);
  release();
  await (await answer).finished();
  await page.waitForTimeout(200);
  assert.equal(await runs(page).count(), 5);
});

test('a table to which runs come keeps about 200 rows, those that are open, and the place where older ones begin', async (t) => {
  const page = await openRuns(t);

  const found = await page.evaluate(async () => {
    const {runTable} = await import(document.querySelector('link[href$="/run.js"]').href);
    const table = runTable({label: 'Test'});
    const run = (id) => ({id, taskName: 'a', startedAt: '2026-06-17T08:00:00.000Z', durationMs: 1, latenessMs: 1, result: 'succeeded',
      reason: 'cron', pulse: '2026-06-17T08:00:00.000Z', attempt: 1, exitStatus: 0, signal: null, timeLimit: false, error: null, output: '',
      processId: 1, userMs: null, systemMs: null, memoryMaxBytes: null, outputBytes: 0});
    const from = (newest, count) => Array.from({length: count}, (_, i) => run(newest - i));
    const state = (last) => ({last, size: table.ids.size, rows: table.node.querySelectorAll('[data-run]').length,
      oldest: Number([...table.node.querySelectorAll('[data-run]')].at(-1).dataset.run)});
    table.set(from(1000, 50));
    const states = [state(table.prepend(from(1150, 150))), state(table.prepend(from(1160, 10)))];
    table.append(from(960, 100));  // the reader asks for more
    states.push(state(table.prepend(from(1170, 10))));
    table.node.querySelector('tbody').lastChild.querySelector('button').click();
    states.push(state(table.prepend(from(1180, 10))));
    table.node.querySelector('tr.opened').previousSibling.querySelector('button').click();
    states.push(state(table.prepend(from(1181, 1))));
    return states;
  });
  assert.deepEqual(found, [
    {last: null, size: 200, rows: 200, oldest: 951},
    {last: 961, size: 200, rows: 200, oldest: 961},
    {last: 871, size: 300, rows: 300, oldest: 871},
    {last: null, size: 310, rows: 310, oldest: 871},
    {last: 882, size: 300, rows: 300, oldest: 882},
  ]);
});
