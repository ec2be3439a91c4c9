// Builds nodes. All text becomes text nodes, so no name, output or error can become markup.

function build(node, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity)) if ((child ?? false) !== false) node.append(child);
  return node;
}

// Tables are cards on a phone, and then have no role of their own.
const roles = {
  table: 'table', thead: 'rowgroup', tbody: 'rowgroup', tr: 'row', td: 'cell', th: 'columnheader',
};

// h('a', {href: '/', class: 'x', onclick: f}, 'text', node, [more], null)
export function h(tag, props, ...children) {
  const node = document.createElement(tag);
  if (roles[tag]) node.setAttribute('role', roles[tag]);
  return build(node, props, children);
}
export const svg = (tag, attrs, ...children) =>
  build(document.createElementNS('http://www.w3.org/2000/svg', tag), attrs, children);

// A name and its value, in a list of them.
export const fact = (name, ...value) => h('div', null, h('dt', null, name), h('dd', null, value));

export function replace(node, ...children) {
  node.replaceChildren();
  return build(node, null, children);
}

// Writing `textContent` destroys a selection even if the text stays the same.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Characters that cannot be seen (DI: default ignorable) or reorder the text around them. Scripts and emoji need
// joiners and variation selectors.
const hiddenBut = (allowed) => new RegExp(`(?:(?![${allowed}\\u200c\\u200d\\ufe00-\\ufe0f])` +
  '[\\p{Cc}\\p{DI}\\u2028\\u2029\\ufff9-\\ufffb])+', 'gu');
const everyHidden = hiddenBut('');
const hiddenInOutput = hiddenBut('\\t\\n');

// \u202e, \U000e0041
const code = (characters) => Array.from(characters, (each) => {
  const digits = each.codePointAt().toString(16);
  return digits.length > 4 ? '\\U' + digits.padStart(8, '0') : '\\u' + digits.padStart(4, '0');
}).join('');

export const number = (n) => n.toLocaleString('en-US');
export const counted = (n, noun) => `${number(n)} ${noun}${n === 1 ? '' : 's'}`;

export const capital = (word) => word[0].toUpperCase() + word.slice(1);

// The text for a place that only takes a string, such as a title or a label.
export const plain = (text) => text.replace(everyHidden, code);

// [text, escaped, text, escaped, …, text]
export function escapedParts(text, pattern = everyHidden) {
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    parts.push(text.slice(from, match.index), code(match[0]));
    from = match.index + match[0].length;
  }
  parts.push(text.slice(from));
  return parts;
}

// Many thousands of nodes would freeze the page, so random bytes have no colour.
function withEscapes(text, pattern) {
  const parts = escapedParts(text, pattern);
  if (parts.length > 9999) return parts.join('');
  return parts.map((part, i) => (i % 2 ? h('span', {class: 'escaped'}, part) : part));
}

// The text, isolated from the direction of its neighbours, with hidden characters written as \u202e.
export const shown = (text) => h('bdi', null, withEscapes(text));

// The names `.` and `..` have no page: browsers resolve them as directories, even percent-encoded.
export const taskPath = (name) => (/^\.\.?$/.test(name) ? null : '/tasks/' + encodeURIComponent(name));

export function taskLink(name) {
  const path = taskPath(name);
  return path ? h('a', {href: path}, shown(name)) : shown(name);
}

// CSI sequences, strings such as OSC, and short sequences. A string ends before what begins another one, so
// that each character is looked at once.
const ansi = new RegExp(
  '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]' +
  '|(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\u0007\\u001b\\u0090\\u0098\\u009c-\\u009f]*' +
  '(?:\\u0007|\\u001b\\\\|\\u009c)' +
  '|\\u001b[ -/]*[0-~]', 'g');

// What a command wrote, without codes for a terminal. A lone carriage return starts a new line.
export const withoutCodes = (text) => text.replace(ansi, '').replace(/\r\n?/g, '\n');

// An error may quote the output.
export const shownError = (error) => shown(withoutCodes(error));

export const outputNodes = (text) => withEscapes(withoutCodes(text), hiddenInOutput);

// One shape for each result and state, in a box of 16 × 16.
const shapes = {
  succeeded: 'M3.5 8.5l3 3 6-7',
  failed: 'M4 4l8 8M12 4l-8 8',
  interrupted: 'M4 4h8v8H4z',
  running: 'M8 4a4 4 0 1 1 0 8a4 4 0 1 1 0-8z',
  overdue: 'M8 2.5a5.5 5.5 0 1 1 0 11a5.5 5.5 0 1 1 0-11zM8 5v3l2 1.5',
  waiting: 'M5 8h6',
};
shapes.failing = shapes.failed;

const icon = (kind) =>
  svg('svg', {class: `icon ${kind}`, viewBox: '0 0 16 16', 'aria-hidden': 'true'},
    svg('path', {d: shapes[kind]}));

const results = ['succeeded', 'failed', 'interrupted'];

// A shape and a word: <span class="mark failed" data-result="failed">✕ failed</span>
export const mark = (kind, word = kind) =>
  h('span', {class: `mark ${kind}`, 'data-result': results.includes(kind) && kind}, icon(kind), word);

// A group of buttons, one of which is pressed: options are [value, ...content].
export function choice(label, options, choose) {
  const press = (value) => {
    for (const button of buttons) button.setAttribute('aria-pressed', button.dataset.value === value);
  };
  const buttons = options.map(([value, ...content]) => h('button', {'data-value': value, onclick: () => {
    press(value);
    choose(value);
  }}, content));
  return {node: h('div', {class: 'choice', role: 'group', 'aria-label': label}, buttons), press};
}

export function searchField(label, value, search) {
  const field = h('input', {type: 'search', placeholder: label, 'aria-label': label, value,
    autocomplete: 'off', spellcheck: 'false', oninput: () => search(field.value)});
  return field;
}
