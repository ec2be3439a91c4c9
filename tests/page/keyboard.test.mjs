import assert from 'node:assert/strict';
import test from 'node:test';

import {awaitRows, eventually, open, row, start} from './support/harness.mjs';

const focused = (page) => page.evaluate(() => {
  const node = document.activeElement;
  return node === document.body ? null : (node.getAttribute('aria-label') ?? node.textContent).trim();
});

// Everything that a pointer can press, in the order of the document.
const reachable = (page) => page.evaluate(() => [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
  .filter((node) => node.checkVisibility() && !node.disabled && node.tabIndex >= 0).length);

// Presses Tab until the focus is back at the start. Returns how often it had a new place.
async function walk(page, limit) {
  const seen = new Set();
  for (let i = 0; i < limit; ++i) {
    await page.keyboard.press('Tab');
    const place = await page.evaluate(() => {
      const node = document.activeElement;
      if (node === document.body) return null;
      window.walked ??= new Map();
      if (!window.walked.has(node)) window.walked.set(node, window.walked.size);
      const {outlineStyle, outlineWidth, boxShadow} = getComputedStyle(node);
      return {id: window.walked.get(node), text: node.outerHTML.slice(0, 120), marked: outlineStyle !== 'none' && outlineWidth !== '0px' || boxShadow !== 'none'};
    });
    if (place === null || seen.has(place.id)) break;
    assert.ok(place.marked, `the focus is not visible on ${place.text}`);
    seen.add(place.id);
  }
  return seen.size;
}

for (const [name, address] of [['overview', '/'], ['timeline', '/timeline'], ['task', '/tasks/sync%20stock'], ['runs', '/runs']]) {
  test(`Tab reaches everything on the page ${name}, and the focus is visible`, async (t) => {
    const page = await open(t, await start(t, 'shop'), address);
    await page.locator('[data-task], [data-run]').first().waitFor();

    const count = await reachable(page);
    assert.ok(count > 15);
    assert.equal(await walk(page, count + 5), count);
  });
}

test('the first Tab offers to skip to the content', async (t) => {
  const page = await open(t, await start(t, 'shop'));
  await awaitRows(page);

  await page.keyboard.press('Tab');
  assert.equal(await focused(page), 'Skip to content');
  assert.ok((await page.getByText('Skip to content').boundingBox()).y >= 0);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.getElementById('main').contains(document.activeElement)), true);
});

test('/ goes to the search, Escape leaves it', async (t) => {
  const page = await open(t, await start(t, 'shop'));
  await awaitRows(page);

  await page.keyboard.press('/');
  assert.equal(await focused(page), 'Search tasks');
  await page.keyboard.type('invoices');
  await eventually(async () => assert.equal(await page.locator('tr[data-task]').count(), 1));
  await page.keyboard.press('Escape');
  assert.notEqual(await focused(page), 'Search tasks');
});

test('j and k walk through the rows, and Enter opens one', async (t) => {
  const page = await open(t, await start(t, 'shop'));
  await awaitRows(page);

  await page.keyboard.press('j');
  assert.equal(await focused(page), 'sync stock');
  await page.keyboard.press('j');
  assert.equal(await focused(page), 'back up database');
  await page.keyboard.press('k');
  assert.equal(await focused(page), 'sync stock');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', {level: 1, name: 'sync stock'}).waitFor();
  assert.equal(await focused(page), 'sync stock');
});

test('j steps over rows without a link', async (t) => {
  const page = await open(t, await start(t, 'hostile'));
  await awaitRows(page);
  const last = await page.locator('tr[data-task] a').last().textContent();

  for (let i = await page.locator('tr[data-task] a').count(); i > 0; --i) await page.keyboard.press('j');
  assert.equal(await focused(page), last.trim());
});

test('j steps over groups that are closed', async (t) => {
  const page = await open(t, await start(t, 'shop'), '/timeline');
  await row(page, 'sync stock').waitFor();

  await page.locator('[data-group=failing] summary').click();
  await row(page, 'sync stock').waitFor({state: 'hidden'});
  const next = await page.locator('details:not(.failing) li[data-task] a').first().textContent();
  await page.keyboard.press('j');
  assert.equal(await focused(page), next);
});

test('g and a letter change the page, and the heading gets the focus', async (t) => {
  const page = await open(t, await start(t, 'shop'));
  await awaitRows(page);

  for (const [letter, title] of [['t', 'Timeline'], ['r', 'Runs'], ['o', 'Tasks']]) {
    await page.keyboard.press('g');
    await page.keyboard.press(letter);
    await page.getByRole('heading', {level: 1, name: title}).waitFor();
    await eventually(async () => assert.equal(await focused(page), title));
    assert.match(await page.title(), new RegExp(title));
  }
});

test('? shows the keys, and Escape closes them', async (t) => {
  const page = await open(t, await start(t, 'shop'));
  await awaitRows(page);

  await page.keyboard.press('?');
  await page.getByRole('dialog').getByText('Timeline: zoom').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({state: 'detached'});
});

test('keys that act at once can be turned off, and stay off', async (t) => {
  const page = await open(t, await start(t, 'shop'), '/timeline');
  await page.locator('[data-task]').first().waitFor();
  const use = page.getByRole('checkbox', {name: 'Use these keys'});
  const help = page.getByRole('button', {name: 'Keyboard help'});

  await help.click();
  await use.uncheck();
  await page.keyboard.press('Escape');
  await page.reload();
  await page.locator('[data-task]').first().waitFor();
  const address = page.url();
  for (const key of ['+', '-', 'g', 'o', '/', 'j', '?']) await page.keyboard.press(key);
  assert.equal(page.url(), address);
  assert.equal(await focused(page), null);
  assert.equal(await page.getByRole('dialog').count(), 0);

  await help.click();
  await use.check();
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  assert.equal(await focused(page), 'Search tasks');
});

test('the arrows walk through the runs of a lane and say what they are', async (t) => {
  const page = await open(t, await start(t, 'shop'), '/timeline');
  await row(page, 'back up database').getByRole('link').focus();

  await page.keyboard.press('ArrowRight');
  await page.getByText(/2026-06-17 02:15:00 \+02:00/).first().waitFor();
});

test('going back shows the overview as it was', async (t) => {
  const page = await open(t, await start(t, 'shop'), '/?q=in');
  await awaitRows(page);
  const rows = await page.locator('tr[data-task]').count();

  await row(page, 'mail invoices').getByRole('link').click();
  await page.getByRole('heading', {level: 1, name: 'mail invoices'}).waitFor();
  await page.goBack();
  await awaitRows(page);
  assert.equal(await page.getByRole('searchbox').inputValue(), 'in');
  assert.equal(await page.locator('tr[data-task]').count(), rows);
});
