// Makes pictures of every page: screenshots.mjs FOLDER. The clock of the daemon and that of the browser stand still, so that two
// runs give the same pictures.

import {mkdir} from 'node:fs/promises';
import path from 'node:path';

import {chromium} from 'playwright-core';

import {browserOptions} from './support/browser.mjs';
import {Daemon} from './support/daemon.mjs';
import {removeOwnWorlds, world} from './support/worlds.mjs';

const [folder] = process.argv.slice(2);
await mkdir(folder, {recursive: true});

const pages = {
  overview: ['/', 'tr[data-task]'],
  timeline: ['/timeline', '[data-task] [data-kind=run]'],
  task: ['/tasks/import%20supplier%20feed', '[data-run]'],
  runs: ['/runs', '[data-run]'],
};
const sizes = {wide: {width: 1280, height: 800}, phone: {width: 390, height: 844}};

const shop = await world('shop');
const daemon = await new Daemon(shop, {frozen: true, disguise: 'shop', options: ['--max-concurrent', '2']}).start();
// What was interrupted runs again.
for (const task of ['rebuild search index', 'import supplier feed']) {
  await daemon.event('TaskRunStarted', ({taskName}) => taskName === task);
}
const browser = await chromium.launch(browserOptions);
for (const theme of ['light', 'dark']) {
  for (const [size, viewport] of Object.entries(sizes)) {
    const context = await browser.newContext({viewport, colorScheme: theme, reducedMotion: 'reduce', deviceScaleFactor: 1});
    for (const [name, [address, ready]] of Object.entries(pages)) {
      const page = await context.newPage();
      await page.clock.setFixedTime(shop.now);
      await page.goto(daemon.url + address);
      await page.locator(ready).first().waitFor({state: 'attached'});
      await page.getByText('Live', {exact: true}).waitFor();
      await page.evaluate(() => document.fonts.ready);
      await page.screenshot({path: path.join(folder, `${name}-${theme}-${size}.png`), animations: 'disabled', caret: 'hide'});
      await page.close();
    }
    await context.close();
  }
}
await browser.close();
await daemon.endAndRemove();
await removeOwnWorlds();
