// Times in the zone of the daemon, which is the zone of its cron expressions, or in UTC.

import {now} from './api.js';

const weekdays = 'Sun Mon Tue Wed Thu Fri Sat'.split(' ');
const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const key = 'dutiful.times';
const listeners = new Set();

let offsets = [{from: -Infinity, seconds: 0}];
let currentMode = recall(key) === 'utc' ? 'utc' : 'local';

// Storage may be denied; a choice then lasts as long as the page.
export function recall(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}
export function remember(name, value) {
  try { localStorage.setItem(name, value); } catch { /* see above */ }
}

export function setZone({offsets: segments}) {
  offsets = segments.map(({from, seconds}) => ({from: from ? Date.parse(from) : -Infinity, seconds}));
}

export const mode = () => currentMode;

export function setMode(next) {
  currentMode = next;
  remember(key, next);
  refresh();
  for (const fn of listeners) fn(next);
}

// Returns a function that ends the subscription.
export function onMode(fn) {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

// Seconds east of UTC in the zone of the daemon.
export const zoneOffsetAt = (ms) => offsets.findLast(({from}) => from <= ms).seconds;

// The same in the current mode.
export const offsetAt = (ms) => (currentMode === 'utc' ? 0 : zoneOffsetAt(ms));

export function parts(ms) {
  const offset = offsetAt(ms);
  const date = new Date(ms + offset * 1000);
  return {
    year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate(),
    hour: date.getUTCHours(), minute: date.getUTCMinutes(), second: date.getUTCSeconds(),
    weekday: date.getUTCDay(), offset,
  };
}

const two = (n) => String(n).padStart(2, '0');

// +01:00, −05:00; the seconds only if there are any.
export function offsetText(seconds) {
  const size = Math.abs(seconds);
  const rest = size % 60 ? ':' + two(size % 60) : '';
  const minutes = Math.floor(size / 60);
  return (seconds < 0 ? '−' : '+') + `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}${rest}`;
}

// 01:30 or 01:30:05
export function clock(ms, {seconds = false} = {}) {
  const t = parts(ms);
  return `${two(t.hour)}:${two(t.minute)}` + (seconds ? ':' + two(t.second) : '');
}

// 2026-11-01 01:30 −05:00
export function stamp(ms, {seconds = false, date = true, offset = true} = {}) {
  const t = parts(ms);
  const day = `${String(t.year).padStart(4, '0')}-${two(t.month)}-${two(t.day)}`;
  return [date && day, clock(ms, {seconds}), offset && offsetText(t.offset)].filter(Boolean).join(' ');
}

// The day as people say it: today, tomorrow, Sun 1 Nov, 1 Nov 2027.
export function dayText(ms, at = now()) {
  const t = parts(ms);
  const n = parts(at);
  const days = (Date.UTC(t.year, t.month - 1, t.day) - Date.UTC(n.year, n.month - 1, n.day)) / 86400000;
  if (days === 0) return 'today';
  if (days === 1) return 'tomorrow';
  if (days === -1) return 'yesterday';
  const day = `${t.day} ${months[t.month - 1]}`;
  return Math.abs(days) < 180 ? `${weekdays[t.weekday]} ${day}` : `${day} ${t.year}`;
}

// today 14:30 +01:00
export const dayAndClock = (ms, at, options) => `${dayText(ms, at)} ${stamp(ms, {...options, date: false})}`;

const units = [[86400000, 'd'], [3600000, 'h'], [60000, 'min'], [1000, 's']];

// 12 min, 1 h 40 min, 3 h
function distance(ms) {
  const i = units.findIndex(([size]) => ms >= size);
  if (i < 0) return '0 s';
  const [[size, unit], below] = [units[i], units[i + 1]];
  // "1 h" would hide up to 59 minutes, so the first hours and days also have the next smaller unit.
  const rest = i < 2 && ms < 3 * size && Math.floor((ms % size) / below[0]);
  return `${Math.floor(ms / size)} ${unit}` + (rest ? ` ${rest} ${below[1]}` : '');
}

// in 12 min, 3 h ago, now
export function relative(ms, at = now()) {
  if (Math.abs(ms - at) < 1000) return 'now';
  return ms > at ? `in ${distance(ms - at)}` : `${distance(at - ms)} ago`;
}

// How long something has lasted: for 12 min
export const lasting = (ms, at = now()) => `for ${distance(at - ms)}`;

// 17 ms, 1.2 s, 4 min 10 s, 2 h 5 min, 3 d 4 h
export function duration(ms) {
  if (ms === null || ms === undefined) return '–';
  if (ms < 0) return '−' + duration(-ms);
  if (ms < 1000) return `${Math.floor(ms)} ms`;
  if (ms < 10000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const [large, small, a, b] = seconds < 3600 ? [60, 1, 'min', 's'] :
    seconds < 86400 ? [3600, 60, 'h', 'min'] : [86400, 3600, 'd', 'h'];
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)} ${a}` + (rest ? ` ${rest} ${b}` : '');
}

const texts = new WeakMap();

// <time> with a text that follows the mode and the clock: that of a function of milliseconds, or the stamp.
export function timeNode(at, text = {}) {
  const node = document.createElement('time');
  const ms = typeof at === 'string' ? Date.parse(at) : at;
  node.dateTime = new Date(ms).toISOString();
  texts.set(node, () => {
    const shown = typeof text === 'function' ? text(ms) : stamp(ms, text);
    const exact = stamp(ms, {seconds: true});
    if (node.textContent !== shown) node.textContent = shown;
    if (node.title !== exact) node.title = exact;
  });
  texts.get(node)();
  return node;
}

// Writes all times in the document again.
export function refresh(root = document) {
  for (const node of root.getElementsByTagName('time')) texts.get(node)?.();
}
