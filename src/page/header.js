// The header, the banner and the footer: which daemon this is, how fresh the data is, what the judge says.

import {now} from './api.js';
import {choice, counted, fact, h, mark, number, plain, replace, setText, shown} from './dom.js';
import {showHelp} from './keys.js';
import {live} from './live.js';
import {
  dayAndClock, mode, offsetText, onMode, recall, remember, setMode, stamp, timeNode, zoneOffsetAt,
} from './time.js';

const banner = document.getElementById('banner');
const footer = document.getElementById('footer');

const themes = {auto: '◐', light: '☀\ufe0e', dark: '☾'};
const themeButton = h('button', {class: 'quiet', onclick: () => {
  const names = Object.keys(themes);
  setTheme(names[(names.indexOf(document.documentElement.dataset.theme ?? 'auto') + 1) % 3]);
}});

function setTheme(theme) {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  setText(themeButton, themes[theme]);
  themeButton.ariaLabel = themeButton.title = `Theme: ${theme}`;
  remember('dutiful.theme', theme);
}

setTheme(themes[recall('dutiful.theme')] ? recall('dutiful.theme') : 'auto');

const sign = h('span', {class: 'sign', role: 'status'});
const place = h('span', {class: 'place'});
const judge = h('button', {class: 'quiet judge', hidden: true, onclick: () => verdict.focus()});
const times = choice('Times', [['local', 'Local'], ['utc', 'UTC']], setMode);
const help = h('button', {class: 'quiet help', 'aria-label': 'Keyboard help', onclick: showHelp}, '?');
replace(document.getElementById('tools'), sign, judge, place, times.node, h('span', null, themeButton, help));

// Marks the page of the address in the navigation.
export function showPage() {
  for (const link of document.querySelectorAll('.pages-nav a')) {
    if (link.pathname === location.pathname) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

function bannerText() {
  const asOf = live.asOf === null ? '' : ` Data as of ${stamp(live.asOf, {seconds: true, date: false})}.`;
  if (live.stopped) return `The daemon has stopped.${asOf}`;
  if (live.status === 'lost') return `Connection lost.${asOf} The page tries again until the daemon answers.`;
  if (live.status === 'stopping') return 'The daemon is stopping: no run starts from now on.';
  const since = live.state?.storeFailingSince;
  return since ? `No run starts: the state cannot be written since ${dayAndClock(Date.parse(since))}.` : '';
}

const words = {connecting: 'Connecting', live: 'Live', lost: 'Offline', stopping: 'Stopping'};

export function showStatus() {
  sign.dataset.status = banner.dataset.status = live.status;
  setText(sign, words[live.status]);
  const text = bannerText();
  setText(banner, text);
  banner.hidden = !text;
  times.press(mode());
  if (live.daemon) showDaemon(live.daemon);
}

const verdict = fact('Judge');
verdict.tabIndex = -1;
const drawn = {};

// The footer is written again only if something in it has changed, so that it can be read and selected.
function isNew(name, value) {
  const text = JSON.stringify(value);
  const differs = drawn[name] !== text;
  drawn[name] = text;
  return differs;
}

function showDaemon(daemon) {
  const zone = mode() === 'utc' ? 'UTC' : `${daemon.zone} ${offsetText(zoneOffsetAt(now()))}`;
  setText(place, `${plain(daemon.host)} · ${zone}`);
  if (isNew('daemon', [daemon.version, daemon.file, daemon.startedAt])) {
    replace(footer, h('dl', null,
      fact('Daemon', `dutiful ${daemon.version} since `, timeNode(daemon.startedAt)),
      fact('Task file', shown(daemon.file)), fact('State', shown(daemon.state)), verdict));
  }
  judge.hidden = verdict.hidden = !daemon.judge;
  if (!daemon.judge || !isNew('judge', daemon.judge)) return;
  const {conforms, events, firstViolation: first} = daemon.judge;
  replace(judge, conforms ? mark('succeeded', `Trace conforms · ${counted(events, 'event')}`) :
    mark('failed', first ? `Violates ${first.axiom} at line ${number(first.line)}` : 'Trace does not conform'));
  replace(verdict.lastChild, judgeText(daemon.judge));
}

function judgeText({trace, events, conforms, violations, firstViolation: first}) {
  const all = counted(events, 'event');
  if (conforms) return [`${all} of the trace `, shown(trace), ' conform to the theory so far.'];
  return [`${counted(violations, 'violation')} in ${all} of the trace `, shown(trace), first && [
    `. The first: ${first.axiom} at line ${number(first.line)}, `,
    timeNode(first.violatedAt, {seconds: true}), `, by the ${first.blame}: `, shown(first.error)]];
}

onMode(showStatus);
