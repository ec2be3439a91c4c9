// A plot of runs: a point for each, oldest first, with a shape and a colour for its result.

import {counted, h, mark, replace, setText, svg} from './dom.js';
import {dayAndClock, duration, stamp} from './time.js';
import {linesOf} from './timeline_items.js';

const [left, top, bottom, height] = [66, 8, 128, 150];
const shapes = {
  succeeded: 'm-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0z', failed: 'm-3.5-3.5l7 7m0-7l-7 7',
  interrupted: 'm-3-3h6v6h-6z',
};

// {log, y(ms), median, ticks} for durations in order; y is 0 at the bottom and 1 at the top. The axis is
// logarithmic if the longest is 50 times the median: one outlier would press all other points flat.
export function axisOf(sorted) {
  const most = Math.max(sorted.at(-1) ?? 1, 1);
  const median = sorted.length ? (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2 : 0;
  const log = most >= 50 * Math.max(median, 1);
  const least = log ? Math.max(sorted[0], 1) : 0;
  // Zero has no logarithm: it lies at the bottom.
  const share = (ms) => Math.log(ms / least) / Math.log(most / least);
  const y = (ms) => (log ? share(Math.max(ms, least)) : Math.max(ms, 0) / most);
  return {log, y, median, ticks: [least, median, most]};
}

// set(runs) draws runs that are newest first. One whose duration is null leaves its place empty.
export function makePlot(title, member, tip) {
  const note = h('span', {class: 'sub'});
  const cursor = svg('path', {class: 'cursor'});
  const node = svg('svg', {class: 'plot', role: 'img', tabindex: 0, height});
  let runs = [];
  let places = [];
  let at = -1;

  function draw() {
    const width = node.clientWidth;
    const values = runs.map((run) => run[member]).filter((value) => value !== null).sort((a, b) => a - b);
    const {log, y: share, median, ticks} = axisOf(values);
    const y = (value) => Math.round(bottom - share(value) * (bottom - top));
    const text = (anchor, x, base, words) => svg('text', {'text-anchor': anchor, x, y: base}, words);
    const date = (run, anchor, x) =>
      run && text(anchor, x, height - 4, dayAndClock(Date.parse(run.startedAt)));
    setText(note, values.length ? `median ${duration(median)}${log ? ', logarithmic' : ''}` : 'no runs yet');
    node.setAttribute('aria-label', `${title} of ${counted(values.length, 'run')}: ${note.textContent}, ` +
      `at most ${duration(values.at(-1))}. The arrow keys go through the runs.`);
    places = runs.map((run, i) =>
      [Math.round(left + (i + .5) / runs.length * (width - left)), y(run[member] ?? 0)]);
    replace(node,
      ticks.map((tick, i) => [
        svg('path', {class: i === 1 ? 'median' : 'grid', d: `M${left} ${y(tick)}H${width}`}),
        // The median has no label if it would cover another one.
        (i !== 1 || (y(tick) > top + 14 && y(tick) < bottom - 14)) &&
          text('end', left - 8, y(tick) + 4, tick ? duration(tick) : '0')]),
      runs.map(({result, ...run}, i) => run[member] !== null && svg('path', {class: `point ${result}`,
        'data-kind': 'run', 'data-result': result, d: `M${places[i].join(' ')}${shapes[result]}`})),
      runs.length > 1 && date(runs[0], 'start', left), date(runs.at(-1), 'end', width), cursor);
  }

  function point(i, aloud) {
    const [run, place] = [runs[i], places[i]];
    at = run ? i : -1;
    cursor.setAttribute('d', run ? `M${place[0]} ${top}V${bottom}` : '');
    if (!run) return tip.hide();
    const box = node.getBoundingClientRect();
    tip.show(box.left + place[0], box.top + place[1], linesOf(mark(run.result),
      stamp(Date.parse(run.startedAt), {seconds: true}),
      `duration ${duration(run.durationMs)}, lateness ${duration(run.latenessMs)}`), aloud);
  }

  node.addEventListener('pointermove', (event) => {
    const box = node.getBoundingClientRect();
    point(Math.floor((event.clientX - box.left - left) / (box.width - left) * runs.length));
  });
  for (const name of ['pointerleave', 'blur']) node.addEventListener(name, () => point(-1));
  node.addEventListener('keydown', ({key}) => {
    if (key === 'ArrowLeft') point(at < 0 ? runs.length - 1 : Math.max(at - 1, 0), true);
    if (key === 'ArrowRight') point(Math.min(at + 1, runs.length - 1), true);
    if (key === 'Escape') point(-1);
  });
  new ResizeObserver(draw).observe(node);
  return {node: h('section', null, h('h2', null, title, ' ', note), node), set(next) {
    const id = runs[at]?.id;
    runs = [...next].reverse();
    draw();
    if (id) point(runs.findIndex((run) => run.id === id));
  }};
}
