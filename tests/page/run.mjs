// Runs the tests of the page: run.mjs [FILTER]. The filter is a part of the name of test files, or else of tests.

import {spawn} from 'node:child_process';
import {readdirSync} from 'node:fs';
import {rm} from 'node:fs/promises';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

import {temporaryDirectory} from './support/worlds.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const inFolder = (folder) => readdirSync(path.join(here, folder), {withFileTypes: true})
  .filter((entry) => entry.isFile() && entry.name.endsWith('.test.mjs')).map(({name}) => path.join(folder, name)).sort();
// Unit tests take a second. The slowest of the others begins first.
const slowFirst = (names) => names.sort((a, b) => Number(b.includes('ten_thousand')) - Number(a.includes('ten_thousand')));
const all = [...inFolder('unit'), ...slowFirst(inFolder('.'))];

const [filter] = process.argv.slice(2);
const named = filter ? all.filter((file) => file.includes(filter)) : all;
const files = named.length ? named : all;
const options = filter && !named.length ? [`--test-name-pattern=${filter}`] : [];

const shared = await temporaryDirectory('worlds');

function run(file) {
  return new Promise((resolve) => {
    const process_ = spawn(process.execPath, ['--test-reporter=spec', ...options, path.join(here, file)],
      {env: {...process.env, DUTIFUL_PAGE_WORLDS: shared, NO_COLOR: '1'}, stdio: ['ignore', 'pipe', 'pipe']});
    let output = '';
    for (const stream of [process_.stdout, process_.stderr]) stream.on('data', (chunk) => { output += chunk; });
    process_.on('close', (status) => resolve({status, output}));
  });
}

const start = Date.now();
const failed = [];
let tests = 0;
const queue = [...files];

async function work() {
  for (let file = queue.shift(); file; file = queue.shift()) {
    const from = Date.now();
    const {status, output} = await run(file);
    const count = Number(/^ℹ pass (\d+)/m.exec(output)?.[1] ?? 0);
    tests += count;
    if (status === 0 && options.length && count === 0) continue;
    // The summary of each file would hide the tests.
    console.log(`${file} (${((Date.now() - from) / 1000).toFixed(1)} s)\n${status ? output : output.replace(/^[ℹ﹣] .*\n/gm, '').trimEnd()}`);
    if (status !== 0) failed.push(file);
    else if (!options.length && count === 0) failed.push(`${file}: it has no tests`);
  }
}

await Promise.all([work(), work()]);
await rm(shared, {recursive: true, force: true});
const seconds = ((Date.now() - start) / 1000).toFixed(0);
if (!failed.length && tests === 0) failed.push('no test has this name');
if (failed.length) {
  console.log(`\nfailed after ${seconds} s: ${failed.join(', ')}`);
  process.exit(1);
}
console.log(`\n${tests} tests passed in ${seconds} s`);
