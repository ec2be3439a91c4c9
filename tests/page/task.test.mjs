import assert from 'node:assert/strict';
import {writeFile} from 'node:fs/promises';
import test from 'node:test';

import {assertNoHorizontalScroll, eventually, open, start} from './support/harness.mjs';
import {emptyWorld} from './support/worlds.mjs';

const section = (page, title) => page.locator('section', {has: page.getByRole('heading', {name: title, exact: true})});

async function openTask(t, world, name, options) {
  const page = await open(t, await start(t, world), `/tasks/${encodeURIComponent(name)}`, options);
  await page.getByRole('heading', {level: 1, name}).waitFor();
  return page;
}

test('the next ten pulses have their time with its offset', async (t) => {
  const page = await openTask(t, 'shop', 'back up database');

  const pulses = await section(page, 'Next pulses').getByRole('listitem').allInnerTexts();
  assert.equal(pulses.length, 10);
  assert.match(pulses[0], /tomorrow 02:15 \+02:00.*in 16 h/);
});

test('a pulse in the hour that comes twice says which of the two it is', async (t) => {
  const daemon = await start(t, 'autumn', {at: Date.parse('2026-11-01T17:10:10Z')});
  const {world} = daemon;
  await daemon.end();
  // The same task file a day earlier, without the past of a day later.
  const {rm} = await import('node:fs/promises');
  for (const file of ['tasks.db', 'tasks.db-history']) await rm(`${world.directory}/${file}`, {force: true});
  daemon.options = {at: Date.parse('2026-11-01T00:10:10Z')};
  daemon.events.length = 0;
  await daemon.start();
  const page = await open(t, daemon, '/tasks/at%20half%20past%20one');

  const pulses = section(page, 'Next pulses').getByRole('listitem');
  await eventually(async () => {
    assert.match(await pulses.nth(0).innerText(), /01:30 −04:00.*first/s);
    assert.match(await pulses.nth(1).innerText(), /01:30 −05:00.*second/s);
  });
});

test('its runs open, with reason, attempt, lateness, exit status and output', async (t) => {
  const page = await openTask(t, 'shop', 'sync stock');

  const run = page.locator('[data-run][data-result=failed]').first();
  await run.getByRole('button').click();
  const details = page.locator('tr.opened');
  await details.locator('pre').waitFor();
  const text = await details.innerText();
  for (const part of [/Reason\s+retry/, /Attempt\s+3/, /Lateness\s+\d+ ms/, /exit status 1/, /Process\s+\d+/, /Duration\s+3\.\d s/]) {
    assert.match(text, part);
  }
  assert.match(text, /fetching https:\/\/stock\.example\.com\/v2\/articles/);
  assert.equal(await run.getByRole('button').getAttribute('aria-expanded'), 'true');
  await run.getByRole('button').click();
  assert.equal(await details.count(), 0);
});

test('the output is copied as it was written', async (t) => {
  const page = await openTask(t, 'shop', 'sync stock', {permissions: ['clipboard-read', 'clipboard-write']});

  await page.locator('[data-run][data-result=failed]').first().getByRole('button').click();
  await page.getByRole('button', {name: 'Copy the output'}).click();
  await page.getByText('Copied').waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()),
    'fetching https://stock.example.com/v2/articles\nattempt 1: connection refused\nattempt 2: connection refused\n' +
    'stock.example.com: connection refused\n');
});

test('the account says what became of every pulse', async (t) => {
  const page = await openTask(t, 'shop', 'check website');

  const text = await section(page, 'Account of pulses').innerText();
  assert.match(text, /4,3\d\d pulses since 2026-06-14 10:0\d \+02:00/);
  assert.match(text, /4,\d\d\d had a run of their own/);
  assert.match(text, /1\d\d served by a later run: no daemon ran/);
});

test('the configuration has the command, the names of variables, and where it is written', async (t) => {
  const page = await openTask(t, 'shop', 'back up database');

  const text = await section(page, 'Configuration').innerText();
  assert.match(text, /bin\/backup --format custom shop/);
  assert.match(text, /PGHOST/);
  assert.match(text, /PGUSER/);
  assert.doesNotMatch(text, /PGHOST\s*=/);
  assert.match(text, /tasks\.toml:1\b/);
  assert.match(text, /10 min/);
  assert.match(text, /2 h/);
  assert.match(text, /bin\/page-on-call/);
});

test('durations and lateness are plotted, with words for those who do not see them', async (t) => {
  const page = await openTask(t, 'shop', 'check website');

  for (const name of ['Duration', 'Lateness']) {
    const plot = page.getByRole('img', {name: new RegExp(name)}).first();
    await plot.waitFor();
    assert.ok(await plot.locator('[data-result]').count() > 50);
  }
});

test('the commands for a terminal do what the page does', async (t) => {
  const {execFileSync} = await import('node:child_process');
  const {build} = await import('./support/worlds.mjs');
  const page = await openTask(t, 'shop', 'sync stock');

  const commands = await section(page, 'In a terminal').locator('code').allInnerTexts();
  assert.ok(commands.some((command) => command.startsWith('dutiful history')));
  assert.ok(commands.some((command) => command.startsWith('dutiful account')));
  for (const command of commands) {
    const output = execFileSync('sh', ['-c', command], {env: {PATH: `${build}:${process.env.PATH}`, TZ: 'Europe/Berlin'}, encoding: 'utf8'});
    assert.match(output, /sync stock|pulses/);
  }
});

test('a task that runs says so, and for how long', async (t) => {
  const page = await openTask(t, 'shop', 'rebuild search index');

  await page.locator('.mark.running').first().waitFor();
});

test('a task without runs has a page', async (t) => {
  const page = await openTask(t, 'shop', 'monthly report');

  await page.getByText(/no runs? yet/i).first().waitFor();
  assert.match(await section(page, 'Next pulses').innerText(), /06:30 \+02:00/);
});

test('a task that does not exist has none', async (t) => {
  // Only the document itself is not found: the page asks for nothing more.
  const page = await open(t, await start(t, 'shop'), '/tasks/nothing', {expected: /404.*\d\/tasks\/nothing$/});

  await page.getByRole('heading', {name: 'Not found'}).waitFor();
  await page.getByText('There is no task nothing').waitFor();
  assert.equal(page.response.status(), 404);
});

test('a task that is removed meanwhile says so, also without runs', async (t) => {
  const file = (...names) => names.map((name) => `[[task]]\nname = "${name}"\ncron = "0 3 * * *"\nretry = "1h"\nrun = "true"\n`).join('');
  const world = await emptyWorld(file('one', 'two'));
  const daemon = await start(t, world);
  const page = await open(t, daemon, '/tasks/one', {expected: /404/});
  await section(page, 'Next pulses').waitFor();
  await page.getByText('Live', {exact: true}).waitFor();

  await writeFile(`${world.directory}/tasks.toml`, file('two'));
  daemon.signal('SIGHUP');
  await page.getByText('removed from the task file').waitFor();
  for (const title of ['Next pulses', 'Account of pulses', 'Configuration']) assert.equal(await section(page, title).isVisible(), false);
  await writeFile(`${world.directory}/tasks.toml`, file('one', 'two'));
  daemon.signal('SIGHUP');
  await section(page, 'Next pulses').waitFor();
});

for (const width of [390, 360]) {
  test(`on a phone of ${width} px nothing is wider than the window`, async (t) => {
    const page = await openTask(t, 'shop', 'sync stock', {width, height: 844});

    await page.locator('[data-run]').first().getByRole('button').click();
    await page.locator('tr.opened pre').waitFor();
    await assertNoHorizontalScroll(page);
  });
}
