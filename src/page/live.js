// What the daemon knows now. An event is only the sign to ask what has changed, so the page cannot drift from
// the daemon.

import {daemonUrl, eventsUrl, get, tasksUrl} from './api.js';
import {setZone} from './time.js';

const shortestPause = 2000;  // between two requests, however many events arrive
const longestPause = 15000;  // a task becomes overdue without an event
const patience = 10000;
const fullPause = 60000;  // a change that the disk delayed for long may be missing among the changes

const signs = [
  'TaskRunStarted', 'TaskRunCompleted', 'TaskRunFailed', 'TaskOrphaned', 'StoreFailed', 'TheoryViolated',
];
// After these, tasks may be new, changed or removed.
const upheavals = ['TaskFileLoaded', 'missed'];

const listeners = {change: [], status: []};
const emit = (name, value) => listeners[name].forEach((fn) => fn(value));

let since = null;  // the `at` of the newest answer about tasks
let loading = null;  // the request for all tasks, if there is one
let wanted = null;  // null, 'changes' or 'all'
let asking = false;
let resting = true;  // for a pause after each request
let pause = shortestPause;
let idleTimer = 0;
let source = null;

export const live = {
  tasks: new Map(),  // all of them after load(), otherwise those that changed since the page was opened
  daemon: null,
  state: null,  // the answer of /api/v1/tasks without the tasks
  status: 'connecting',  // or 'live', 'lost', 'stopping'
  stopped: false,  // lost because the daemon stopped
  asOf: null,  // instant of the newest data, in milliseconds

  // 'change': fn(Set of names, or null if all may have changed); 'status': fn(status).
  on(name, fn) { listeners[name].push(fn); },

  // Connects. The promise is fulfilled when the zone of the daemon is known.
  start() {
    connect();
    rest();
    setInterval(() => want('all'), fullPause);
    document.addEventListener('visibilitychange', () => {
      connect();
      if (!document.hidden) want('all');
    });
    return loadDaemon().catch(failed);
  },

  // Loads all tasks once; from then on `tasks` is kept up to date.
  load() {
    loading ??= fetchAll().catch((error) => {
      loading = null;
      failed(error);
    });
    return loading;
  },
};

function setStatus(status, stopped = false) {
  live.status = status;
  live.stopped = stopped;
  emit('status', status);
}

function failed(error) {
  wanted = 'all';
  setStatus('lost', live.stopped || live.status === 'stopping');
  throw error;
}

// A daemon that stops never runs again, but an answer may be older than the event that says so.
function answered({at, lifecycle}) {
  live.asOf = Date.parse(at);
  setStatus(lifecycle === 'stopping' || live.status === 'stopping' ? 'stopping' : 'live');
}

const getWithin = (time, url) => get(url, {signal: AbortSignal.timeout(time)});

async function loadDaemon() {
  const before = live.daemon;
  live.daemon = await getWithin(patience, daemonUrl);
  if (before?.startedAt !== live.daemon.startedAt) live.status = 'connecting';
  setZone(live.daemon);
  since ??= live.daemon.at;
  answered(live.daemon);
}

async function fetchTasks(from, time) {
  const {tasks, ...state} = await getWithin(time, tasksUrl(from));
  live.state = state;
  since = state.at;
  answered(state);
  return tasks;
}

// The object that is known already, if it is equal: its row need not be written again.
function known(task) {
  const old = live.tasks.get(task.taskName);
  return JSON.stringify(old) === JSON.stringify(task) ? old : task;
}

async function fetchAll() {
  const tasks = await fetchTasks(null, 4 * patience);
  live.tasks = new Map(tasks.map((task) => [task.taskName, known(task)]));
  emit('change', null);
}

async function fetchChanges() {
  const changed = new Set();
  for (const task of await fetchTasks(since, patience)) {
    if (known(task) !== task) continue;
    live.tasks.set(task.taskName, task);
    changed.add(task.taskName);
  }
  emit('change', changed);
}

// Asks at once, or when the pause is over, or when somebody looks at the page again.
function want(what) {
  if (wanted !== 'all') wanted = what;
  if (!asking && !resting && !document.hidden) ask();
}

async function ask() {
  const all = wanted === 'all' || !live.daemon;
  wanted = null;
  asking = true;
  try {
    if (all || live.daemon.judge) await loadDaemon();
    if (all && loading) await fetchAll();
    else await fetchChanges();
    if (all && !loading) emit('change', null);
    pause = shortestPause;
  } catch (error) {
    pause = Math.min(longestPause, pause * 1.5);
    try { failed(error); } catch { /* The status shows it. */ }
  }
  asking = false;
  rest();
}

function rest() {
  resting = true;
  setTimeout(() => {
    resting = false;
    if (wanted) want(wanted);
  }, pause);
  clearTimeout(idleTimer);
  idleTimer = setTimeout(() => want('changes'), longestPause);
}

// A page that nobody sees has no stream: browsers allow six connections to a host, for all tabs together.
function connect() {
  source?.close();
  source = null;
  if (document.hidden) return;
  const stream = source = new EventSource(eventsUrl);
  let opened = false;
  stream.onopen = () => {
    // A stream that was interrupted may have missed events.
    if (opened || live.status === 'lost') want('all');
    opened = true;
  };
  stream.onerror = () => {
    // Perhaps there are only too many streams: a request shows whether the daemon is there.
    wanted = 'all';
    if (!asking) ask();
    // The browser gives up after an error status.
    if (stream.readyState === EventSource.CLOSED) {
      setTimeout(() => stream === source && connect(), longestPause);
    }
  };
  for (const name of signs) stream.addEventListener(name, () => want('changes'));
  for (const name of upheavals) stream.addEventListener(name, () => want('all'));
  stream.addEventListener('SchedulerStopRequested', () => setStatus('stopping'));
}
