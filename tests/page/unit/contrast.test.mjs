import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import {test} from 'node:test';

const css = await readFile(new URL('../../../src/page/page.css', import.meta.url), 'utf8');
const colours = Object.fromEntries([...css.matchAll(/--([\w-]+): light-dark\((#\w+), (#\w+)\)/g)].map(([, name, ...pair]) => [name, pair]));

// The ratio of WCAG 2.
function luminance(colour) {
  const digits = colour.length === 4 ? [...colour.slice(1)].map((digit) => digit + digit) : colour.slice(1).match(/../g);
  const [red, green, blue] = digits.map((each) => parseInt(each, 16) / 255)
    .map((share) => (share <= .04045 ? share / 12.92 : ((share + .055) / 1.055) ** 2.4));
  return .2126 * red + .7152 * green + .0722 * blue;
}

function ratio(a, b) {
  const [low, high] = [a, b].map(luminance).sort((x, y) => x - y);
  return (high + .05) / (low + .05);
}

const backgrounds = ['bg', 'surface', 'raised', 'hover'];
const least = {
  text: 4.5, muted: 4.5, accent: 4.5, bad: 4.5, warn: 4.5, busy: 4.5, good: 4.5,  // words
  'good-bar': 3, 'line-strong': 3,  // bars, ticks, stripes, and the borders of fields
};

for (const [i, theme] of ['light', 'dark'].entries()) {
  test(`words, bars and borders stand out, ${theme}`, () => {
    for (const [name, limit] of Object.entries(least)) {
      for (const background of backgrounds) {
        const found = ratio(colours[name][i], colours[background][i]);
        assert.ok(found >= limit, `${name} on ${background}: ${found.toFixed(2)}`);
      }
    }
  });
}
