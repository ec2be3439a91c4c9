// Runs in a table whose rows open: all that is known about a run, and how to see it in a terminal.

import {get, now, runUrl} from './api.js';
import {
  capital, fact, h, mark, outputNodes, plain, replace, setText, shown, shownError, taskLink, withoutCodes,
} from './dom.js';
import {live} from './live.js';
import {dayAndClock, duration, timeNode} from './time.js';

const reasons = {
  cron: 'a pulse of the schedule',
  retry: 'the run before it failed',
  orphan: 'the run before it was interrupted',
  boot: 'the task was added during a minute of its expression',
};

// 300 bytes, 10.7 MiB
export function bytes(n) {
  if (n < 1024) return n === 1 ? '1 byte' : `${n} bytes`;
  const unit = Math.min(4, Math.floor(Math.log2(n) / 10));
  const size = n / 2 ** (10 * unit);
  return `${size < 100 ? size.toFixed(1) : Math.round(size)} ${['', 'KiB', 'MiB', 'GiB', 'TiB'][unit]}`;
}

// One word of a POSIX shell; hidden characters need the form with escapes, which bash, zsh and ksh read.
export function shellWord(text) {
  if (/^[\w@%+=:,./][\w@%+=:,./-]*$/.test(text)) return text;
  if (plain(text) === text) return `'${text.replaceAll("'", "'\\''")}'`;
  return `$'${plain(text.replaceAll('\\', '\\\\').replaceAll("'", "\\'"))}'`;
}

// Arguments that begin with a dash would be read as options.
const operand = (name) => (name.startsWith('-') ? `-- ${shellWord(name)}` : shellWord(name));

export function historyCommand(run, state) {
  const end = Date.parse(run.startedAt) + (run.durationMs ?? 0);
  const since = new Date(end).toISOString();
  return `dutiful history --state ${shellWord(state)} --since ${since} --full ${operand(run.taskName)}`;
}

export const reasonText = ({reason, attempt}) =>
  [reason, attempt > 1 && `attempt ${attempt}`].filter(Boolean).join(', ');

export function endText(run) {
  if (run.result === 'interrupted') return 'unknown: the daemon ended first';
  const parts = [];
  if (run.timeLimit) parts.push('time limit exceeded');
  if (run.signal !== null) parts.push(`signal ${run.signal}`);
  if (run.exitStatus !== null) parts.push(`exit status ${run.exitStatus}`);
  return parts.join(', ') || 'the command was not started';
}

// Pages of plain HTTP may not use the clipboard; the text of the node is then copied as by hand.
export function copyButton(node, text, label) {
  const button = h('button', {class: 'quiet copy', 'aria-label': label, onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      getSelection().selectAllChildren(node);
      document.execCommand('copy');
    }
    setText(button, 'Copied');
    setTimeout(() => setText(button, 'Copy'), 1500);
  }}, 'Copy');
  return button;
}

// A command for a terminal, with a button that copies it.
export function commandLine(command) {
  const code = h('code', null, command);
  return h('div', {class: 'command'}, code, copyButton(code, command, 'Copy the command'));
}

export function outputBlock({output, outputBytes}) {
  if (!output) {
    return h('p', {class: 'muted'}, outputBytes === null ? 'The output is not known.' :
      outputBytes ? `The output (${bytes(outputBytes)}) is no longer kept.` : 'The command wrote nothing.');
  }
  const kept = new TextEncoder().encode(output).length;
  const pre = h('pre', {tabindex: 0, role: 'region', 'aria-label': 'Output'}, outputNodes(output));
  return h('div', {class: 'output'},
    h('div', {class: 'output-head'},
      h('span', null, 'Output: ', kept < outputBytes && `the last ${bytes(kept)} of `, bytes(outputBytes)),
      copyButton(pre, withoutCodes(output), 'Copy the output')),
    pre);
}

const exact = {seconds: true};

function facts(run) {
  const start = Date.parse(run.startedAt);
  const known = {
    Reason: [run.reason ?? 'unknown', ' ', h('span', {class: 'sub'}, reasons[run.reason] ?? '')],
    Attempt: run.attempt,
    Pulse: timeNode(run.pulse, exact),
    Started: timeNode(start, exact),
    Ended: run.durationMs === null ? 'unknown' : timeNode(start + run.durationMs, exact),
    Lateness: duration(run.latenessMs),
    Duration: duration(run.durationMs),
    Outcome: endText(run),
    Process: run.processId,
    'CPU time': run.userMs !== null && `${duration(run.userMs)} user, ${duration(run.systemMs)} system`,
    Memory: run.memoryMaxBytes !== null && `${bytes(run.memoryMaxBytes)} at most`,
  };
  return h('dl', {class: 'facts'}, Object.entries(known).map(([name, value]) =>
    value && fact(name, value)));
}

// Everything about a run of the history. The output is loaded if `run` does not have it.
export function runDetails(run, {signal} = {}) {
  const output = h('div');
  const status = h('p', {class: 'visually-hidden', role: 'status'});
  const whole = 'output' in run ? Promise.resolve(run) : get(runUrl(run.id), {signal});
  const apology = (error) => h('p', {class: 'muted'}, 'The output cannot be loaded: ', shown(error.message));
  whole.then(outputBlock).catch(apology).then((block) => {
    replace(output, block);
    setText(status, block.matches('.output') ? 'The output is shown.' : block.textContent);
  });
  return h('div', {class: 'details'},
    run.error !== null && h('p', {class: 'error'}, shownError(run.error)),
    facts(run), status, output,
    h('p', {class: 'sub'}, 'The same in a terminal:'), commandLine(historyCommand(run, live.daemon.state)));
}

const usual = 200;  // rows of a table to which new runs come, unless the reader asked for more

// A table of runs, newest first: {node, ids, set(runs), append(runs), prepend(runs)}. If prepend() removes old
// rows, it returns the id of the last one that is left.
export function runTable({label, withTask = true, signal}) {
  const columns = ['result', 'task', 'started', 'duration', 'lateness', 'reason', 'error']
    .filter((column) => withTask || column !== 'task');
  const body = h('tbody');
  const heads = columns.map((column) =>
    h('th', {scope: 'col', class: column}, capital(column)));
  const node = h('table', {class: 'runs cards', 'aria-label': label}, h('thead', null, h('tr', null, heads)), body);
  const ids = new Set();
  let most = usual;

  const rows = (runs) => runs.filter(({id}) => !ids.has(id) && ids.add(id)).map(row);

  function row(run) {
    let details = null;
    const button = h('button', {class: 'expand', 'aria-expanded': 'false', onclick: () => {
      details?.remove();
      details = details ? null :
        h('tr', {class: 'opened'}, h('td', {colspan: columns.length}, runDetails(run, {signal})));
      if (details) line.after(details);
      button.setAttribute('aria-expanded', details !== null);
    }}, mark(run.result));
    const content = {
      result: button,
      task: taskLink(run.taskName),
      started: timeNode(run.startedAt, (ms) => dayAndClock(ms, now(), exact)),
      duration: duration(run.durationMs),
      lateness: duration(run.latenessMs),
      reason: reasonText(run),
      error: run.error !== null && shownError(run.error),
    };
    const line = h('tr',
      {'data-row': true, 'data-run': run.id, 'data-task': run.taskName, 'data-result': run.result},
      columns.map((column) => h('td', {class: column}, content[column])));
    return line;
  }

  return {
    node,
    ids,
    set(runs) {
      ids.clear();
      replace(body, rows(runs));
      most = usual;
    },
    append(runs) {
      body.append(...rows(runs));
      most = Math.max(usual, ids.size);
    },
    prepend(runs) {
      body.prepend(...rows(runs));
      const size = ids.size;
      // An open row is being read, so it stays for long.
      while (ids.size > most && (!body.lastChild.matches('.opened') || ids.size > 4 * most)) {
        if (body.lastChild.dataset.run) ids.delete(Number(body.lastChild.dataset.run));
        body.lastChild.remove();
      }
      return size > ids.size ? Math.min(...ids) : null;
    },
  };
}
