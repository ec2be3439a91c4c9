// The arithmetic of the timeline: ranges, pixels, ticks of civil time, and changes of the clocks.

import {offsetText} from './time.js';

const minute = 60_000;
export const day = 1440 * minute;

export const clip = (value, low, high) => Math.min(Math.max(value, low), high);

export const usualRange = (now) => ({from: now - day, until: now + day});

// A range of at least 15 minutes, within seven days of now. One that is too short grows around its middle.
export function clamped({from, until}, now) {
  const span = clip(until - from, 15 * minute, 14 * day);
  const start = Math.round(clip((from + until - span) / 2, now - 7 * day, now + 7 * day - span));
  return {from: start, until: Math.round(start + span)};
}

// `anchor` keeps its place on the screen.
export const zoomed = ({from, until}, factor, anchor) =>
  ({from: anchor - (anchor - from) * factor, until: anchor + (until - anchor) * factor});

// The range of ?from=INSTANT&until=INSTANT, or null.
export function rangeOf(query, now) {
  const [from, until] = ['from', 'until'].map((name) => Date.parse(query.get(name)));
  return until > from ? clamped({from, until}, now) : null;
}

export function scaleOf({from, until}, width) {
  const perPixel = (until - from) / width;
  return {from, until, width, perPixel, x: (ms) => (ms - from) / perPixel, ms: (x) => from + x * perPixel};
}

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080].map((n) => n * minute);

// The shortest round step that leaves `room` pixels for a label.
export const stepOf = (perPixel, room) => steps.find((step) => step >= perPixel * room) ?? steps.at(-1);

// The instants at which civil time is a multiple of `step`. Each stretch between two changes of the clocks
// has one offset and is walked alone: an hour that comes twice has its ticks twice, a missing hour has none.
export function ticks(from, until, step, changes, offset) {
  const found = [];
  for (const change of [...changes, {at: until}]) {
    // Weeks begin on Mondays, but the epoch was a Thursday.
    const shift = offset * 1000 - (step % (7 * day) ? 0 : 4 * day);
    const end = Math.min(change.at, until);
    for (let at = Math.ceil((from + shift) / step) * step - shift; at < end; at += step) {
      found.push({at, midnight: (at + offset * 1000) % day === 0});
    }
    from = Math.max(change.at, from);
    offset = change.after;
  }
  return found;
}

// What a change of the clocks does to civil time. No time passes in a gap; a repeat covers both passes.
export function markOf({at, before, after}) {
  const gap = after > before;
  const length = gap ? 0 : (before - after) * 1000;
  const [first, last] = [before, after].sort((a, b) => a - b)
    .map((offset) => new Date(at + offset * 1000).toISOString().slice(11, 16));
  return {kind: gap ? 'gap' : 'repeat', at, from: at - length, until: at + length,
    label: `${first}–${last} ${gap ? 'does not exist' : 'twice'}`,
    offsets: `${offsetText(before)}, then ${offsetText(after)}`};
}
