// What a lane of the timeline holds, and how it is said.

import {counted, h, mark, replace, shown} from './dom.js';
import {clock, duration, lasting, relative, stamp} from './time.js';

const results = {s: 'succeeded', f: 'failed', i: 'interrupted', r: 'running'};

// The runs and pulses of a task in one order; pulses have no result. A running run lasts until now.
export const itemsOf = ({runs, pulses}, now) => [
  ...runs.map(([from, until, letter, count]) =>
    ({from, until: letter === 'r' ? Math.max(now, from) : until, count, result: results[letter]})),
  ...pulses.map(([from, until, count]) => ({from, until, count})),
].sort((a, b) => a.from - b.from);

// The item within `reach` of an instant: a failed run, which is drawn above the others, or the nearest one.
export function itemAt(items, ms, reach) {
  const distance = ({from, until}) => Math.max(from - ms, ms - until, 0);
  const near = items.filter((item) => distance(item) <= reach).sort((a, b) => distance(a) - distance(b));
  return near.find(({result}) => result === 'failed') ?? near[0];
}

// backup: 3 runs, 1 failed; next 03:15
export function summaryOf({taskName, runs, pulses}, now) {
  const sums = {s: 0, f: 0, i: 0, r: 0};
  for (const [, , letter, count] of runs) sums[letter] += count;
  const parts = [counted(sums.s + sums.f + sums.i, 'run'),
    ...['f', 'i', 'r'].map((each) => sums[each] && `${sums[each]} ${results[each]}`)];
  const next = pulses.find(([, until]) => until >= now);
  return `${taskName}: ${parts.filter(Boolean).join(', ')}; ` +
    (next ? `next ${clock(Math.max(next[0], now))}` : 'no pulse in this range');
}

// 2026-11-16 03:15:00 +01:00 – 03:15:42 +01:00; the end has a date only if that is another day.
export function spanText(from, until) {
  const [start, end] = [from, until].map((ms) => stamp(ms, {seconds: true}));
  if (from === until) return start;
  return `${start} – ${start.slice(0, 10) === end.slice(0, 10) ? end.slice(11) : end}`;
}

export const linesOf = (...lines) =>
  lines.filter(Boolean).map((line, i) => h(i ? 'div' : 'strong', null, line));

export function itemLines(name, {result, from, until, count}) {
  const many = count > 1;
  const running = result === 'running';
  return linesOf(shown(name),
    result ? mark(result, many ? `${counted(count, 'run')} ${result}` : result) : counted(count, 'pulse'),
    spanText(from, running ? from : until),
    running ? lasting(from) : result ? !many && duration(until - from) : relative(from));
}

// The box beside the pointer, or beside what has the focus, that says what is there.
export function makeTip() {
  const box = h('div', {class: 'tip', hidden: true});
  // Screen readers hear what the keyboard reaches, but not what the pointer passes over.
  const voice = h('div', {class: 'visually-hidden', role: 'status'});
  const hide = () => { box.hidden = true; };
  return {nodes: [box, voice], hide, show(x, y, lines, aloud) {
    if (!lines) return hide();
    box.hidden = false;
    replace(box, lines);
    const {offsetWidth: width, offsetHeight: height} = box;
    box.style.left = `${Math.max(Math.min(x - width / 2, innerWidth - width - 8), 8)}px`;
    box.style.top = `${y < height + 20 ? y + 16 : y - height - 12}px`;
    if (aloud) voice.textContent = lines.map((line) => line.textContent).join('. ');
  }};
}
