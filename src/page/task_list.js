// The list of tasks without its look: their states, which are searched for, and in which order.

const tests = {
  failing: (task) => task.failing,
  overdue: (task) => task.overdueSince !== null,
  running: (task) => task.state === 'Running',
  waiting: (task) => stateOf(task) === 'waiting',
};

export const states = Object.keys(tests);
export const isIn = (task, state) => tests[state](task);

// The state that matters most; a task may be in several.
export const stateOf = (task) =>
  ['failing', 'overdue', 'running'].find((state) => isIn(task, state)) ?? 'waiting';

export const needsAttention = (task) => isIn(task, 'failing') || isIn(task, 'overdue');

// When the newest run ended. The end of an interrupted run is not known, so its start stands for it until the
// task runs again.
export function lastEnd(task) {
  if (task.lastResult === 'succeeded') return task.lastSuccessAt;
  if (task.lastResult === 'failed') return task.lastFailureAt;
  return task.lastResult === null || task.state === 'Running' ? null : task.lastAttemptAt;
}

// What each column sorts by, and its first direction: the soonest, the newest, the longest, the worst.
export const columns = {
  task: {key: ({index}) => index, first: 1},
  // Running tasks stay where they are: the list would never rest if every start moved a row.
  state: {key: ({task}) => Math.min(2, states.indexOf(stateOf(task))), first: 1},
  last: {key: ({task}) => lastEnd(task), first: -1},
  duration: {key: ({task}) => task.lastDurationMs, first: -1},
  recent: {key: ({task}) => (task.recent ? task.recent.replaceAll('s', '').length : null), first: -1},
  next: {key: ({task}) => task.nextDueAt, first: 1},
};

// 'next', '-next' → {column, direction}; anything else is the default, which has no text.
export function parseSort(text) {
  const column = Object.keys(columns).find((each) => text === each || text === `-${each}`) ?? 'state';
  return {column, direction: columns[column].first * (text === `-${column}` ? -1 : 1)};
}

export function sortText({column, direction}) {
  if (direction !== columns[column].first) return `-${column}`;
  return column === 'state' ? '' : column;
}

// Tasks without a value are last in both directions. Equal tasks are in the order of the daemon.
export function inOrder(entries, {column, direction}) {
  const {key} = columns[column];
  const keyed = entries.map((entry) => [key(entry), entry]);
  keyed.sort(([a, x], [b, y]) => {
    if (a === b) return x.index - y.index;
    if (a === null) return 1;
    if (b === null) return -1;
    return a < b ? -direction : direction;
  });
  return keyed.map(([, entry]) => entry);
}

export const entriesOf = (tasks) =>
  Array.from(tasks, (task, index) =>
    ({task, index, name: task.taskName, lower: task.taskName.toLowerCase()}));

// The entries whose names contain every word, and how many of those are in each state.
export function search(entries, text, state) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = entries.filter(({lower}) => words.every((word) => lower.includes(word)));
  const counts = {all: found.length};
  for (const each of states) counts[each] = 0;
  for (const {task} of found) for (const each of states) if (isIn(task, each)) counts[each] += 1;
  return {counts, found: states.includes(state) ? found.filter(({task}) => isIn(task, state)) : found};
}

// last 30 runs: 2 failed, 1 interrupted
export function recentLabel(recent) {
  if (!recent) return 'no runs yet';
  const count = (letter) => recent.split(letter).length - 1;
  const bad = [[count('f'), 'failed'], [count('i'), 'interrupted']].filter(([n]) => n);
  const [what, good] = recent.length === 1 ? ['last run', 'succeeded'] :
    [`last ${recent.length} runs`, 'all succeeded'];
  return `${what}: ${bad.map(([n, word]) => `${n} ${word}`).join(', ') || good}`;
}
