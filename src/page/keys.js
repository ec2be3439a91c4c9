// The keyboard.

import {h} from './dom.js';
import {mode, recall, remember, setMode} from './time.js';

const pages = {o: '/', t: '/timeline', r: '/runs'};
const keys = [
  ['Search', '/'], ['Next row', 'j'], ['Previous row', 'k'], ['Open the row', 'Enter'],
  ['Overview', 'g', 'o'], ['Timeline', 'g', 't'], ['Runs', 'g', 'r'],
  ['Timeline: zoom', '+', '−'], ['Timeline: earlier, later, or the runs of a task', '←', '→'],
  ['Timeline: now', '0'], ['Local time or UTC', 'u'], ['This help', '?'],
];

// People who dictate, or who press keys by accident, can do without letters that act at once.
const stored = 'dutiful.keys';
let off = recall(stored) === 'off';
export const keysAreOff = () => off;

function turn({target: {checked}}) {
  off = !checked;
  remember(stored, off ? 'off' : 'on');
}

export function showHelp() {
  const close = () => dialog.close();
  const dialog = h('dialog', {'aria-labelledby': 'help', onclose: () => dialog.remove()},
    h('h2', {id: 'help'}, 'Keyboard'),
    h('dl', null, keys.map(([text, ...strokes]) =>
      h('div', null, h('dt', null, text), h('dd', null, strokes.map((key) => h('kbd', null, key)))))),
    h('label', null, h('input', {type: 'checkbox', checked: !off, onchange: turn}), ' Use these keys'),
    h('button', {onclick: close}, 'Close'));
  document.body.append(dialog);
  dialog.showModal();
}

// Moves the focus to the first link or button of the next row that can be seen and has one.
function step(main, by) {
  const here = document.activeElement;
  const row = here.closest('[data-row]');
  const targets = [...main.querySelectorAll('[data-row]')].filter((each) => each !== row)
    .map((each) => each.querySelector('a, button')).filter((target) => target?.checkVisibility());
  const follows = (target) => here.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_FOLLOWING;
  const next = by > 0 ? targets.find(follows) : targets.findLast((target) => !follows(target));
  (next ?? (!row && by < 0 && targets.at(-1)))?.focus?.();
}

export function listen(main, navigate) {
  let before = '';
  document.addEventListener('keydown', (event) => {
    const {key, target} = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (document.querySelector('dialog[open]')) return;
    if (target.closest?.('input')) {
      if (key === 'Escape') target.blur();
      return;
    }
    if (off) return;
    const page = before === 'g' && pages[key];
    before = key;
    if (page) navigate(page);
    else if (key === '/') main.querySelector('input[type=search]')?.focus();
    else if (key === '?') showHelp();
    else if (key === 'u') setMode(mode() === 'utc' ? 'local' : 'utc');
    else if (key === 'j') step(main, 1);
    else if (key === 'k') step(main, -1);
    else return;
    event.preventDefault();
  });
}
