// The real daemon on a clock that the test sets.

import {spawn} from 'node:child_process';
import {existsSync} from 'node:fs';
import {rm} from 'node:fs/promises';
import path from 'node:path';
import readline from 'node:readline';

import {build} from './worlds.mjs';

const library = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map((name) => `/usr/lib/${name}/faketime/libfaketime.so.1`).find(existsSync);

// The environment in which clocks are `ahead` milliseconds ahead of the host's, or always show `frozen`.
function clockVariables({ahead, frozen}) {
  if (!library) throw new Error('libfaketime is not installed');
  const seconds = (ahead / 1000).toFixed(3);
  const text = frozen === undefined ? (ahead < 0 ? seconds : `+${seconds}`) :
    new Date(frozen).toISOString().slice(0, 19).replace('T', ' ');
  return {LD_PRELOAD: library, FAKETIME: text, FAKETIME_DONT_FAKE_MONOTONIC: '1'};
}

export class Daemon {
  events = [];
  #waiting = [];

  constructor(world, options) {
    this.world = world;
    this.options = options;
  }

  // Starts the daemon. `at`: what its clock shows then (default: when the world ends). `frozen`: its clock stands still.
  // `disguise`: it sees its world in /srv/NAME, on a host of that name, so that a picture of the page is the same everywhere.
  async start() {
    const {world} = this;
    const {at = world.now, frozen = false, port = 0, options = [], disguise = null} = this.options;
    this.ahead = at - Date.now();
    const environment = {
      PATH: process.env.PATH, HOME: '/', TZ: world.zone,
      // A frozen clock shows local time.
      ...clockVariables(frozen ? {frozen: at + offsetOf(world.zone, at)} : {ahead: this.ahead}),
    };
    const [command, ...words] = [...(disguise ? disguised(disguise) : []), path.join(build, 'dutiful'),
      'run', 'tasks.toml', '--state', 'tasks.db', '--listen', `127.0.0.1:${port}`, '--log', 'json', '--kill-grace', '2s', ...options];
    this.process = spawn(command, words, {cwd: world.directory, env: environment, stdio: ['ignore', 'pipe', 'pipe']});
    this.errors = '';
    this.ended = new Promise((resolve) => {
      this.process.once('exit', resolve);
      this.process.once('error', (error) => {  // it could not be started
        this.errors += error.message;
        resolve();
      });
    });
    this.process.stderr.on('data', (chunk) => { this.errors += chunk; });
    readline.createInterface({input: this.process.stdout}).on('line', (line) => this.#add(JSON.parse(line)));
    const {pid} = this.process;
    this.ended.then(() => {
      this.#add({event: 'exit'});
      // What libfaketime leaves behind if the process is killed.
      for (const name of ['faketime_shm', 'sem.faketime_sem']) rm(`/dev/shm/${name}_${pid}`, {force: true});
    });
    const {address} = await this.event('Listening');
    this.address = address;
    this.port = Number(address.split(':').at(-1));
    this.url = `http://${address}`;
    await this.event('TaskFileLoaded');
    return this;
  }

  now() {
    return Date.now() + this.ahead;
  }

  #add(event) {
    this.events.push(event);
    this.#waiting = this.#waiting.filter((wait) => !wait());
  }

  // Waits for an event of the log, also one of the past.
  event(name, matches = () => true) {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.events.find((event) => event.event === name && matches(event));
        if (found) resolve(found);
        else if (this.events.at(-1)?.event === 'exit') reject(new Error(`the daemon has ended: ${this.errors}`));
        else return false;
        return true;
      };
      if (!look()) this.#waiting.push(look);
    });
  }

  signal(name) {
    this.process.kill(name);
  }

  // Ends it, and its commands.
  async end() {
    this.signal('SIGCONT');
    this.signal('SIGTERM');
    this.signal('SIGINT');
    await this.ended;
  }

  async endAndRemove() {
    await this.end();
    await rm(this.world.directory, {recursive: true, force: true});
  }
}

// A command that runs the words after it. Both namespaces end with the process.
const disguised = (name) => ['unshare', ...(process.getuid() === 0 ? [] : ['--map-root-user']), '--mount', '--uts', 'sh', '-euc',
  'mount -t tmpfs tmpfs /srv; cp -R . "/srv/$0"; hostname "$0"; cd "/srv/$0"; exec "$@"', name];

// Milliseconds that clocks in the zone are ahead of UTC.
function offsetOf(zone, instant) {
  const text = new Intl.DateTimeFormat('sv', {timeZone: zone, dateStyle: 'short', timeStyle: 'medium'}).format(instant);
  return Date.parse(`${text.replace(' ', 'T')}Z`) - Math.floor(instant / 1000) * 1000;
}
