import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import path from 'node:path';
import test from 'node:test';

import {assertNoHorizontalScroll, eventually, open, start} from './support/harness.mjs';
import {build, emptyWorld} from './support/worlds.mjs';

const tasksOf = async (daemon) => (await (await fetch(`${daemon.url}/api/v1/tasks`)).json()).tasks;

// Nothing of the data may have become an element, an attribute with a script, or a script that ran.
async function assertOnlyText(page) {
  const found = await page.evaluate(() => ({
    ran: window.pwned ?? null,
    // The page itself writes numbers in bold.
    elements: [...document.querySelectorAll('main :is(script, iframe, object, embed, b, i, form, style, link, base, meta), img')]
      .filter((node) => !/^[\d,]+$/.test(node.textContent) && !node.src?.endsWith('/icon.svg')).map((node) => node.outerHTML),
    handlers: [...document.querySelectorAll('*')].flatMap((node) => [...node.attributes])
      .filter(({name, value}) => name.startsWith('on') || /^\s*javascript:/i.test(value) && name === 'href').map(({name, value}) => `${name}=${value}`),
    // Every script of the page is a file of the daemon.
    inline: [...document.scripts].filter((script) => !script.src).length,
  }));
  assert.deepEqual(found, {ran: null, elements: [], handlers: [], inline: 0});
}

// Characters that are invisible or change the order of others are written as an escape, and the rest as it is.
const visible = (name) => name.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu,
  (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

test('every name is shown as text on the overview', async (t) => {
  const daemon = await start(t, 'hostile');
  const page = await open(t, daemon);
  const names = (await tasksOf(daemon)).map(({taskName}) => taskName);
  assert.ok(names.length >= 32);
  await eventually(async () => assert.equal(await page.locator('tr[data-task]').count(), names.length));

  await assertOnlyText(page);
  const texts = await page.locator('tr[data-task]').evaluateAll((rows) =>
    rows.map((row) => [row.dataset.task, row.querySelector('bdi').textContent]));
  for (const name of names) {
    const [, text] = texts.find(([task]) => task === name) ?? [];
    assert.equal(text, visible(name));
  }
  assert.doesNotMatch(await page.title(), /pwned/);
});

test('every name has a page that shows its name, its runs and its output as text', async (t) => {
  const daemon = await start(t, 'hostile');
  const page = await open(t, daemon);
  for (const {taskName} of await tasksOf(daemon)) {
    if (taskName === '.' || taskName === '..') continue;
    await page.goto(`${daemon.url}/tasks/${encodeURIComponent(taskName)}`);
    const heading = page.getByRole('heading', {level: 1});
    await eventually(async () => assert.equal(await heading.textContent(), visible(taskName)));
    await page.locator('[data-run]').first().getByRole('button').click();
    await page.locator('tr.opened pre').waitFor();
    await assertOnlyText(page);
  }
});

test('the names . and .. have no link, because browsers resolve them', async (t) => {
  const page = await open(t, await start(t, 'hostile'));

  for (const name of ['.', '..']) {
    const row = page.locator(`tr[data-task="${name}"]`);
    await row.waitFor();
    assert.equal(await row.locator('th').getByRole('link').count(), 0);
  }
});

test('a link leads to the task whatever its name is', async (t) => {
  const daemon = await start(t, 'hostile');
  const page = await open(t, daemon);

  for (const name of ['a/b//c/', '../../etc/passwd', '?task=other&limit=1#fragment', '%2e%2e%2f%00%3Cscript%3E', '__proto__', ' leading and trailing ']) {
    const link = page.locator(`tr[data-task=${JSON.stringify(name)}]`).getByRole('link');
    await link.click();
    await eventually(async () => assert.equal(await page.getByRole('heading', {level: 1}).textContent(), name));
    await page.locator('[data-run]').first().waitFor();
    await page.goBack();
    await link.waitFor();
  }
});

test('an output has no codes, and shows what is hidden', async (t) => {
  const page = await open(t, await start(t, 'hostile'), '/runs');

  await page.locator('[data-run]').first().getByRole('button').click();
  const pre = page.locator('tr.opened pre');
  await pre.waitFor();
  const text = await pre.textContent();
  assert.match(text, /^begin\n/);
  assert.match(text, /red and bold {2}link cleared/);
  assert.doesNotMatch(text, /\[1;31m|\[0m|\]0;title|\[2J|\u001b/);
  assert.match(text, /NUL \\u0000 byte/);
  assert.match(text, /\\u0008\\u0008/);
  assert.match(text, /override \\u202eevitcelloc\\u202c end/);
  assert.match(text, /invalid UTF-8: \ufffd/);
  assert.match(text, /<script>window\.pwned = 2<\/script><img src=x onerror='window\.pwned = 2'>/);
  assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u202a-\u202e]/);
  await assertOnlyText(page);
});

test('an output of nothing but hidden characters is shown', async (t) => {
  const world = await emptyWorld('[[task]]\nname = "a"\ncron = "14 10 * * *"\nretry = "1h"\nrun = "head -c 131072 /dev/zero"\n');
  const page = await open(t, await start(t, world, {options: ['--history-output', '128KiB']}), '/runs');

  await page.locator('[data-run]').getByRole('button').click();
  await page.locator('tr.opened pre').waitFor();
  assert.ok(await page.locator('tr.opened pre').textContent() === '\\u0000'.repeat(131_072));
});

test('an output full of hidden characters does not freeze the page', async (t) => {
  const world = await emptyWorld(`[[task]]\nname = "mixed"\ncron = "14 10 * * *"\nretry = "1h"\nrun = ${JSON.stringify("yes \"$(printf 'a\\001b')\" | head -c 1000000")}\n`);
  const daemon = await start(t, world, {options: ['--history-output', '1MiB']});
  await daemon.event('TaskRunCompleted');
  const page = await open(t, daemon, '/tasks/mixed');
  await page.locator('[data-run]').getByRole('button').click();
  const pre = page.locator('tr.opened pre');
  await pre.waitFor();
  assert.ok((await pre.textContent()).startsWith('a\\u0001b\na\\u0001b\n'));
  assert.ok(await pre.locator('*').count() < 10_000);
});

test('the timeline and the runs show every name as text', async (t) => {
  const daemon = await start(t, 'hostile');
  for (const address of ['/timeline', '/runs']) {
    const page = await open(t, daemon, address);
    await page.locator('[data-task]').first().waitFor();
    await assertOnlyText(page);
  }
});

test('long names do not make the page wider, neither on a phone', async (t) => {
  const daemon = await start(t, 'hostile');
  const long = (await tasksOf(daemon)).map(({taskName}) => taskName).filter((name) => name.length > 900);
  assert.equal(long.length, 2);
  const addresses = ['/', '/timeline', '/runs', ...long.map((name) => `/tasks/${encodeURIComponent(name)}`)];
  for (const width of [360, 390, 1280]) {
    const page = await open(t, daemon, null, {width, height: 844});
    for (const address of addresses) {
      await page.goto(daemon.url + address);
      await page.locator('[data-task], [data-run]').first().waitFor();
      await assertNoHorizontalScroll(page);
    }
  }
});

test('a search for markup is shown as text', async (t) => {
  const page = await open(t, await start(t, 'hostile'), `/?q=${encodeURIComponent('<img src=x onerror=window.pwned=4>\u202e')}`);

  await page.getByText('No task matches').waitFor();
  await assertOnlyText(page);
});

test('without JavaScript the names are text too', async (t) => {
  const page = await open(t, await start(t, 'hostile'), '/', {javaScriptEnabled: false});

  await page.getByText('<script>window.pwned = 1</script>', {exact: true}).waitFor();
  assert.equal(await page.locator('main :is(script, iframe, img, svg[onload], b)').count(), 0);
  assert.equal(await page.locator('main table').count(), 1);
});

test('an address that is no page is refused as text', async (t) => {
  const page = await open(t, await start(t, 'hostile'), '/tasks/%3Cscript%3Ewindow.pwned=5%3C%2Fscript%3E', {expected: /404/});

  await page.getByRole('heading', {name: 'Not found'}).waitFor();
  await assertOnlyText(page);
});

test('a name of more than 1,024 bytes is refused by the program', async (t) => {
  const task = (name) => `[[task]]\nname = "${name}"\ncron = "0 3 * * *"\nretry = "1h"\nrun = "true"\n`;
  const program = path.join(build, 'dutiful');

  const tooLong = await emptyWorld(task('x'.repeat(10_240)));
  const {status, stderr} = spawnSync(program, ['check', 'tasks.toml'], {cwd: tooLong.directory, encoding: 'utf8'});
  assert.notEqual(status, 0);
  assert.match(stderr, /1024/);
  const longest = await emptyWorld(task('x'.repeat(1024)));
  execFileSync(program, ['check', 'tasks.toml'], {cwd: longest.directory});
  const {rm} = await import('node:fs/promises');
  for (const {directory} of [tooLong, longest]) await rm(directory, {recursive: true});
});
