// The worlds that page_world makes: a task file, a state and a history that belong together.

import {execFile} from 'node:child_process';
import {accessSync, constants} from 'node:fs';
import {cp, mkdtemp, readFile, rename, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
export const build = path.join(root, 'build/release');

const zones = {
  shop: 'Europe/Berlin', spring: 'America/New_York', autumn: 'America/New_York', hostile: 'UTC', ten_thousand: 'UTC',
};

// In memory if that is possible: the disk is not what is tested.
function memory() {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return tmpdir();
  }
}

export const temporaryDirectory = (name = 'page') => mkdtemp(path.join(memory(), `dutiful-${name}-`));

const made = new Map();
let own = null;

// Makes the world, unless it exists in the directory that all test files share.
async function make(name) {
  const home = process.env.DUTIFUL_PAGE_WORLDS ?? (own ??= await temporaryDirectory('worlds'));
  const target = path.join(home, name);
  const nowOf = async () => Date.parse((await readFile(path.join(target, 'now'), 'utf8')).trim());
  try {
    return {target, now: await nowOf()};
  } catch { /* It is not there yet. */ }
  const work = await mkdtemp(path.join(home, `.${name}-`));
  const {stdout} = await promisify(execFile)(path.join(build, 'page_world'), [name, work]);
  await writeFile(path.join(work, 'now'), stdout);
  // Another test file may have been quicker; its world is the same.
  await rename(work, target).catch(() => rm(work, {recursive: true}));
  return {target, now: await nowOf()};
}

// A copy of the world for one daemon: {directory, now, zone}.
export async function world(name) {
  if (!made.has(name)) made.set(name, make(name));
  const {target, now} = await made.get(name);
  const directory = await temporaryDirectory(name);
  await cp(target, directory, {recursive: true});
  return {directory, now, zone: zones[name]};
}

// A world with this task file, and no past.
export async function emptyWorld(tasks, {now = Date.parse('2026-06-17T10:14:30Z'), zone = 'UTC'} = {}) {
  const directory = await temporaryDirectory('empty');
  await writeFile(path.join(directory, 'tasks.toml'), tasks);
  return {directory, now, zone};
}

export async function removeOwnWorlds() {
  if (own) await rm(own, {recursive: true, force: true});
}
