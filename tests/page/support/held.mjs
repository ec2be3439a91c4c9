// A run that ends when the test wants it.

import {execFileSync} from 'node:child_process';
import {writeFile} from 'node:fs/promises';

import {emptyWorld} from './worlds.mjs';

// Tasks of which the last one runs until the test writes its exit status into the pipe "go".
export async function heldWorld() {
  const task = (name, run) => `[[task]]\nname = "${name}"\ncron = "14 10 * * *"\nretry = "1h"\nrun = ${JSON.stringify(run)}\n`;
  const world = await emptyWorld(task('a', 'true') + task('b', 'true') + task('z', 'read status < go; echo "ends with $status"; exit "$status"'));
  execFileSync('mkfifo', [`${world.directory}/go`]);
  return {world, release: (status) => writeFile(`${world.directory}/go`, `${status}\n`)};
}
