import assert from 'node:assert/strict';
import test from 'node:test';

import {assertNoHorizontalScroll, awaitRows, eventually, open, row, start} from './support/harness.mjs';

test('10,000 tasks are shown, counted, and searched', async (t) => {
  const page = await open(t, await start(t, 'ten_thousand'));

  await awaitRows(page);
  await page.getByText('10,000 tasks').first().waitFor();
  assert.equal(await page.locator('tr[data-task]').first().getAttribute('data-state'), 'failing');
  await page.getByRole('searchbox').fill('customer 0999: rotate');
  await eventually(async () => assert.deepEqual(
    await page.locator('tr[data-task]').evaluateAll((rows) => rows.map((each) => each.dataset.task)), ['customer 0999: rotate keys']));
  // Thirty runs, of which 29 were written in bulk.
  assert.match(await row(page, 'customer 0999: rotate keys').getByRole('img').getAttribute('aria-label'), /30/);
});

test('rows are added as the reader scrolls', async (t) => {
  const page = await open(t, await start(t, 'ten_thousand'));
  await awaitRows(page);

  const before = await page.locator('tr[data-task]').count();
  assert.ok(before < 1000);
  await page.locator('tr[data-task]').last().scrollIntoViewIfNeeded();
  await eventually(async () => assert.ok(await page.locator('tr[data-task]').count() > before));
});

test('on a phone nothing is wider than the window', async (t) => {
  const page = await open(t, await start(t, 'ten_thousand'), '/', {width: 390, height: 844});

  await awaitRows(page);
  await assertNoHorizontalScroll(page);
});

test('without JavaScript the tasks are a table, by page', async (t) => {
  const page = await open(t, await start(t, 'ten_thousand'), '/', {javaScriptEnabled: false});
  const names = () => page.locator('main tbody tr').evaluateAll((rows) => rows.map((each) => each.querySelector('th, td').innerText));

  const first = await names();
  assert.ok(first.length >= 50 && first.length <= 1000);
  await page.locator('a[rel=next]').click();
  const second = await names();
  assert.equal(new Set([...first, ...second]).size, first.length + second.length);
  await page.locator('a[rel=prev]').click();
  assert.deepEqual(await names(), first);
  await assertNoHorizontalScroll(page);
});
