// Tabs that nobody sees. The browser of the tests shows all of them, so the test says which one is in front.

import assert from 'node:assert/strict';
import test from 'node:test';

import {awaitRows, eventually, open, row, start} from './support/harness.mjs';
import {heldWorld} from './support/held.mjs';

function hideable() {
  let hidden = false;
  Object.defineProperty(document, 'hidden', {get: () => hidden});
  Object.defineProperty(document, 'visibilityState', {get: () => (hidden ? 'hidden' : 'visible')});
  window.setHidden = (value) => {
    hidden = value;
    document.dispatchEvent(new Event('visibilitychange'));
  };
}

const setHidden = (page, value) => page.evaluate((hidden) => window.setHidden(hidden), value);
const isLive = (page) => page.getByText('Live', {exact: true}).waitFor();
const before = (page) => page.context().addInitScript(hideable);

// Browsers allow six connections to a host, for all tabs together.
test('more tabs can be open than the browser allows connections', async (t) => {
  const {world, release} = await heldWorld();
  const daemon = await start(t, world);
  const first = await open(t, daemon, '/', {before});
  const tabs = [first];
  await isLive(first);
  for (let i = 1; i < 8; ++i) {
    await setHidden(tabs.at(-1), true);
    tabs.push(await first.context().newPage());
    await tabs.at(-1).goto(daemon.url, {timeout: 20_000});
    await row(tabs.at(-1), 'z').getByText('Running').waitFor();
    await isLive(tabs.at(-1));
  }

  await release(0);
  await row(tabs.at(-1), 'z').getByText('Waiting').waitFor();
  assert.match(await row(first, 'z').innerText(), /Running/);
  await setHidden(first, false);
  await row(first, 'z').getByText('Waiting').waitFor();
  assert.equal(await first.locator('#banner').isVisible(), false);
});

test('a tab that comes to the front writes only the rows that have changed', async (t) => {
  const {world, release} = await heldWorld();
  const page = await open(t, await start(t, world), '/', {before});
  await row(page, 'z').getByText('Running').waitFor();
  await eventually(async () => assert.match(await row(page, 'a').innerText(), /succeeded/));
  await isLive(page);
  await setHidden(page, true);
  await page.evaluate(() => { window.cell = document.querySelector('[data-task=a] .last').firstChild; });

  await release(0);
  await setHidden(page, false);
  await row(page, 'z').getByText('Waiting').waitFor();
  assert.equal(await page.evaluate(() => window.cell.isConnected), true);
});

test('a tab that is opened behind another one is live when it is seen', async (t) => {
  const {world} = await heldWorld();
  const page = await open(t, await start(t, world), '/', {before: async (page) => {
    await before(page);
    await page.context().addInitScript(() => window.setHidden(true));
  }});
  await awaitRows(page);

  const stream = page.waitForRequest(/\/api\/v1\/events/);
  await setHidden(page, false);
  await stream;
});
