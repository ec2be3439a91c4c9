// The page of one task: its timeline, its runs, what became of its pulses, and its configuration.

import {accountUrl, get, now, runsUrl, taskUrl} from './api.js';
import {counted, fact, h, mark, number, replace, shown, shownError} from './dom.js';
import {live} from './live.js';
import {makePlot} from './plot.js';
import {commandLine, runTable, shellWord} from './run.js';
import {stateOf} from './task_list.js';
import {dayAndClock, dayText, duration, mode, offsetAt, onMode, relative, stamp, timeNode} from './time.js';
import {makeBoard} from './timeline_board.js';
import {makeTip} from './timeline_items.js';
import {usualRange} from './timeline_scale.js';

const plotted = 100;
const listed = 20;

const when = (text) => [timeNode(text, (ms) => dayAndClock(ms)), ' ',
  timeNode(text, (ms) => `(${relative(ms)})`)];
const moment = (name, text) => text !== null && fact(name, when(text));
const code = (text) => h('code', null, shown(text));

const factsOf = (task) => [
  fact('Schedule', task.english, h('div', {class: 'muted'}, code(task.cronExpression))),
  moment('Overdue since', task.overdueSince), moment('Retry', task.pendingRetryUntil),
  moment('Next run', task.nextDueAt), moment('Last success', task.lastSuccessAt),
  moment('Last failure', task.lastFailureAt),
  task.lastError !== null && fact('Last error', h('span', {class: 'failed'}, shownError(task.lastError))),
];

// What is odd about the local time of each pulse: one that occurs twice would look like a mistake.
export function oddities(pulses) {
  const civil = pulses.map((ms) => stamp(ms, {offset: false}));
  return pulses.map((ms, i) => {
    if (civil.indexOf(civil[i]) < i) return 'second of two';
    if (civil.lastIndexOf(civil[i]) > i) return 'first of two';
    const turn = i > 0 ? offsetAt(ms) - offsetAt(pulses[i - 1]) : 0;
    return turn ? `after the clocks go ${turn > 0 ? 'forward' : 'back'}` : '';
  });
}

function pulsesOf(nextPulses) {
  const odd = oddities(nextPulses.map((text) => Date.parse(text)));
  return nextPulses.map((text, i) => h('li', null, when(text), h('span', {class: 'overdue'}, ' ', odd[i])));
}

const fates = [
  ['run', 'own', 'had a run of their own'], ['running', 'later', 'the task was still running'],
  ['down', 'later', 'no daemon ran'], ['asleep', 'later', 'the host was asleep or too busy'],
  ['limit', 'later', 'too many tasks were running'],
  ['store', 'later', 'the state could not be written'], ['retry', 'later', 'a retry came first'],
  ['orphan', 'later', 'the restart of an interrupted run came first'], ['owed', 'owed', 'not served yet'],
  ['unknown', 'unknown', 'from before the account began'],
];

// The days of an account lack some members.
const sumOf = (account, kind) => fates.reduce((sum, [member, each]) =>
  sum + (!kind || kind === each ? account[member] ?? 0 : 0), 0);

function bar(account, longest) {
  const pieces = ['own', 'later', 'owed', 'unknown'].map((kind) => {
    const piece = h('span', {class: kind, hidden: !sumOf(account, kind)});
    piece.style.flexGrow = sumOf(account, kind);
    return piece;
  });
  const node = h('div', {class: 'fates', 'aria-hidden': 'true'}, pieces);
  node.style.width = `${100 * sumOf(account) / longest}%`;
  return node;
}

const cells = (tag, ...values) => h('tr', null, values.map((value) => h(tag, null, value)));

function daysOf(days) {
  const longest = Math.max(...days.map((each) => sumOf(each)), 1);
  return days.map((each) => cells('td', dayText(Date.parse(each.from)), number(sumOf(each)),
    number(each.run), bar(each, longest)));
}

function accountOf(account) {
  const note = (n, noun, words) => n > 0 && h('p', {class: 'muted'}, counted(n, noun), words);
  return [
    h('p', null, h('strong', null, counted(account.pulses, 'pulse')), ' since ', timeNode(account.from)),
    bar(account, sumOf(account) || 1),
    h('ul', {class: 'list'}, fates.map(([member, kind, words]) => account[member] > 0 &&
      h('li', {'data-fate': member}, h('span', {class: `swatch ${kind}`}),
        h('b', null, number(account[member])), kind === 'later' ? ' served by a later run: ' : ' ', words))),
    note(account.jumped, 'minute', ' of the schedule did not exist: the clocks went forward.'),
    note(account.recurred, 'pulse', ' came twice: the clock was set back.'),
  ];
}

// A command as a shell would read it; of one that the shell runs, only its text.
export const commandText = (words) =>
  (words[0] === '/bin/sh' && words[1] === '-c' && words.length === 3 ? words[2]
    : words.map(shellWord).join(' '));

function configurationOf(task) {
  const text = (name, value) => value && fact(name, code(value));
  const command = (name, words) => words && text(name, commandText(words));
  return [
    command('Command', task.command), text('Directory', task.directory), text('User', task.user),
    text('Environment', task.environment.join(' ')), fact('Retry after', duration(task.retryDelayMs)),
    fact('Time limit', task.timeLimitMs === null ? 'none' : duration(task.timeLimitMs)),
    command('On failure', task.onFailure), command('On recovery', task.onRecovery),
    command('On success', task.onSuccess),
    task.notifyAfter && fact('Notify after', counted(task.notifyAfter, 'failure')),
    text('Defined in', `${task.file}:${task.line}`),
  ];
}

// What the daemon said about the address at which the page was opened.
let missing = performance.getEntriesByType('navigation')[0]?.responseStatus === 404;

const section = (title, ...children) => h('section', null, h('h2', null, title), children);

const terminal = (command, name) =>
  commandLine(`dutiful ${command} --state ${shellWord(live.daemon.state)} -- ${shellWord(name)}`);

export async function show(main, {params: [name], signal}) {
  // A removed task still has runs; a new one has none.
  const find = (path) => get(path, {signal}).catch((error) => {
    if (error.status !== 404) throw error;
    return null;
  });
  const tip = makeTip();
  const board = makeBoard(tip, () => usualRange(now()), signal);
  const lane = board.newLane();
  const table = runTable({label: 'Runs', withTask: false, signal});
  const plots = [makePlot('Duration', 'durationMs', tip), makePlot('Lateness', 'latenessMs', tip)];
  const [state, account, days] = [h('span'), h('div'), h('tbody')];
  const byDay = h('details', null, h('summary', null, 'By day'), h('table', {class: 'days'},
    h('thead', null, cells('th', 'Day', 'Pulses', 'Run', 'Share')), days));
  const [facts, configuration] = [h('dl', {class: 'facts'}), h('dl', {class: 'facts'})];
  const pulses = h('ol', {class: 'list'});
  const configured = section('Configuration', configuration);
  // What only a task of the task file has.
  const parts = [
    section('Last and next 24 hours', board.node),
    h('div', {class: 'halves'}, section('Account of pulses', account, byDay), section('Next pulses', pulses)),
    terminal('account', name),
  ];
  const written = new Map();
  let task, runs, sums;

  async function load() {
    const [found, history, sum] = await Promise.all([find(taskUrl(name)),
      find(runsUrl({task: name, limit: plotted})), find(accountUrl({task: name, days: true})),
      board.load({task: name}).catch(() => null)]);
    [task, runs, sums] = [found, history?.runs ?? [], sum?.accounts[0]];
  }

  // Writes only what has changed, so that the rest can be selected.
  function fill(node, data, nodesOf) {
    const text = JSON.stringify([data, mode()]);
    if (written.get(node) !== text) replace(node, data && nodesOf(data));
    written.set(node, text);
  }

  function write() {
    replace(state, task ? mark(stateOf(task)) : 'removed from the task file');
    const newest = sums?.days.slice(-30).reverse() ?? [];
    fill(facts, task, factsOf);
    fill(pulses, task?.nextPulses, pulsesOf);
    fill(account, sums && {...sums, until: null, days: null}, accountOf);
    fill(days, newest, daysOf);
    byDay.hidden = newest.length < 2;
    fill(configuration, task?.configuration, configurationOf);
    for (const part of parts) part.hidden = !task;
    configured.hidden = !task?.configuration;
    for (const plot of plots) plot.set(runs);
    for (const each of board.data?.tasks ?? []) {
      board.setTask(lane, each);
      board.drawn.add(lane);
    }
    board.draw();
    // New runs are put in front, so that those that are open stay open.
    const known = runs.findIndex(({id}) => table.ids.has(id));
    if (known < 0) table.set(runs.slice(0, listed));
    else table.prepend(runs.slice(0, known));
  }

  if (!missing) await load();
  missing = false;
  const message = `There is no task ${name}, and the history has no run of it.`;
  if (!task && !runs?.length) throw Object.assign(new Error(message), {status: 404});
  board.node.classList.add('lone');
  board.body.append(lane.plot);
  replace(main, h('div', {class: 'head'}, h('h1', null, shown(name)), state), facts,
    parts[0], h('div', {class: 'halves'}, plots.map(({node}) => node)),
    parts[1], section('Runs', table.node, h('p', {class: 'more'},
      h('a', {href: `/runs?task=${encodeURIComponent(name)}`}, 'All runs of this task'))),
    configured, section('In a terminal', terminal('history', name), parts[2]), tip.nodes);
  write();
  signal.addEventListener('abort', onMode(write));

  return {title: name, async update(names) {
    if (names !== null && !names.has(name)) return;
    try {
      await load();
      write();
    } catch { /* The banner shows it. */ }
  }};
}
