// A timeline without its surroundings: an axis, what lies behind the lanes, and the lanes. The page of a task
// has one too. The axis is physical time, so that a bar is as long as its run; its labels are civil time.

import {get, now, timelineUrl} from './api.js';
import {h, number, plain, replace, svg} from './dom.js';
import {clock, dayText, duration, mode, offsetAt} from './time.js';
import {itemAt, itemLines, itemsOf, linesOf, spanText, summaryOf} from './timeline_items.js';
import {clip, day, markOf, scaleOf, stepOf, ticks} from './timeline_scale.js';

const laneHeight = 24;
const floor = 20;  // all bars stand on one line, so that their heights can be compared
const heights = {succeeded: 8, failed: 16, interrupted: 12, running: 8};

const px = (value) => value.toFixed(1);
const rect = (x, y, width, height, props) => svg('rect', {x: px(x), y, width: px(width), height, ...props});
const path = (name, d) => svg('path', {class: name, d});
const stripes = (id, size, angle) => svg('pattern', {id, width: size, height: size,
  patternUnits: 'userSpaceOnUse', patternTransform: `rotate(${angle})`}, path(id, `M1 0v${size}`));

const patterns = () => svg('svg', {class: 'patterns', height: 0, 'aria-hidden': 'true'},
  ['succeeded', 'failed', 'interrupted'].map((result) => stripes(`many-${result}`, 4, 0)),
  stripes('down', 6, 45), stripes('gap', 4, -45));

function bar({result, count}, x, right) {
  const props = {'data-kind': result ? 'run' : 'pulse', 'data-result': result, 'data-count': count,
    class: result ?? 'pulse'};
  const height = heights[result];
  const width = Math.max(right - x, result === 'failed' ? 3 : 2);
  // The end of a running run is open: an arrow, not an edge.
  const arrow = `M${px(x)} 12h${px(width)}l5 4l-5 4h-${px(width)}z`;
  if (result === 'running') return svg('path', {...props, d: arrow});
  const fill = count > 1 && width > 6 && `url(#many-${result})`;
  if (result) return rect(x, floor - height, width, height, {...props, fill});
  if (count === 1) return rect(x - .75, floor - 7, 1.5, 7, props);
  const label = `×${number(count)}`;
  return svg('g', props, rect(x, floor - 3, width, 3),
    width > 8 * label.length && svg('text', {x: px((x + right) / 2), y: floor - 7}, label));
}

export function drawItems(node, items, {x, width}) {
  const layers = [[], []];  // what did not succeed is in front
  for (const item of items) {
    const [from, until] = [Math.max(x(item.from), -4), Math.min(x(item.until), width + 4)];
    const layer = layers[item.result && item.result !== 'succeeded' ? 1 : 0];
    if (until > -3 && from < width) layer.push(bar(item, from, until));
  }
  replace(node, layers);
}

// Days, hours and changes of the clocks on the axis; and behind all lanes their lines, downtime, and now.
function drawGrid(axis, back, {from, until, width, perPixel, x}, {changes, down}, now) {
  const utc = mode() === 'utc';  // where all days are alike, but changes are still marked
  const step = stepOf(perPixel, 58);
  const find = (size) => ticks(from, until, size, utc ? [] : changes, offsetAt(from));
  const marks = changes.map(markOf).filter((mark) => mark.until > from && mark.from < until);
  const text = (name, at, y, words) => svg('text', {class: name, x: px(at), y}, words);

  const days = find(Math.max(step, day)).map(({at}) => [x(at), dayText(at)]);
  if (!(days[0]?.[0] < 74)) days.unshift([0, dayText(from)]);
  const bracket = (start, end) => `M${px(x(start) + 1)} 66v-6H${px(x(end) - 1)}v6`;
  // A bracket over each pass of what comes twice, a cut at a gap. The label stays inside of the axis.
  const change = ({kind, at, label, offsets, ...mark}) => {
    const words = `${label}${utc ? ' in local time' : ''} (${offsets})`;
    const half = words.length * 3.4;
    const cut = `M${px(x(at))} 57v9`;
    const middle = clip(x(at), half, Math.max(width - half, half));
    return svg('g', {'data-kind': kind}, text('change', middle, 52, words),
      path('bracket', kind === 'gap' ? cut : bracket(mark.from, at) + bracket(at, mark.until)));
  };
  replace(axis,
    days.map(([at, words]) =>
      [path('tick', `M${px(at)} 2V40`), at < width - 60 && text('day', at + 5, 13, words)]),
    step < day && find(step).map(({at}) => [path('tick', `M${px(x(at))} 35v5`),
      x(at) > 14 && x(at) < width - 14 && Math.abs(x(at) - x(now)) > 42 && text(null, x(at), 30, clock(at))]),
    now > from && now < until &&
      [rect(x(now) - 19, 18, 38, 17, {class: 'pill', rx: 8}), text('now', x(now), 30, 'now')],
    marks.map(change));
  axis.setAttribute('height', marks.length ? 66 : 40);

  const band = (start, end, props) => {
    const [left, right] = [start, end].map((ms) => x(clip(ms, from, until)));
    return rect(left, 0, Math.max(right - left, 1), '100%', props);
  };
  const line = (name, at) => svg('line', {class: name, x1: px(x(at)), x2: px(x(at)), y2: '100%'});
  replace(back,
    now < until && band(now, until, {class: 'future'}),
    find(step).map(({at, midnight}) => line(midnight ? 'tick' : 'hour', at)),
    down.filter((each) => each.until > from && each.from < until)
      .map((each) => band(each.from, each.until, {'data-kind': 'down', fill: 'url(#down)'})),
    marks.map(({kind, at, ...mark}) => svg('g', {'data-kind': kind},
      kind === 'gap' ? rect(x(at) - 3, 0, 6, '100%', {fill: 'url(#gap)'})
        : [band(mark.from, at, {class: 'pass'}), band(at, mark.until, {class: 'pass second'}),
          line('turn', at)])),
    now > from && now < until && line('now', now));
}

const reach = 5;  // pixels beside a thin bar that still belong to it

export function makeBoard(tip, range, signal) {
  const axis = svg('svg', {class: 'axis', 'aria-hidden': 'true'});
  const back = svg('svg', {class: 'back', 'aria-hidden': 'true'});
  const behind = h('div', {class: 'behind'}, back);
  const body = h('div', {class: 'body'}, behind);
  const node = h('div', {class: 'tl'}, patterns(), h('div', {class: 'axis-row'}, axis), body);
  const drawn = new Set();  // lanes in or near the window: the others are not drawn

  const board = {node, body, behind, drawn, data: null, scale: null,
    newLane() {
      const plot = svg('svg', {class: 'lane', role: 'img', height: laneHeight});
      plot.lane = {plot, task: null, items: [], at: -1};
      return plot.lane;
    },

    setTask(lane, task) {
      lane.task = task;
      lane.plot.setAttribute('aria-label', plain(summaryOf(task, now())));
    },

    drawLane(lane) {
      lane.items = itemsOf(lane.task, now());
      if (board.scale) drawItems(lane.plot, lane.items, board.scale);
    },

    draw() {
      if (!behind.clientWidth || !board.data) return;
      board.scale = scaleOf(range(), behind.clientWidth);
      drawGrid(axis, back, board.scale, board.data, now());
      drawn.forEach(board.drawLane);
    },

    // What is closer than three pixels is merged: it could not be told apart.
    async load(query, either = signal) {
      const {from, until} = range();
      const iso = (ms) => new Date(ms).toISOString();
      const step = Math.ceil(3 * (until - from) / (behind.clientWidth || innerWidth));
      const url = timelineUrl({from: iso(from), until: iso(until), step, ...query});
      const answer = await get(url, {signal: either});
      for (const change of answer.changes) change.at = Date.parse(change.at);
      for (const down of answer.down) {
        [down.from, down.until] = [Date.parse(down.from), Date.parse(down.until)];
      }
      board.data = answer;
    },

    placeOf: (event) => event.clientX - behind.getBoundingClientRect().left,

    // Shows the next or previous item of a lane.
    walk(lane, by) {
      const {from, until, width, x} = board.scale;
      const items = lane.items.filter((item) => item.until >= from && item.from <= until);
      if (!items.length) return;
      const last = items.length - 1;
      lane.at = lane.at < 0 && by < 0 ? last : clip(lane.at + by, 0, last);
      const item = items[lane.at];
      const {left, top} = lane.plot.getBoundingClientRect();
      const middle = (Math.max(x(item.from), 0) + Math.min(x(item.until), width)) / 2;
      tip.show(left + middle, top, itemLines(lane.task.taskName, item), true);
    },
  };

  // An item of the lane, or what lies behind all lanes.
  function linesAt(lane, x) {
    const {scale, data} = board;
    if (!scale || x < 0) return null;
    const [ms, near] = [scale.ms(x), reach * scale.perPixel];
    const item = lane && itemAt(lane.items, ms, near);
    if (item) return itemLines(lane.task.taskName, item);
    const change = data.changes.map(markOf).find(({from, until}) => ms > from - near && ms < until + near);
    if (change) return linesOf(change.label, `Offset ${change.offsets}`);
    const down = data.down.find(({from, until}) => ms >= from && ms <= until);
    return down && linesOf('No daemon ran', spanText(down.from, down.until),
      duration(down.until - down.from));
  }

  node.addEventListener('pointermove', (event) => {
    const {clientX, clientY, target} = event;
    tip.show(clientX, clientY, !target.closest('.name, summary') &&
      linesAt(target.closest('.lane')?.lane, board.placeOf(event)));
  });
  node.addEventListener('pointerleave', tip.hide);
  new ResizeObserver(board.draw).observe(behind);
  return board;
}
