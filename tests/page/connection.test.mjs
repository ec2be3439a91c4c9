import assert from 'node:assert/strict';
import {access} from 'node:fs/promises';
import test from 'node:test';

import {awaitRows, eventually, open, row, start} from './support/harness.mjs';
import {emptyWorld} from './support/worlds.mjs';

const lostErrors = /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_NETWORK|ERR_ABORTED|ERR_TIMED_OUT/;
const banner = (page) => page.locator('#banner');

test('a daemon that is killed is missed, and found again when another starts', async (t) => {
  const daemon = await start(t, 'shop');
  const page = await open(t, daemon, '/', {expected: lostErrors});
  await awaitRows(page);
  await page.getByText('Live', {exact: true}).waitFor();

  daemon.signal('SIGKILL');
  await daemon.ended;
  await page.getByText(/Connection lost\. Data as of 10:14:\d\d/).waitFor();
  assert.equal(await banner(page).getAttribute('role'), 'alert');
  assert.equal(await page.locator('tr[data-task]').count(), 16);

  daemon.options = {port: daemon.port, at: daemon.now()};
  daemon.events.length = 0;
  await daemon.start();
  await page.getByText('Live', {exact: true}).waitFor({timeout: 90_000});
  await banner(page).waitFor({state: 'hidden'});
  // It has other data now: what the kill interrupted runs again, as another attempt.
  await eventually(async () => assert.match(await row(page, 'rebuild search index').innerText(), /attempt 3/));
});

// A daemon whose command is running, so that a stop takes until the second signal.
async function startBusy(t) {
  const world = await emptyWorld('[[task]]\nname = "busy"\ncron = "14 10 * * *"\nretry = "1h"\nrun = "touch started; exec sleep 1000"\n');
  const daemon = await start(t, world);
  await eventually(() => access(`${world.directory}/started`));
  return daemon;
}

test('a daemon that is stopping says so, and then that it has stopped', async (t) => {
  const daemon = await startBusy(t);
  const page = await open(t, daemon, '/', {expected: lostErrors});
  await awaitRows(page);
  await page.getByText('Live', {exact: true}).waitFor();

  daemon.signal('SIGTERM');
  await page.getByText(/The daemon is stopping/).waitFor();
  // Its commands are still running.
  assert.equal(daemon.process.exitCode, null);
  daemon.signal('SIGINT');
  await daemon.ended;
  await page.getByText(/The daemon has stopped\./).waitFor();
});

test('a daemon that does not answer is missed too', async (t) => {
  const at = Date.parse('2026-06-17T08:14:57Z');
  // With a judge, the page asks for its verdict before it asks for tasks.
  await Promise.all([[], ['--verify', '--trace', 'trace.ndjson']].map(async (options) => {
    const daemon = await start(t, 'shop', {at, options});
    const page = await open(t, daemon, '/', {expected: lostErrors});
    await awaitRows(page);
    await page.getByText('Live', {exact: true}).waitFor();

    daemon.signal('SIGSTOP');
    await page.getByText(/Connection lost\./).waitFor({timeout: 90_000});
    daemon.signal('SIGCONT');
    await page.getByText('Live', {exact: true}).waitFor({timeout: 90_000});
  }));
});

test('a page that is opened while the daemon stops shows it', async (t) => {
  const daemon = await startBusy(t);
  daemon.signal('SIGTERM');
  await daemon.event('SchedulerStopRequested');
  const page = await open(t, daemon);

  await page.getByText(/The daemon is stopping/).waitFor();
  await awaitRows(page);
});
