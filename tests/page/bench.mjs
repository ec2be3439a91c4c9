// Measures the page with 10,000 tasks, and what an open page costs the daemon. Prints JSON lines, each a figure and its limit.
// --quick measures less.

import assert from 'node:assert/strict';
import {appendFile, readFile} from 'node:fs/promises';
import {setTimeout as pause} from 'node:timers/promises';

import {chromium} from 'playwright-core';

import {browserOptions} from './support/browser.mjs';
import {Daemon} from './support/daemon.mjs';
import {removeOwnWorlds, world} from './support/worlds.mjs';

const quick = process.argv.includes('--quick');
const tasks = 10_000;

const print = (figure, measured) => console.log(JSON.stringify({figure: `page.${figure}`, tasks, ...measured}));
const sorted = (values) => [...values].sort((a, b) => a - b);
const median = (values) => sorted(values)[Math.floor(values.length / 2)];
const inTenths = (value) => Math.round(10 * value) / 10;
const timesOf = (values) => ({median_ms: inTenths(median(values)), worst_ms: inTenths(Math.max(...values))});

const browser = await chromium.launch(browserOptions);

// With a cold cache, and a clock that begins with the navigation.
async function openCold(daemon) {
  const context = await browser.newContext({viewport: {width: 1280, height: 800}});
  await context.addInitScript(() => {
    const rows = () => document.querySelectorAll('tr[data-task]').length;
    // The second frame begins when the first one has been drawn.
    const drawn = (then) => requestAnimationFrame(() => requestAnimationFrame(then));
    const look = () => (rows() ? drawn(() => { window.firstView = performance.now(); }) : requestAnimationFrame(look));
    look();
    window.searches = [];
    addEventListener('keydown', ({timeStamp}) => {
      // After the page has handled the key.
      addEventListener('input', () => drawn(() => window.searches.push(performance.now() - timeStamp)), {once: true});
    }, true);
  });
  const page = await context.newPage();
  const requests = [];
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  session.on('Network.requestWillBeSent', ({request, initiator, type}) =>
    requests.push({path: request.url.slice(daemon.url.length), initiator: initiator.type, type}));
  await page.goto(daemon.url);
  await page.waitForFunction(() => window.firstView !== undefined);
  return {page, requests: [...requests]};
}

async function measureViews(daemon) {
  const views = [];
  const searches = [];
  let trips = 0;
  for (let round = 0; round < (quick ? 3 : 5); ++round) {
    const {page, requests} = await openCold(daemon);
    views.push(await page.evaluate(() => window.firstView));
    const byHtml = new Set(requests.filter(({initiator}) => initiator === 'parser').map(({path}) => path));
    const late = requests.slice(1).filter(({path, type}) => !byHtml.has(path) && type !== 'EventSource');
    trips = Math.max(trips, late.length ? 2 : 1);
    await page.getByRole('searchbox').focus();
    for (const [i, key] of [...'customer 0999'].entries()) {
      await page.keyboard.press(key);
      await page.waitForFunction((count) => window.searches.length === count, i + 1);
    }
    assert.equal(await page.locator('tr[data-task]').count(), 10);
    searches.push(...await page.evaluate(() => window.searches));
    await page.context().close();
  }
  print('first_view', {...timesOf(views), limit_ms: 1000});
  print('search', {...timesOf(searches), limit_ms: 100});
  print('round_trips', {after_the_html: trips, limit: 1});
}

async function measureSize(daemon) {
  const html = await (await fetch(daemon.url)).text();
  const paths = new Set([...html.matchAll(/(?:href|src)="(\/page\/[^"]+)"/g)].map(([, path]) => path));
  let bytes = (await (await fetch(`${daemon.url}/runs`)).text()).length;
  for (const path of paths) bytes += (await (await fetch(daemon.url + path)).arrayBuffer()).byteLength;
  print('size', {files: paths.size + 1, bytes, limit_bytes: 100_000});
}

// Seconds of the processor, without those of the commands.
async function processorTime({process: {pid}}) {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

// The share of a core that the daemon uses, and the runs a minute.
async function shareOf(daemon, seconds) {
  const starts = () => daemon.events.filter(({event}) => event === 'TaskRunStarted').length;
  const before = {at: performance.now(), used: await processorTime(daemon), runs: starts()};
  await pause(1000 * seconds);
  const elapsed = (performance.now() - before.at) / 1000;
  return {percent: 100 * (await processorTime(daemon) - before.used) / elapsed, runs: 60 * (starts() - before.runs) / elapsed};
}

// 100 tasks fail and are retried after about six seconds, at different instants: 1,000 runs a minute, evenly.
async function measureCost() {
  const where = await world('ten_thousand');
  for (let i = 0; i < 100; ++i) {
    await appendFile(`${where.directory}/tasks.toml`,
      `[[task]]\nname = "restless ${i}"\ncron = "51 9 * * *"\nretry = "${5500 + 10 * i}ms"\nrun = ["/bin/false"]\n`);
  }
  const daemon = await new Daemon(where, {}).start();
  await daemon.event('TaskRunFailed', ({taskName}) => taskName === 'restless 99');
  await pause(quick ? 2000 : 20_000);  // until they are no longer in step
  const shares = {with: [], without: []};
  const rounds = quick ? 1 : 3;
  const seconds = quick ? 10 : 20;
  for (let round = 0; round < rounds; ++round) {
    shares.without.push(await shareOf(daemon, seconds));
    const {page} = await openCold(daemon);
    await page.getByText('Live', {exact: true}).waitFor();
    shares.with.push(await shareOf(daemon, seconds));
    await page.context().close();
  }
  await daemon.endAndRemove();
  const mean = (list, member) => list.reduce((sum, each) => sum + each[member], 0) / list.length;
  const [opened, closed] = [mean(shares.with, 'percent'), mean(shares.without, 'percent')];
  const inHundredths = (value) => Math.round(100 * value) / 100;
  print('cost', {
    runs_a_minute: Math.round(mean([...shares.with, ...shares.without], 'runs')), seconds: rounds * seconds,
    without_percent: inHundredths(closed), with_percent: inHundredths(opened), cost_percent: inHundredths(opened - closed), limit_percent: 1,
  });
}

const daemon = await new Daemon(await world('ten_thousand'), {}).start();
await measureViews(daemon);
await measureSize(daemon);
await daemon.endAndRemove();
await measureCost();
await browser.close();
await removeOwnWorlds();
