// What every test of the page uses: a daemon, a browser, and the faults that no test may have.

import assert from 'node:assert/strict';
import {after} from 'node:test';

import {chromium} from 'playwright-core';

import {browserOptions} from './browser.mjs';
import {Daemon} from './daemon.mjs';
import {removeOwnWorlds, world} from './worlds.mjs';

export const patience = 60_000;

let browser = null;

async function theBrowser() {
  browser ??= chromium.launch(browserOptions);
  return browser;
}

after(async () => {
  await (await browser)?.close();
  await removeOwnWorlds();
});

// What was begun last ends first: a page before its daemon.
const endings = new WeakMap();

export function atEnd(t, end) {
  if (!endings.has(t)) {
    const stack = [];
    endings.set(t, stack);
    t.after(async () => {
      const errors = [];
      for (const each of stack.reverse()) await each().catch((error) => errors.push(error));
      if (errors.length) throw errors[0];
    });
  }
  endings.get(t).push(end);
}

// A daemon that ends with the test. `options` are more options of `dutiful run`.
export async function start(t, where, options = {}) {
  const daemon = new Daemon(typeof where === 'string' ? await world(where) : where, options);
  atEnd(t, () => daemon.endAndRemove());
  return daemon.start();
}

// Opens a page in a browser of its own, in a zone that the page must not use. The test fails if the page logs an error or a
// warning, throws, violates its policy, or sends a request to another host. `expected` matches the texts of errors that the
// test provokes.
export async function open(t, daemon, path = '/', {width = 1280, height = 800, theme = 'light', expected = null, before, ...context} = {}) {
  const opened = await (await theBrowser()).newContext({
    viewport: {width, height}, colorScheme: theme, timezoneId: 'Asia/Tokyo', locale: 'de-DE', ...context,
  });
  const problems = [];
  await opened.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    });
  });
  const page = await opened.newPage();
  page.setDefaultTimeout(patience);
  page.on('console', (message) => {
    if (!['error', 'warning'].includes(message.type())) return;
    const text = `${message.text()} ${message.location().url ?? ''}`;
    if (!expected?.test(text)) problems.push(`console: ${text}`);
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.stack ?? error}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${daemon.url}/`)) problems.push(`request: ${request.url()}`);
  });
  atEnd(t, async () => {
    await opened.close();
    assert.deepEqual(problems, []);
  });
  await before?.(page);
  page.problems = problems;
  if (path !== null) page.response = await page.goto(daemon.url + path);
  return page;
}

// Repeats the check until it holds.
export async function eventually(check, limit = patience) {
  const end = performance.now() + limit;
  while (true) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

export const row = (page, task) => page.locator(`[data-task=${JSON.stringify(task)}]`);

// The rows of the overview are there, as the script has written them.
export async function awaitRows(page) {
  await page.locator('tr[data-task]').first().waitFor();
}

// What is wider than the window makes the whole page scroll sideways.
export async function assertNoHorizontalScroll(page) {
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(content <= window, `the page is ${content} px wide in a window of ${window} px`);
}
