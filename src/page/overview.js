// All tasks, what needs attention first. Rows are kept, so that focus, selection and scroll position survive
// an update.

import {now} from './api.js';
import {
  capital, choice, counted, h, mark, number, plain, replace, searchField, setText, shown, shownError, svg, taskLink,
  withoutCodes,
} from './dom.js';
import {live} from './live.js';
import {
  columns, entriesOf, inOrder, lastEnd, needsAttention, parseSort, recentLabel, search, sortText, stateOf,
  states,
} from './task_list.js';
import {dayAndClock, duration, lasting, relative, timeNode} from './time.js';

const portion = 40;  // rows that are added at once
const titles = {
  task: 'Task', state: 'State', last: 'Last run', duration: 'Duration', recent: 'Last 30 runs',
  next: 'Next run',
};
const waits = {
  nothing: 'starts now', own_run: 'still running', limit: 'limit reached', store: 'state not writable',
  clock: 'clock out of range', restart: 'needs a restart',
};
const muted = (text) => h('span', {class: 'muted'}, text);
const sub = (...children) => h('div', {class: 'sub'}, children);

let limit = portion;  // stays when the reader returns, so that the scroll position exists again

// The newest run is at the right. Failed runs are tall, succeeded ones short, interrupted ones hollow.
const bars = {
  s: (x) => `M${x} 9h4v9h-4z`,
  f: (x) => `M${x} 2h4v16h-4z`,
  i: (x) => `M${x + .5} 6.5h3v11h-3z`,
};

function strip(recent) {
  const paths = {s: '', f: '', i: ''};
  const from = 30 - recent.length;
  [...recent].forEach((result, i) => { paths[result] += bars[result]((from + i) * 6); });
  return svg('svg', {class: 'strip', viewBox: '0 0 178 20', role: 'img', 'aria-label': recentLabel(recent)},
    from && svg('path', {class: 'none', d: `M1 17.5h${from * 6 - 4}`}),
    Object.entries(paths).map(([result, d]) =>
      d && svg('path', {class: `bar-${result}`, 'data-result': result, d})));
}

function stateCell(task) {
  const state = stateOf(task);
  let more = null;
  if (task.state === 'Running') {
    const again = task.attempt > 1 ? `attempt ${task.attempt} ` : state === 'running' ? '' : 'runs ';
    more = [again, timeNode(task.lastAttemptAt, lasting)];
  } else if (state === 'overdue') {
    more = [timeNode(task.overdueSince, lasting), task.owed && `, ${waits[task.owed.waitsFor]}`];
  } else if (task.pendingRetryUntil !== null) {
    more = ['retry ', timeNode(task.pendingRetryUntil, (ms) => relative(Math.max(ms, now())))];
  } else if (task.state === 'Interrupted') more = 'interrupted, starts again';
  return [mark(state, capital(state)), more && sub(more)];
}

function lastCell(task) {
  const end = lastEnd(task);
  if (task.lastResult === null) return muted(live.daemon.history ? 'no run yet' : 'no history');
  const error = task.lastError;
  return [
    h('div', {class: 'line'}, mark(task.lastResult),
      end && timeNode(end, (ms) => relative(Math.min(ms, now())))),
    error === null ? end && sub(timeNode(end, dayAndClock)) :
      h('div', {class: 'error', title: plain(withoutCodes(error))}, shownError(error)),
  ];
}

function nextCell({nextDueAt, state}) {
  if (nextDueAt === null) return muted('never');
  const soon = (ms) => (ms > now() ? relative(ms) : state === 'Running' ? 'after this run' : 'now');
  return [h('div', null, timeNode(nextDueAt, soon)), sub(timeNode(nextDueAt, dayAndClock))];
}

const cells = {
  state: stateCell,
  last: lastCell,
  duration: (task) => duration(task.lastDurationMs),
  recent: (task) => strip(task.recent),
  next: nextCell,
};

function newRow({name}) {
  const schedule = h('div', {class: 'sub'});
  const node = h('tr', {'data-row': true, 'data-task': name},
    h('th', {role: 'rowheader', scope: 'row', class: 'task'}, taskLink(name), schedule),
    Object.keys(cells).map((column) => h('td', {class: column})));
  return {node, schedule, task: null};
}

// The link stays the same node, because it may have the focus.
function writeRow(row, task) {
  if (row.task === task) return;
  row.task = task;
  row.node.dataset.state = stateOf(task);
  setText(row.schedule, task.english);
  row.schedule.title = task.cronExpression;
  Object.values(cells).forEach((write, i) => replace(row.node.children[i + 1], write(task)));
}

// Puts the nodes into the parent in this order, and moves as few as possible. Moving a node takes its focus.
function arrange(parent, nodes) {
  const focused = document.activeElement;
  const wanted = new Set(nodes);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  let at = parent.firstChild;
  for (const node of nodes) {
    if (node === at) at = at.nextSibling;
    else parent.insertBefore(node, at);
  }
  if (focused !== document.activeElement && parent.contains(focused)) focused.focus({preventScroll: true});
}

export async function show(main, {query, signal, setQuery}) {
  await live.load();
  if (signal.aborted) return null;

  let text = query.get('q') ?? '';
  let state = states.find((each) => each === query.get('state')) ?? '';
  let sort = parseSort(query.get('sort'));
  let entries = [];
  let byName = new Map();
  let ordered = [];
  let rows = new Map();  // those on the page
  let summaryOf = '';

  const summary = h('p', {class: 'summary'});
  const field = searchField('Search tasks', text, (next) => filter(next, state));
  const counters = Object.fromEntries(['', ...states].map((each) => [each, h('span', {class: 'count'})]));
  const filters = choice('Filter by state',
    Object.entries(counters).map(([each, count]) => [each, capital(each || 'all'), ' ', count]),
    (each) => filter(text, each));
  const heads = Object.entries(titles).map(([column, title]) => {
    const turn = () => {
      const direction = column === sort.column ? -sort.direction : columns[column].first;
      filter(text, state, {column, direction});
    };
    return h('th', {scope: 'col', class: column}, h('button', {onclick: turn}, title));
  });
  const body = h('tbody');
  const table = h('table', {class: 'tasks cards', 'aria-label': 'Tasks'},
    h('thead', null, h('tr', null, heads)), body);
  const group = (label) => h('tr', {class: 'group'}, 
    h('th', {role: 'rowheader', scope: 'rowgroup', colspan: 6}, label));
  const attention = group('Needs attention');
  const others = group('All other tasks');
  const more = h('button', {onclick: () => { limit += portion; render(); }});
  const rest = h('p', {class: 'more'}, more);
  const [title, reason] = [h('h2'), h('p')];
  const all = h('button', {onclick: () => {
    field.value = '';
    filter('', '');
    field.focus();
  }}, 'Show all tasks');
  const empty = h('div', {class: 'empty'}, title, reason, all);
  const found = h('p', {class: 'visually-hidden', role: 'status'});

  function filter(nextText, nextState, nextSort = sort) {
    [text, state, sort, limit] = [nextText, nextState, nextSort, portion];
    ordered = inOrder(entries, sort);
    setQuery({q: text, state, sort: sortText(sort)});
    render();
  }

  function adopt() {
    entries = entriesOf(live.tasks.values());
    byName = new Map(entries.map((entry) => [entry.name, entry]));
    ordered = inOrder(entries, sort);
  }

  function render() {
    const {counts, found: matches} = search(ordered, text, state);
    const visible = matches.slice(0, limit);
    rows = new Map(visible.map((entry) => [entry.name, rows.get(entry.name) ?? newRow(entry)]));
    visible.forEach(({name, task}) => writeRow(rows.get(name), task));
    const nodes = [...rows.values()].map(({node}) => node);
    // The groups are those of the default order.
    if (!sortText(sort) && !state) {
      const urgent = visible.findIndex(({task}) => !needsAttention(task));
      if (urgent !== 0) nodes.unshift(attention);
      if (urgent > 0) nodes.splice(urgent + 1, 0, others);
    }
    arrange(body, nodes);

    for (const [each, count] of Object.entries(counters)) setText(count, number(counts[each || 'all']));
    filters.press(state);
    for (const head of heads) head.removeAttribute('aria-sort');
    heads[Object.keys(titles).indexOf(sort.column)]
      .setAttribute('aria-sort', sort.direction > 0 ? 'ascending' : 'descending');
    const left = matches.length - limit;
    rest.hidden = left <= 0;
    setText(more, `Show ${number(Math.min(portion, left))} more of ${number(left)}`);
    table.hidden = !matches.length;
    empty.hidden = !table.hidden;
    if (table.hidden) showEmpty();
    setText(found, text || state ? `${counted(matches.length, 'task')} found` : '');
    showSummary();
  }

  function showEmpty() {
    const none = !entries.length;
    setText(title, none ? 'No tasks' : 'No task matches');
    replace(reason, none ? ['The task file ', shown(live.daemon.file), ' has no tasks.'] :
      text ? ['No ', state, ' task has “', shown(text), '” in its name.'] : `No task is ${state}.`);
    all.hidden = none;
  }

  function showSummary() {
    const {counts} = search(entries, '', '');
    const key = JSON.stringify([counts, live.daemon.startedAt]);
    if (key === summaryOf) return;
    summaryOf = key;
    const part = (each) => counts[each] > 0 && mark(each, `${number(counts[each])} ${each}`);
    const good = entries.length > 0 && !counts.failing && !counts.overdue;
    replace(summary, h('span', null, counted(counts.all, 'task')), part('failing'), part('overdue'),
      good && mark('succeeded', 'nothing needs attention'), part('running'),
      h('span', null, 'daemon since ', timeNode(live.daemon.startedAt, dayAndClock)));
  }

  // Adds rows before the reader reaches the end of the page.
  const observer = new IntersectionObserver(([{isIntersecting}]) => {
    if (isIntersecting && !rest.hidden) more.click();
  }, {rootMargin: '600px'});
  observer.observe(rest);
  signal.addEventListener('abort', () => observer.disconnect());

  adopt();
  replace(main, h('div', {class: 'head'}, h('h1', null, 'Tasks'), summary),
    h('div', {class: 'controls', role: 'search'}, field, filters.node), found, table, empty, rest);
  render();

  return {
    title: 'Tasks',
    update(names) {
      if (names === null || [...names].some((name) => !byName.has(name))) adopt();
      else if (names.size) {
        for (const name of names) byName.get(name).task = live.tasks.get(name);
        ordered = inOrder(entries, sort);
      }
      render();
    },
  };
}
