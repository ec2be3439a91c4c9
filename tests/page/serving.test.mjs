import assert from 'node:assert/strict';
import {chmod, writeFile} from 'node:fs/promises';
import test from 'node:test';

import {awaitRows, open, start} from './support/harness.mjs';
import {world} from './support/worlds.mjs';

const addresses = ['/', '/timeline', '/runs', '/tasks/sync%20stock'];

// The addresses that a document names.
const assetsOf = (html) => [...html.matchAll(/(?:href|src)="(\/page\/[^"]+)"/g)].map(([, path]) => path);

test('every page has a strict policy, and forbids caches, frames, sniffing and referrers', async (t) => {
  const daemon = await start(t, 'shop');
  for (const address of [...addresses, '/tasks/nothing', '/nothing']) {
    const {headers} = await fetch(daemon.url + address);
    const policy = headers.get('content-security-policy');
    assert.match(policy, /default-src 'none'/, address);
    assert.match(policy, /frame-ancestors 'none'/);
    if (headers.get('content-type').startsWith('text/html')) {
      assert.match(policy, /script-src 'self'/);
      assert.match(policy, /require-trusted-types-for 'script'/);
      assert.match(policy, /base-uri 'none'/);
      assert.doesNotMatch(policy, /unsafe/);
    }
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('x-frame-options'), 'DENY');
    assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin');
    assert.match(headers.get('cache-control'), /no-store/);
  }
});

test('every asset has its type, may be kept for ever, and is not sniffed', async (t) => {
  const daemon = await start(t, 'shop');
  const paths = new Set(assetsOf(await (await fetch(daemon.url)).text()));
  assert.ok(paths.size > 5);
  for (const path of paths) {
    const answer = await fetch(daemon.url + path);
    assert.equal(answer.status, 200, path);
    assert.match(answer.headers.get('content-type'), /^(text\/javascript|text\/css|image\/svg\+xml)/);
    assert.match(answer.headers.get('cache-control'), /immutable/);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  }
});

test('everything together is less than 100 kB', async (t) => {
  const daemon = await start(t, 'shop');
  const html = await (await fetch(daemon.url)).text();
  let bytes = 0;
  for (const path of new Set(assetsOf(html))) bytes += (await (await fetch(daemon.url + path)).arrayBuffer()).byteLength;
  // Of the document, what is the same on every page.
  bytes += (await (await fetch(`${daemon.url}/runs`)).text()).length;
  assert.ok(bytes > 20_000 && bytes < 100_000, `${bytes} bytes`);
});

test('a document has no script and no style of its own', async (t) => {
  const daemon = await start(t, 'shop');
  for (const address of addresses) {
    const html = await (await fetch(daemon.url + address)).text();
    assert.doesNotMatch(html, /<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/i, address);
    assert.doesNotMatch(html, /(?:href|src)="(?:https?:)?\/\//i, address);
  }
});

for (const address of addresses) {
  test(`${address} needs one round trip after its HTML`, async (t) => {
    const daemon = await start(t, 'shop');
    const page = await open(t, daemon, null);
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    const requests = [];
    session.on('Network.requestWillBeSent', ({request, initiator, type}) =>
      requests.push({path: request.url.slice(daemon.url.length), initiator: initiator.type, type}));
    await page.addInitScript(() => {
      const {fetch} = window;
      window.fetched = [];
      window.fetch = (url, ...rest) => {
        window.fetched.push(String(url));
        return fetch(url, ...rest);
      };
    });
    await page.goto(daemon.url + address);
    await page.locator('[data-task], [data-run]').first().waitFor();
    const [document_, ...all] = requests;
    // The icon of the tab is not part of the view.
    const shown = all.filter(({type, path}) => type !== 'Other' || !path.endsWith('/icon.svg'));

    assert.equal(document_.path, address);
    assert.ok(shown.length > 5);
    const later = shown.filter(({path, initiator, type}) => initiator !== 'parser' && type !== 'EventSource' &&
      // A timeline depends on the width of the window, which the daemon does not know.
      !(address !== '/' && path.startsWith('/api/v1/timeline?')));
    assert.deepEqual(later, [], 'requests that the HTML has not caused');
    const paths = shown.map(({path}) => path);
    assert.deepEqual(paths.filter((path, i) => paths.indexOf(path) !== i), [], 'requests that are made twice');
    const fetched = await page.evaluate(() => window.fetched);
    const preloaded = await page.locator('link[rel=preload][as=fetch]').evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    assert.deepEqual(preloaded.filter((path) => !fetched.includes(path)), [], 'preloads that the page does not use');
  });
}

test('with a token, a page is refused without it and shown with it', async (t) => {
  const token = '0123456789abcdef0123456789abcdef';
  const where = await world('shop');
  await writeFile(`${where.directory}/token`, token);
  await chmod(`${where.directory}/token`, 0o600);
  const daemon = await start(t, where, {options: ['--listen-token-file', 'token']});

  for (const address of [...addresses, assetsOf(await (await fetch(daemon.url, {headers: {authorization: `Bearer ${token}`}})).text())[0]]) {
    const refused = await fetch(daemon.url + address);
    assert.equal(refused.status, 401, address);
    assert.match(refused.headers.get('www-authenticate'), /Basic/);
    assert.doesNotMatch(await refused.text(), /sync stock/);
  }
  const page = await open(t, daemon, '/', {httpCredentials: {username: 'any', password: token, send: 'always'}});
  await awaitRows(page);
  await page.getByText('Live', {exact: true}).waitFor();
});

test('an unknown address is no page', async (t) => {
  const daemon = await start(t, 'shop');
  for (const address of ['/nothing', '/page/000000000000/main.js', '/page/../etc/passwd', '/tasks/', '/tasks/nothing']) {
    assert.equal((await fetch(daemon.url + address)).status, 404, address);
  }
});

test('the page of another origin is not shown data', async (t) => {
  const daemon = await start(t, 'shop');
  const {status} = await new Promise((resolve, reject) => {
    import('node:http').then(({get}) => get({port: daemon.port, host: '127.0.0.1', path: '/', headers: {host: 'evil.example.com'}},
      (answer) => { answer.resume(); resolve({status: answer.statusCode}); }).on('error', reject));
  });
  assert.equal(status, 421);
  const page = await open(t, daemon);
  await awaitRows(page);
  await page.evaluate(() => location.assign('/runs'));
  await page.getByRole('heading', {level: 1, name: 'Runs'}).waitFor();
  assert.equal(await page.evaluate(() => document.referrer), '');
});
