import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import test from 'node:test';

import {open, start} from './support/harness.mjs';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// The policy of the page does not allow other scripts, but a script that the browser itself adds runs all the same.
async function assertAccessible(page, where) {
  const {violations} = await page.evaluate(() => window.axe.run(document, {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  }));
  const found = violations.map(({id, help, nodes}) => `${where}: ${id} (${help}): ${nodes.slice(0, 3).map(({html, failureSummary}) =>
    `${html.slice(0, 160)} ${failureSummary.replace(/\s+/g, ' ').slice(0, 220)}`).join(' | ')}`);
  assert.deepEqual(found, []);
}

const pages = {
  overview: '/',
  timeline: '/timeline',
  'page of a task': '/tasks/sync%20stock',
  runs: '/runs',
};

for (const [name, address] of Object.entries(pages)) {
  for (const theme of ['light', 'dark']) {
    test(`the ${name} has no violations of accessibility rules, ${theme}, wide and on a phone`, async (t) => {
      const daemon = await start(t, 'shop', {options: ['--max-concurrent', '2', '--verify', '--trace', 'trace.ndjson']});
      for (const width of [1280, 390]) {
        const page = await open(t, daemon, address, {
          theme, width, height: 844, before: (page) => page.addInitScript({content: axe}),
        });
        await page.locator('[data-task], [data-run]').first().waitFor();
        const run = page.locator('[data-run]').first();
        if (await run.count()) {
          await run.getByRole('button').click();
          await page.locator('tr.opened pre, tr.opened .muted').first().waitFor();
        }
        await assertAccessible(page, `${name}, ${theme}, ${width} px`);
      }
    });
  }
}

test('the keys, an empty list and a page that does not exist have no violations either', async (t) => {
  const daemon = await start(t, 'shop');
  const page = await open(t, daemon, '/?q=nothing', {before: (page) => page.addInitScript({content: axe}), expected: /404/});
  await page.getByText('No task matches').waitFor();
  await assertAccessible(page, 'empty list');
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  await assertAccessible(page, 'keys');
  await page.goto(`${daemon.url}/tasks/nothing`);
  await page.getByRole('heading', {name: 'Not found'}).waitFor();
  await assertAccessible(page, 'not found');
});

test('the page without JavaScript has no violations', async (t) => {
  const daemon = await start(t, 'shop');
  const page = await open(t, daemon, '/', {before: async (page) => {
    await page.addInitScript({content: axe});
    // The scripts of the page do not arrive, so that those of the test can look at what stands there without them.
    await page.route('**/*.js', (route) => route.abort());
  }, expected: /ERR_FAILED|preloaded using link preload but not used/});
  await page.locator('main table').waitFor();
  await assertAccessible(page, 'without JavaScript');
});

test('in the colours of a user, the pressed button of a group stands out', async (t) => {
  const page = await open(t, await start(t, 'shop'), '/', {forcedColors: 'active'});
  await page.locator('tr[data-task]').first().waitFor();

  const background = (selector) => page.locator(selector).first().evaluate((node) => getComputedStyle(node).backgroundColor);
  assert.notEqual(await background('.choice [aria-pressed=true]'), await background('body'));
});

test('the switch of the theme wins over the system, and is remembered', async (t) => {
  const page = await open(t, await start(t, 'shop'), '/', {theme: 'light'});
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();

  const button = page.getByRole('button', {name: /^Theme/});
  while (!/dark/.test(await button.getAttribute('aria-label'))) await button.click();
  const dark = await background();
  assert.notEqual(dark, light);
  await page.reload();
  await page.getByRole('button', {name: 'Theme: dark'}).waitFor();
  assert.equal(await background(), dark);
});
