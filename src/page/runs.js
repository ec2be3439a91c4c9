// The runs of all tasks in the history, newest first, filtered and by page.

import {get, runsUrl} from './api.js';
import {choice, h, replace, searchField, setText, shown} from './dom.js';
import {live} from './live.js';
import {runTable} from './run.js';

const page = 50;
const results = [
  ['', 'All'], ['succeeded', 'Succeeded'], ['failed', 'Failed'], ['interrupted', 'Interrupted'],
];
const times = [['', 'Any time'], ['1h', '1 h'], ['24h', '24 h'], ['7d', '7 days']];

export async function show(main, {query, signal, setQuery}) {
  const known = (options, value) => options.find(([each]) => each === value)?.[0] ?? '';
  const wanted = {
    q: query.get('q') ?? '', task: query.get('task') ?? '',
    result: known(results, query.get('result')), since: known(times, query.get('since')),
  };
  const table = runTable({label: 'Runs', signal});
  let next = null;

  function url(cursor) {
    const {q: search, task, result, since} = wanted;
    return runsUrl({search, task, result, since, limit: page, cursor});
  }

  // If some of the newest runs are on the page, the others are put in front, and open ones stay open.
  async function load(keep) {
    const asked = url();
    const answer = await get(asked, {signal}).catch((error) => {
      // The filter names a task that neither is in the list nor has runs.
      if (error.status === 404) return {runs: [], next: null};
      throw error;
    });
    if (asked !== url()) return;  // The filter has changed meanwhile.
    if (keep && answer.runs.some(({id}) => table.ids.has(id))) {
      next = table.prepend(answer.runs) ?? next;
    } else {
      table.set(answer.runs);
      next = answer.next;
    }
    render();
  }

  const field = searchField('Search by task', wanted.q, (q) => {
    clearTimeout(typing);
    typing = setTimeout(() => filter({q}), 150);
  });
  let typing = 0;
  signal.addEventListener('abort', () => clearTimeout(typing));

  const byResult = choice('Result', results, (result) => filter({result}));
  const byTime = choice('Ended within', times, (since) => filter({since}));
  const task = h('strong');
  const only = h('p', {class: 'only'}, 'Only runs of ', task, ' ',
    h('button', {class: 'quiet', onclick: () => filter({task: ''})}, 'Show all tasks'));
  const title = h('h2');
  const all = h('button', {onclick: clear}, 'Show all runs');
  const later = h('p', null, 'Runs appear here when they have ended.');
  const empty = h('div', {class: 'empty'}, title, all, later);
  const status = h('p', {class: 'visually-hidden', role: 'status'});
  const older = h('button', {onclick: async () => {
    older.disabled = true;
    const asked = url(next);
    try {
      const answer = await get(asked, {signal});
      if (asked === url(next)) {  // The filter has not changed meanwhile.
        table.append(answer.runs);
        next = answer.next;
      }
    } catch { /* The connection sign shows it; the button can be pressed again. */ }
    older.disabled = false;
    render();
  }}, 'Show older runs');
  const rest = h('p', {class: 'more'}, older);

  function filter(change) {
    Object.assign(wanted, change);
    setQuery(wanted);
    render();
    load(false).catch(() => { /* The connection sign shows it. */ });
  }

  function clear() {
    field.value = '';
    filter({q: '', task: '', result: '', since: ''});
  }

  function render() {
    byResult.press(wanted.result);
    byTime.press(wanted.since);
    only.hidden = !wanted.task;
    replace(task, shown(wanted.task));
    const count = table.ids.size;
    const filtered = Object.values(wanted).some(Boolean);
    table.node.hidden = !count;
    empty.hidden = !table.node.hidden;
    setText(title, filtered ? 'No run matches' : live.daemon.history ? 'No runs yet' : 'The daemon keeps no history');
    all.hidden = !filtered;
    later.hidden = filtered || !live.daemon.history;
    rest.hidden = next === null;
    setText(status, filtered ? `${count}${next === null ? '' : ' or more'} runs found` : '');
  }

  await load(false);
  replace(main,
    h('div', {class: 'head'}, h('h1', null, 'Runs'), h('p', {class: 'summary'}, 'newest first')),
    h('div', {class: 'controls', role: 'search'}, field, byResult.node, byTime.node),
    only, status, table.node, empty, rest);

  return {
    title: 'Runs',
    update(names) {
      if (names === null || names.size) load(true).catch(() => { /* The connection sign shows it. */ });
    },
  };
}
