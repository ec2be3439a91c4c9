import assert from 'node:assert/strict';
import test from 'node:test';

import {assertNoHorizontalScroll, eventually, open, row, start} from './support/harness.mjs';
import {emptyWorld} from './support/worlds.mjs';

const part = (page, kind) => page.locator(`svg [data-kind=${kind}]`);
const box = async (locator) => {
  await locator.waitFor({state: 'attached'});
  return locator.boundingBox();
};

async function openTimeline(t, world, options) {
  const page = await open(t, await start(t, world), '/timeline', options);
  await page.locator('[data-task] [data-kind=run]').first().waitFor({state: 'attached'});
  return page;
}

test('each task has a lane with its runs and its pulses, what fails first', async (t) => {
  const page = await openTimeline(t, 'shop');

  const lanes = await page.locator('li[data-task]').evaluateAll((nodes) => nodes.map((node) => node.dataset.task));
  assert.equal(lanes.length, 16);
  assert.equal(lanes[0], 'sync stock');
  const lane = row(page, 'sync stock');
  assert.ok(await lane.locator('[data-kind=run][data-result=failed]').count() > 0);
  assert.ok(await lane.locator('[data-kind=run][data-result=succeeded]').count() > 0);
  assert.ok(await lane.locator('[data-kind=pulse]').count() > 0);
  assert.equal(await row(page, 'rebuild search index').locator('[data-kind=run][data-result=running]').count(), 1);
  assert.match(await lane.getByRole('img').getAttribute('aria-label'), /sync stock: \d+ runs, \d+ failed/);
});

test('failed runs are taller than succeeded ones, so that colour is not needed', async (t) => {
  const page = await openTimeline(t, 'shop');

  const height = async (result) => (await box(row(page, 'sync stock').locator(`[data-kind=run][data-result=${result}]`).first())).height;
  assert.ok(await height('failed') > await height('succeeded'));
});

test('runs are in the past and pulses in the future', async (t) => {
  const page = await openTimeline(t, 'shop');

  const now = await box(page.locator('line.now').first());
  const lane = row(page, 'mail invoices');
  const run = await box(lane.locator('[data-kind=run]').first());
  const pulse = await box(lane.locator('[data-kind=pulse]').first());
  assert.ok(run.x + run.width <= now.x + 1);
  assert.ok(pulse.x >= now.x - 1);
});

test('the hours without a daemon are shaded', async (t) => {
  const page = await openTimeline(t, 'shop');

  const widths = await part(page, 'down').evaluateAll((bands) => bands.map((band) => band.getBoundingClientRect().width));
  const lane = await box(row(page, 'sync stock').getByRole('img'));
  const hours = widths.map((width) => width / lane.width * 48);
  // From 21:58:45 to 00:12:20, and ten seconds before the daemon started.
  assert.ok(hours.some((length) => length > 2.1 && length < 2.35), `shaded: ${hours} h`);
});

test('the hour that does not exist is a gap without length', async (t) => {
  const page = await openTimeline(t, 'spring');

  assert.ok(await part(page, 'gap').count() > 0);
  assert.equal(await part(page, 'repeat').count(), 0);
  await page.getByText(/02:00–03:00 does not exist/).first().waitFor({state: 'attached'});
  // Half past two did not exist last night: its only run in the last 24 hours would have been there.
  assert.equal(await row(page, 'at half past two').locator('[data-kind=run]').count(), 0);
  assert.equal(await row(page, 'at half past one').locator('[data-kind=run]').count(), 1);
  // The runs at 01:00 and at 03:00 are one hour apart, as the others.
  const starts = await row(page, 'every hour').locator('[data-kind=run]').evaluateAll((runs) =>
    runs.map((run) => run.getBoundingClientRect().x));
  const distances = starts.slice(1).map((x, i) => x - starts[i]);
  assert.equal(starts.length, 24);
  assert.ok(Math.max(...distances) - Math.min(...distances) < 1, `distances: ${distances}`);
});

test('the hour that comes twice is drawn twice, with both offsets', async (t) => {
  const page = await openTimeline(t, 'autumn');

  assert.ok(await part(page, 'repeat').count() > 0);
  assert.equal(await part(page, 'gap').count(), 0);
  await page.getByText(/01:00–02:00 twice/).first().waitFor({state: 'attached'});
  await page.getByText(/−04:00, then −05:00/).first().waitFor({state: 'attached'});
  assert.equal(await row(page, 'at half past one').locator('[data-kind=run]').count(), 2);
  assert.equal(await row(page, 'at half past two').locator('[data-kind=run]').count(), 1);
  const starts = await row(page, 'at half past one').locator('[data-kind=run]').evaluateAll((runs) =>
    runs.map((run) => run.getBoundingClientRect().x));
  const lane = await box(row(page, 'at half past one').getByRole('img'));
  const hours = (starts[1] - starts[0]) / lane.width * 48;
  assert.ok(Math.abs(hours - 1) < 0.05, `they are ${hours} h apart`);
  // Once more as two separate hours on the axis.
  await page.goto(`${page.url()}?from=2026-11-01T03:00:00Z&until=2026-11-01T09:00:00Z`);
  const axis = page.locator('svg.axis text');
  await axis.first().waitFor();
  const labels = await axis.allTextContents();
  assert.deepEqual(labels.filter((label) => /^0[0-2]:00$/.test(label)), ['00:00', '01:00', '01:00', '02:00']);
});

test('in UTC the change of the clocks is still marked', async (t) => {
  const page = await openTimeline(t, 'autumn');

  await page.getByRole('button', {name: 'UTC'}).click();
  await page.getByText(/01:00–02:00 twice in local time/).first().waitFor({state: 'attached'});
});

test('zoom and pan change the range, and the way back is one button', async (t) => {
  const page = await openTimeline(t, 'shop');

  await page.getByRole('button', {name: 'Zoom in'}).click();
  await eventually(async () => assert.match(page.url(), /from=.*until=/));
  await page.getByRole('button', {name: 'Earlier'}).click();
  const address = page.url();
  const from = Date.parse(new URL(address).searchParams.get('from'));
  const until = Date.parse(new URL(address).searchParams.get('until'));
  assert.equal(until - from, 24 * 3_600_000);
  await page.reload();
  await page.locator('[data-task] [data-kind=run]').first().waitFor({state: 'attached'});
  assert.equal(page.url(), address);
  await page.getByRole('button', {name: 'Now'}).click();
  await eventually(async () => assert.doesNotMatch(page.url(), /from=/));
});

test('the pointer on a run shows when it ran and how it ended', async (t) => {
  const page = await openTimeline(t, 'shop');

  const run = await box(row(page, 'back up database').locator('[data-kind=run][data-result=succeeded]').first());
  await page.mouse.move(run.x + run.width / 2, run.y + run.height / 2);
  const tip = page.getByText(/2026-06-17 02:15:00 \+02:00/).first();
  await tip.waitFor();
  await page.getByText(/42 min/).first().waitFor();
});

test('search leaves the lanes that match', async (t) => {
  const page = await openTimeline(t, 'shop');

  await page.getByRole('searchbox').fill('backup');
  await eventually(async () => assert.deepEqual(
    await page.locator('li[data-task]').evaluateAll((nodes) => nodes.map((node) => node.dataset.task)), ['verify backup']));
});

test('500 tasks of 10,000 are shown, and the page says so', async (t) => {
  const page = await openTimeline(t, 'ten_thousand');

  await page.getByText(/500 of 10,000 tasks/).first().waitFor();
  assert.equal(await page.locator('li[data-task]').count(), 500);
  assert.match(await page.getByRole('heading', {level: 2}).first().innerText(), /Failing/);
});

for (const width of [390, 360]) {
  test(`on a phone of ${width} px nothing is wider than the window, and names are not cut at its edge`, async (t) => {
    for (const world of ['shop', 'hostile']) {
      const page = await openTimeline(t, world, {width, height: 844});
      await assertNoHorizontalScroll(page);
      assert.deepEqual(await page.locator('li[data-task] bdi').evaluateAll((names) =>
        names.filter((name) => name.getBoundingClientRect().right > innerWidth).map((name) => name.textContent)), []);
    }
  });
}

test('on a phone a lane is not higher than its name and its bars', async (t) => {
  const page = await openTimeline(t, 'shop', {width: 390, height: 844});

  const {height} = await box(row(page, 'sync stock'));
  assert.ok(height <= 54, `${height} px`);
});

test('the words about a change of the clocks are not cut at the edge of a phone', async (t) => {
  for (const world of ['spring', 'autumn']) {
    const page = await openTimeline(t, world, {width: 390, height: 844});
    const [words, axis] = [await box(page.locator('.axis .change')), await box(page.locator('.axis'))];
    assert.ok(words.x >= axis.x && words.x + words.width <= axis.x + axis.width, JSON.stringify({words, axis}));
  }
});

test('lanes are loaded again only if something has changed', async (t) => {
  const world = await emptyWorld('[[task]]\nname = "one"\ncron = "0 3 * * *"\nretry = "1h"\nrun = "true"\n');
  let requests = 0;
  const page = await open(t, await start(t, world), '/timeline', {before: async (page) => {
    await page.clock.install();
    page.on('request', (request) => { requests += request.url().includes('/api/v1/timeline') ? 1 : 0; });
  }});
  await page.locator('li[data-task]').waitFor();
  await page.getByText('Live', {exact: true}).waitFor();

  const asked = page.waitForResponse(/\/api\/v1\/tasks\?since=/);
  await page.clock.runFor(16_000);
  await (await asked).finished();
  await page.clock.runFor(10_000);
  assert.equal(requests, 1);
});
