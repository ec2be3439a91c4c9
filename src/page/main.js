// Chooses the view for the address.

import {h, plain, replace, shown} from './dom.js';
import {showPage, showStatus} from './header.js';
import {listen} from './keys.js';
import {live} from './live.js';
import {refresh} from './time.js';

const main = document.getElementById('main');
const routes = [
  [/^\/$/, () => import('./overview.js')],
  [/^\/timeline$/, () => import('./timeline.js')],
  [/^\/runs$/, () => import('./runs.js')],
  [/^\/tasks\/([^/]+)$/, () => import('./task.js')],
];

let view = null;
let routed = '';
let leave = new AbortController();

async function route({scroll = 0, first = false} = {}) {
  leave.abort();
  leave = new AbortController();
  const {signal} = leave;
  view = null;
  routed = location.pathname;
  main.setAttribute('aria-busy', 'true');
  showPage();
  const opened = await open(signal).catch((error) => !signal.aborted && showFailure(error));
  if (signal.aborted) return;
  view = opened;
  main.removeAttribute('aria-busy');
  document.title = `${plain(view.title)} · dutiful`;
  if (first) return;
  const heading = main.querySelector('h1');
  heading?.setAttribute('tabindex', '-1');
  heading?.focus({preventScroll: true});
  scrollTo(0, scroll);
}

async function open(signal) {
  for (const [pattern, load] of routes) {
    const match = pattern.exec(location.pathname);
    if (!match) continue;
    const params = match.slice(1).map(decodeURIComponent);
    const [{show}] = await Promise.all([load(), live.daemon ?? zoneKnown]);
    if (signal.aborted) return null;
    return show(main, {params, query: new URLSearchParams(location.search), signal, setQuery, navigate});
  }
  throw Object.assign(new Error('There is no such page.'), {status: 404});
}

function showFailure(error) {
  const found = error.status !== 404;
  const title = found ? 'This page cannot be shown' : 'Not found';
  replace(main, h('div', {class: 'empty'}, h('h1', null, title), h('p', null, shown(error.message)),
    h('a', {href: '/'}, 'To the overview')));
  return {title, failed: found};
}

function navigate(path) {
  history.replaceState({scroll: scrollY}, '');
  history.pushState(null, '', path);
  route();
}

// Replaces the query of the address; members that are empty are left out.
function setQuery(query) {
  const text = new URLSearchParams(Object.entries(query).filter(([, value]) => value)).toString();
  history.replaceState(history.state, '', location.pathname + (text && '?' + text));
}

history.scrollRestoration = 'manual';
addEventListener('popstate', ({state}) => {
  // A link to a place on the same page is no new view.
  if (location.pathname !== routed || !location.hash) route({scroll: state?.scroll ?? 0});
});

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[href]');
  const modified = event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (!link || modified || event.defaultPrevented || link.origin !== location.origin || link.hash) return;
  if (!routes.some(([pattern]) => pattern.test(link.pathname))) return;
  event.preventDefault();
  navigate(link.pathname + link.search);
});

live.on('change', (names) => {
  refresh();
  view?.update?.(names);
});
live.on('status', (status) => {
  showStatus();
  if (view?.failed && status === 'live') route({first: true});
});
// "in 12 min" gets old.
setInterval(() => { if (!document.hidden) refresh(); }, 5000);

listen(main, navigate);
const zoneKnown = live.start();
zoneKnown.catch(() => { /* The status shows it. */ });
showStatus();
route({first: true});
