// Requests to the daemon, and the clock of the daemon.

export class RequestError extends Error {
  // 0: there was no answer at all.
  constructor(status, message) {
    super(message);
    this.name = 'RequestError';
    this.status = status;
  }
}

let ahead = 0;

// The clock of the daemon, in epoch milliseconds: that of the browser may be wrong.
export const now = () => Date.now() + ahead;

// The JSON at `path`, which begins with /api/v1.
export async function get(path, {signal} = {}) {
  let answer;
  let body = null;
  let arrived;
  try {
    answer = await fetch(path, signal ? {signal} : undefined);
    arrived = Date.now();  // a large body takes longer
    body = await answer.json();
  } catch (error) {
    const late = signal?.reason?.name === 'TimeoutError';
    if (signal?.aborted && !late) throw error;
    if (!answer || late) throw new RequestError(0, 'The daemon does not answer.');
  }
  if (!answer.ok || body === null) {
    throw new RequestError(answer.status, body?.error ?? `The server answers with status ${answer.status}.`);
  }
  if (body.at) ahead = Date.parse(body.at) - arrived;
  return body;
}

const withQuery = (path, query) => {
  const given = Object.entries(query ?? {}).filter(([, value]) => (value ?? '') !== '');
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
};

export const daemonUrl = '/api/v1/daemon';
export const eventsUrl = '/api/v1/events';
export const tasksUrl = (since) => withQuery('/api/v1/tasks', {since});
export const taskUrl = (name) => `/api/v1/tasks/${encodeURIComponent(name)}`;
export const runsUrl = (query) => withQuery('/api/v1/runs', query);
export const runUrl = (id) => `/api/v1/runs/${id}`;
export const accountUrl = (query) => withQuery('/api/v1/account', query);
export const timelineUrl = (query) => withQuery('/api/v1/timeline', query);
