import assert from 'node:assert/strict';
import test from 'node:test';

import {assertNoHorizontalScroll, awaitRows, eventually, open, row, start} from './support/harness.mjs';

const names = (page) => page.locator('tr[data-task]').evaluateAll((rows) => rows.map((row) => row.dataset.task));
const busy = {options: ['--max-concurrent', '2']};

test('what fails is first, then what is overdue, then the rest by name', async (t) => {
  const page = await open(t, await start(t, 'shop', busy));

  await awaitRows(page);
  const order = await names(page);
  assert.deepEqual(order.slice(0, 3), ['sync stock', 'resize images', 'back up database']);
  assert.equal(order.length, 16);
  assert.match(await row(page, 'sync stock').innerText(), /Failing/);
  assert.match(await row(page, 'resize images').innerText(), /Overdue/);
  assert.match(await row(page, 'rebuild search index').innerText(), /Running/);
  assert.match(await row(page, 'sync stock').innerText(), /exit status 1: stock\.example\.com: connection refused/);
});

test('a row shows the schedule in English, the last result, its duration and the next run', async (t) => {
  const page = await open(t, await start(t, 'shop'));

  const text = await row(page, 'back up database').innerText();
  assert.match(text, /At 02:15/);
  assert.match(text, /succeeded/);
  assert.match(text, /7 h ago/);
  assert.match(text, /\d+ min \d+ s/);
  assert.match(text, /in 16 h/);
  assert.match(text, /tomorrow 02:15 \+02:00/);
  assert.match(await row(page, 'monthly report').innerText(), /no run yet/);
});

test('the strip says how the last runs ended, also without colours', async (t) => {
  const page = await open(t, await start(t, 'shop'));

  const strip = row(page, 'sync stock').getByRole('img');
  const label = await strip.getAttribute('aria-label');
  assert.match(label, /30/);
  assert.match(label, /failed/);
  // The bars of a failed run are taller.
  const height = async (result) => (await strip.locator(`[data-result=${result}]`).boundingBox()).height;
  assert.ok(await height('f') > await height('s') + 2);
  assert.match(await row(page, 'rebuild search index').getByRole('img').getAttribute('aria-label'), /interrupted/);
});

test('times are those of the daemon, and the switch to UTC is remembered', async (t) => {
  const page = await open(t, await start(t, 'shop'));
  const next = row(page, 'mail invoices').locator('.next');

  await eventually(async () => assert.match(await next.innerText(), /tomorrow 09:00 \+02:00/));
  await page.getByRole('button', {name: 'UTC'}).click();
  assert.match(await next.innerText(), /tomorrow 07:00 \+00:00/);
  await page.reload();
  assert.match(await next.innerText(), /tomorrow 07:00 \+00:00/);
  await page.getByRole('button', {name: 'Local'}).click();
  assert.match(await next.innerText(), /tomorrow 09:00 \+02:00/);
});

test('a wrong clock of the browser changes nothing', async (t) => {
  const page = await open(t, await start(t, 'shop'), '/', {
    before: (page) => page.clock.install({time: new Date('2031-01-05T03:00:00Z')}),
  });

  await eventually(async () => assert.match(await row(page, 'mail invoices').innerText(), /in 22 h[^]*tomorrow 09:00 \+02:00/));
});

test('search finds parts of names, in any case, and is a part of the address', async (t) => {
  const page = await open(t, await start(t, 'shop'));
  await awaitRows(page);

  await page.getByRole('searchbox').fill('BACK');
  assert.deepEqual(await names(page), ['back up database', 'verify backup']);
  assert.match(page.url(), /q=BACK/);
  await page.reload();
  await awaitRows(page);
  assert.deepEqual(await names(page), ['back up database', 'verify backup']);
  await page.getByRole('searchbox').fill('no such task');
  await page.getByText('No task matches').waitFor();
  assert.equal((await names(page)).length, 0);
});

test('a filter shows the tasks in one state', async (t) => {
  const page = await open(t, await start(t, 'shop', busy));
  await awaitRows(page);
  const filter = (name) => page.getByRole('group', {name: 'Filter by state'}).getByRole('button', {name}).click();

  await filter('Failing');
  assert.deepEqual(await names(page), ['sync stock']);
  await filter('Overdue');
  assert.deepEqual(await names(page), ['resize images']);
  await filter('Running');
  assert.deepEqual(await names(page), ['import supplier feed', 'rebuild search index']);
  await filter('All');
  assert.equal((await names(page)).length, 16);
});

test('a column sorts, and once more in the other direction', async (t) => {
  const page = await open(t, await start(t, 'shop'));
  await awaitRows(page);
  const head = page.getByRole('columnheader', {name: 'Next run'});
  const next = async () => (await page.locator('td.next time:last-child').evaluateAll((times) => times.map((time) => time.dateTime)));

  await head.getByRole('button').click();
  assert.equal(await head.getAttribute('aria-sort'), 'ascending');
  const ascending = await next();
  assert.deepEqual(ascending, [...ascending].sort());
  await head.getByRole('button').click();
  assert.equal(await head.getAttribute('aria-sort'), 'descending');
  const descending = await next();
  assert.deepEqual(descending, [...descending].sort().reverse());
  assert.notDeepEqual(ascending, descending);
});

for (const width of [390, 360]) {
  test(`on a phone of ${width} px nothing is wider than the window`, async (t) => {
    const page = await open(t, await start(t, 'shop', busy), '/', {width, height: 844});

    await awaitRows(page);
    await assertNoHorizontalScroll(page);
  });
}

test('without JavaScript, times have their offset and names are not broken into letters', async (t) => {
  const page = await open(t, await start(t, 'shop'), '/', {width: 390, height: 844, javaScriptEnabled: false});

  const cells = page.locator('tr').filter({hasText: 'check website'}).locator('td');
  assert.match(await cells.last().innerText(), /^2026-06-17 10:1\d:00 \+02:00$/);
  assert.ok((await cells.first().locator('bdi').boundingBox()).height < 30);
  await assertNoHorizontalScroll(page);
});

test('the groups of the list are headers of their rows, not of columns', async (t) => {
  const page = await open(t, await start(t, 'shop'));

  await page.getByRole('rowheader', {name: 'Needs attention'}).waitFor();
  assert.equal(await page.getByRole('columnheader').count(), 6);
});

test('a daemon without tasks says so', async (t) => {
  const {emptyWorld} = await import('./support/worlds.mjs');
  const page = await open(t, await start(t, await emptyWorld('# nothing yet\n')));

  await page.getByRole('heading', {name: 'No tasks'}).waitFor();
  assert.match(await page.locator('.summary').innerText(), /^0 tasks\s+daemon since today/);
});
