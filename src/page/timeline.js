// The timeline of all tasks: a lane for each, grouped, what fails first.

import {now} from './api.js';
import {counted, h, number, plain, replace, searchField, setText, shown, svg, taskPath} from './dom.js';
import {keysAreOff} from './keys.js';
import {dayAndClock, onMode, stamp} from './time.js';
import {drawItems, makeBoard} from './timeline_board.js';
import {makeTip} from './timeline_items.js';
import {clamped, rangeOf, usualRange, zoomed} from './timeline_scale.js';

const limit = 500;
const livePause = 5000;

export async function show(main, {query, signal, setQuery, navigate}) {
  let range = rangeOf(query, now());  // null: around now, and moving with it
  let search = query.get('search') ?? '';
  const current = () => range ?? usualRange(now());
  const tip = makeTip();
  const board = makeBoard(tip, current, signal);
  const {body, drawn} = board;
  const on = (node, type, listener) => node.addEventListener(type, listener, {signal, passive: false});

  // --- Lanes ---

  let lanes = new Map();  // by name
  // A lane that leaves the window, or the document, is emptied.
  const observer = new IntersectionObserver((entries) => {
    for (const {target: {lane}, isIntersecting} of entries) {
      if (isIntersecting) {
        drawn.add(lane);
        board.drawLane(lane);
      } else {
        drawn.delete(lane);
        lane.plot.replaceChildren();
      }
    }
  }, {rootMargin: '300px'});

  function newLane({taskName}) {
    const lane = board.newLane();
    lane.path = taskPath(taskName);
    const name = h(lane.path ? 'a' : 'span', {class: 'name', href: lane.path, title: plain(taskName)},
      shown(taskName));
    lane.node = h('li', {'data-task': taskName, 'data-row': true}, name, lane.plot);
    lane.node.lane = name.lane = lane;
    observer.observe(lane.node);
    return lane;
  }

  const groups = ['failing', 'overdue', 'running', 'good'].map((name) => {
    const [list, count] = [h('ol'), h('span')];
    const node = h('details', {class: name, 'data-group': name, open: true},
      h('summary', null, h('h2', null, name, ' ', count)), list);
    return {name, list, count, node};
  });

  function write() {
    const {tasks, total, knownSince} = board.data;
    const focused = document.activeElement;
    const before = lanes;
    lanes = new Map(tasks.map((task) => [task.taskName, before.get(task.taskName) ?? newLane(task)]));
    for (const task of tasks) board.setTask(lanes.get(task.taskName), task);
    for (const {name, list, count, node} of groups) {
      const nodes = tasks.filter(({group}) => group === name).map(({taskName}) => lanes.get(taskName).node);
      node.hidden = !nodes.length;
      setText(count, number(nodes.length));
      const old = [...list.children];
      if (nodes.length !== old.length || nodes.some((each, i) => each !== old[i])) list.replaceChildren(...nodes);
    }
    if (focused !== document.activeElement) focused.focus({preventScroll: true});
    const known = Date.parse(knownSince);
    setText(note, (tasks.length < total ? `first ${tasks.length} of ` : '') + counted(total, 'task') +
      (search && ` with “${plain(search)}”`) +
      (known > current().from ? `, downtime is known since ${stamp(known)}` : ''));
    writeRange();
    board.draw();
  }

  // --- Data ---

  let request = new AbortController();
  let timer = 0;
  let loadedAt = 0;
  let pause = livePause;
  let dueAt = Infinity;

  async function load() {
    request.abort();
    request = new AbortController();
    loadedAt = now();
    const start = performance.now();
    await board.load({limit, search}, AbortSignal.any([signal, request.signal]));
    pause = Math.max(livePause, 10 * (performance.now() - start));
    write();
    if (current().until > loadedAt) loadAt(loadedAt + Math.max(60_000, pause));  // time passes even if no run starts or ends
  }

  // At this time, or earlier if that was asked for.
  function loadAt(time) {
    if (time >= dueAt) return;
    clearTimeout(timer);
    dueAt = time;
    timer = setTimeout(() => {
      dueAt = Infinity;
      if (signal.aborted) return;
      if (document.hidden) loadAt(now() + pause);
      else load().catch(() => loadAt(now() + pause));  // the banner says that the connection is lost
    }, time - now());
  }

  // --- Range ---

  function change(next, text = search) {
    range = next && clamped(next, now());
    search = text;
    const iso = (ms) => ms && new Date(ms).toISOString();
    setQuery({from: iso(range?.from), until: iso(range?.until), search});
    tip.hide();
    writeRange();
    requestAnimationFrame(board.draw);
    loadAt(now() + 150);
  }

  // Around now, or else around the middle.
  function zoom(factor, anchor) {
    const {from, until} = current();
    const middle = from < now() && now() < until ? now() : (from + until) / 2;
    change(zoomed({from, until}, factor, anchor ?? middle));
  }

  function pan(share) {
    const {from, until} = current();
    change({from: from + (until - from) * share, until: until + (until - from) * share});
  }

  // --- Pointer ---

  const brush = h('div', {class: 'brush', hidden: true});  // over the range that is being selected
  let start = null;

  on(body, 'pointerdown', (event) => {
    if (event.button || event.pointerType === 'touch' || event.target.closest('.name, summary')) return;
    start = board.placeOf(event);
    event.preventDefault();  // no text is selected
  });
  on(document, 'pointermove', (event) => {
    const place = board.placeOf(event);
    if (start === null || (brush.hidden && Math.abs(place - start) < 5)) return;
    brush.hidden = false;
    brush.style.left = `${Math.min(start, place)}px`;
    brush.style.width = `${Math.abs(start - place)}px`;
  });
  on(document, 'pointerup', (event) => {
    if (!brush.hidden) {
      const [from, until] = [start, board.placeOf(event)].sort((a, b) => a - b).map(board.scale.ms);
      change({from, until});
    }
    start = null;
    setTimeout(() => { brush.hidden = true; });  // after the click that belongs to it
  });
  on(body, 'click', (event) => {
    const lane = event.target.closest('.lane')?.lane;
    if (lane?.path && brush.hidden) navigate(lane.path);
  });
  on(body, 'wheel', (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : .8, board.scale.ms(board.placeOf(event)));
  });

  // --- Keyboard ---

  const [nearer, farther, here] = [() => zoom(.5), () => zoom(2), () => change(null)];
  const keys = {'+': nearer, '=': nearer, '-': farther, 0: here, Escape: tip.hide};
  on(document, 'keydown', (event) => {
    const {key, target: {lane}} = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.('input, dialog')) return;
    const by = {ArrowLeft: -1, ArrowRight: 1}[key];
    if (keys[key] && (key === 'Escape' || !keysAreOff())) keys[key]();
    else if (by && lane) board.walk(lane, by);
    else if (by) pan(by / 4);
    else return;
    event.preventDefault();
  });
  on(body, 'focusout', ({target: {lane}}) => {
    if (lane) lane.at = -1;
    tip.hide();
  });

  // --- The page ---

  const note = h('p', {class: 'summary', role: 'status'});
  const span = h('span', {class: 'sub'});
  const buttons = (label, ...entries) => h('div', {class: 'choice', role: 'group', 'aria-label': label},
    entries.map(([name, text, onclick]) => h('button', {'aria-label': name, title: name, onclick}, text)));
  const field = searchField('Search tasks', search, (text) => change(range, text.trim()));
  const ranges = buttons('Range', ['Earlier', '←', () => pan(-.5)], ['Now', 'Now', here],
    ['Later', '→', () => pan(.5)]);

  function writeRange() {
    setText(span, `${dayAndClock(current().from)} – ${dayAndClock(current().until)}`);
    ranges.children[1].setAttribute('aria-pressed', !range);
  }

  board.behind.append(brush);
  body.append(...groups.map(({node}) => node));
  await load();
  replace(main, h('div', {class: 'head'}, h('h1', null, 'Timeline'), note),
    h('div', {class: 'controls'}, field, ranges,
      buttons('Zoom', ['Zoom out', '−', farther], ['Zoom in', '+', nearer]), span),
    board.node, legend(), tip.nodes);
  signal.addEventListener('abort', onMode(write));
  return {title: 'Timeline', update: (names) => {
    const changed = names === null || names.size;
    if (changed && current().until > now()) loadAt(Math.max(loadedAt + pause, now()));
  }};
}

function legend() {
  const sample = (children) => svg('svg', {width: 28, height: 24, 'aria-hidden': 'true'}, children);
  const lane = (result, count = 1, starts = [2], length = 18) => {
    const node = sample();
    const items = starts.map((from) => ({result, from, until: from + length, count}));
    drawItems(node, items, {x: (x) => x, width: 28});
    return node;
  };
  return h('ul', {class: 'legend', 'aria-label': 'Legend'}, [
    ...['succeeded', 'failed', 'interrupted', 'running'].map((result) => [lane(result), result]),
    [lane('succeeded', 9), 'many runs'], [lane(null, 1, [4, 12, 20], 0), 'pulses to come'],
    [lane(null, 999), 'many pulses'],
    [sample(svg('rect', {y: 4, width: 24, height: 16, fill: 'url(#down)'})), 'no daemon ran'],
  ].map(([picture, words]) => h('li', null, picture, words)));
}
