import assert from 'node:assert/strict';
import {test} from 'node:test';

import {get, now} from '../../../src/page/api.js';

const at = '2026-11-16T12:00:00.000Z';

// An answer whose body takes `ms` to arrive, on a clock that the test sets.
const answerAfter = (t, ms, body) => {
  let clock = 1000;
  t.mock.method(Date, 'now', () => clock);
  t.mock.method(globalThis, 'fetch', async () => ({ok: true, status: 200, json: async () => {
    clock += ms;
    return body();
  }}));
};

test('the clock of the daemon is that of the answer, however long its body takes', async (t) => {
  answerAfter(t, 5000, () => ({at}));

  await get('/api/v1/tasks');

  assert.equal(now(), Date.parse(at) + 5000);
});

test('a time limit is told from a page that is left', async (t) => {
  const failing = (signal) => {
    answerAfter(t, 0, () => { throw signal.reason; });
    return get('/api/v1/tasks', {signal});
  };

  await assert.rejects(failing(AbortSignal.abort(new DOMException('late', 'TimeoutError'))),
    {name: 'RequestError', status: 0, message: 'The daemon does not answer.'});
  t.mock.reset();
  await assert.rejects(failing(AbortSignal.abort()), {name: 'AbortError'});
});
