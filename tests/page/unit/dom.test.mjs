import assert from 'node:assert/strict';
import {test} from 'node:test';

import {counted, escapedParts, plain, taskPath, withoutCodes} from '../../../src/page/dom.js';

test('hidden characters become visible', () => {
  assert.equal(plain('bidi \u202egnp.exe'), 'bidi \\u202egnp.exe');
  assert.equal(plain('a\nb\tc\u0000\u007f\u0085\u2028\u200b\ufeff\u2066'), 'a\\u000ab\\u0009c\\u0000\\u007f\\u0085\\u2028\\u200b\\ufeff\\u2066');
  // A soft hyphen, a blank letter and a tag would make two names look like one.
  assert.equal(plain('a\u00adb\u034f\u115f\u3164\uffa0'), 'a\\u00adb\\u034f\\u115f\\u3164\\uffa0');
  assert.equal(plain('a\u{e0041}'), 'a\\U000e0041');
  assert.deepEqual(escapedParts('\u202ea\u202c'), ['', '\\u202e', 'a', '\\u202c', '']);
});

test('other text stays as it is', () => {
  for (const text of ['<script>alert(1)</script>', 'é ß 漢字', '👩\u200d💻', '❤\ufe0f', '한글', 'न\u200cप', "a 'b' \\ /", '']) {
    assert.equal(plain(text), text);
    assert.deepEqual(escapedParts(text), [text]);
  }
});

test('every name but . and .. has a path', () => {
  assert.equal(taskPath('a/b c?#%'), '/tasks/a%2Fb%20c%3F%23%25');
  assert.equal(taskPath('...'), '/tasks/...');
  assert.equal(taskPath('.'), null);
  assert.equal(taskPath('..'), null);
});

test('codes for a terminal are removed from the output', () => {
  for (const [output, text] of [
    ['\u001b[1;31mred\u001b[0m', 'red'],
    ['\u001b[2K\u001b[1Gline', 'line'],
    ['\u001b[38:2::1:2:3mcolour', 'colour'],
    ['\u009b31mred', 'red'],
    ['\u001b]0;title\u0007text', 'text'],
    ['\u001b]8;;http://example.com\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['\u009d0;title\u009ctext', 'text'],
    ['\u001bPq…\u001b\\text', 'text'],
    ['\u001b(B\u001b=\u001bMtext', 'text'],
    ['10 %\r20 %\r\ndone\r\n', '10 %\n20 %\ndone\n'],
    ['no [31m code', 'no [31m code'],
  ]) assert.equal(withoutCodes(output), text, JSON.stringify(output));
});

// If each character were looked at once for every one before it, this would take minutes.
test('a text of introducers without an end stays as it is', () => {
  for (const text of ['\u009d', '\u0090', '\u0098x', '\u009f\u009e', '\u009b0']) {
    const long = text.repeat(2 ** 20 / text.length);
    assert.ok(withoutCodes(long) === long);
  }
  assert.equal(withoutCodes('\u009d0;a\u009d0;title\u009ctext'), '\u009d0;atext');
});

test('adjacent hidden characters are one part', () => {
  assert.deepEqual(escapedParts('a\u0000\u202e\u0000b\u0007'), ['a', '\\u0000\\u202e\\u0000', 'b', '\\u0007', '']);
  assert.equal(escapedParts('\u0000'.repeat(2 ** 18)).length, 3);
});

test('an escape character that begins no code is visible', () => {
  assert.equal(plain(withoutCodes('text\u001b')), 'text\\u001b');
  assert.equal(plain(withoutCodes('text\u001b[')), 'text');
});

test('nouns follow their number', () => {
  assert.equal(counted(1, 'task'), '1 task');
  assert.equal(counted(0, 'task'), '0 tasks');
  assert.equal(counted(10000, 'task'), '10,000 tasks');
});
