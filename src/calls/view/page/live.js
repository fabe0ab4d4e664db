/* SPDX-License-Identifier: GPL-2.0-or-later */
// A recording that is being written: the table of what runs, new each second, until it has ended.
import { element, timeText, countText, percentText, baseName, shownName } from './base.js';
import { source } from './source.js';
import { Table } from './tables.js';

const LIVE_PERIOD = 1000;

export const live = { by: 'functions', match: '', paused: false, got: null };

const callsPerSecond = n => (live.got && live.got.ms ? Math.round(n * 1000 / live.got.ms) : 0);

// Names of columns are those of `guesttrace top`.
const liveNumbers = [
  { title: 'Self %', key: 'self_ns', number: true, width: '76px', text: r => percentText(r.self_ns, live.got.self_ns), help: 'Of the time that ran since the last look' },
  { title: 'Self', key: 'self', number: row => row.self_ns, text: r => timeText(r.self_ns), help: 'Since the last look, without what it called' },
  { title: 'Total', key: 'total_ns', number: true, text: r => timeText(r.total_ns), help: 'Since the last look, with what it called' },
  { title: 'Calls/s', key: 'calls', number: true, text: r => countText(callsPerSecond(r.calls)), help: 'Since the last look, a second of this machine' },
  { title: 'All %', key: 'share', number: row => row.all_self_ns, width: '76px', text: r => percentText(r.all_self_ns, live.got.all_self_ns), help: 'Of all the time that ran' },
  { title: 'All self', key: 'all_self_ns', number: true, text: r => timeText(r.all_self_ns), part: (r, whole) => r.all_self_ns / whole.self, help: 'Without what it called' },
  { title: 'All total', key: 'all_total_ns', number: true, text: r => timeText(r.all_total_ns), help: 'With what it called' },
  { title: 'All calls', key: 'all_calls', number: true, width: '100px', text: r => countText(r.all_calls) },
];
// How `live` sorts, by column.
const LIVE_SORTS = { self_ns: 'self', self: 'self', total_ns: 'total', calls: 'calls', share: 'all-self', all_self_ns: 'all-self', all_total_ns: 'all-total', all_calls: 'all-calls', name: 'name', module: 'name' };
const LIVE_ORDER = ['all_self_ns', 'all_total_ns', 'all_calls', 'self_ns', 'total_ns', 'calls', 'name'];
const withoutTotals = liveNumbers.filter(c => c.key !== 'total_ns' && c.key !== 'all_total_ns'); // a task's are its self times

const LIVE_KEYS = [['1, 2', 'functions, tasks'], ['/', 'only names with this part, or that fit a glob'], ['Space', 'pause, go on'], ['< >', 'sort by the column before, or after'],
  ['↑ ↓, Page Up and Down, Home, End', 'rows'], ['Escape', 'all names'], ['T', 'dark or light'], ['?', 'this page']];

const LIVE_STATES = { recording: 'Recording', interrupted: 'The recording was cut', ended: 'Ended', removed: 'The recording was removed', failed: 'The recording cannot be read' };

let livePage;

const shownTable = () => livePage.tables[live.by];

async function askLive() {
  const { key } = shownTable().sort;
  live.got = await source.get('live', { by: live.by, sort: LIVE_SORTS[key], ...(live.match ? { match: live.match } : {}) });
}

function rowsOfAnswer(got) {
  return got.rows.map(row => ({ ...row, share: row.all_self_ns, self: row.self_ns,
    name: row.function === undefined ? `${shownName(row.task) || 'task'} ${row.tid}` : shownName(row.function), module: row.module ? shownName(baseName(row.module)) : '' }));
}

function showLiveFacts(got) {
  const rows = [['Records', countText(got.records)], ['Size', `${countText(got.bytes)} bytes`], ['Calls', countText(got.all_calls)], ['Time that ran', timeText(got.all_self_ns)],
    ['Tasks', countText(got.tasks)], ['vCPUs', got.vcpus && countText(got.vcpus)], ['Lost', got.lost ? `records, ${got.lost === 1 ? 'once' : `${countText(got.lost)} times`}` : 'no records'],
    ['Anomalies', got.anomalies === undefined ? 'known at the end' : countText(got.anomalies)]];
  livePage.facts.replaceChildren(...rows.filter(([, value]) => value).flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));
}

// What is read out when it changes: so it has no liveNumbers.
function showLiveStatus(text, isBad) {
  if (livePage.status.textContent !== text) livePage.status.textContent = text;
  livePage.status.classList.toggle('failed', isBad);
}

function showLiveAnswer() {
  const { got } = live;
  const more = got.fit > got.rows.length ? ` The first ${countText(got.rows.length)} of ${countText(got.fit)} rows.` : '';
  const since = got.since === 'begin' ? '' : ' Sums are of the time since guesttrace view was started.';
  shownTable().set(rowsOfAnswer(got), got.all_calls ? 'No name fits.' : 'There are no calls yet.', { self: Math.max(1, got.all_self_ns) });
  showLiveFacts(got);
  livePage.note.textContent = `${since}${more}`.trim();
  showLiveStatus(got.note ? `${LIVE_STATES[got.state]}: ${got.note}` : live.paused ? 'Paused' : LIVE_STATES[got.state], Boolean(got.note));
  for (const [name, button] of Object.entries(livePage.tabs)) button.setAttribute('aria-selected', String(name === live.by));
  for (const [name, t] of Object.entries(livePage.tables)) t.box.hidden = name !== live.by;
  livePage.pause.dataset.on = String(live.paused);
  livePage.pause.setAttribute('aria-pressed', String(live.paused));
}

// Shows an answer now: after a key or a click. Also while it is paused.
async function refreshLive() {
  try {
    await askLive();
    showLiveAnswer();
  } catch (error) {
    showLiveStatus(error.message, true);
  }
}

function chooseLive(changes) {
  Object.assign(live, changes);
  return refreshLive();
}

function sortNext(by) {
  const at = LIVE_ORDER.indexOf(shownTable().sort.key);
  const key = LIVE_ORDER[(at + by + LIVE_ORDER.length) % LIVE_ORDER.length];
  shownTable().sort = { key, down: key !== 'name' };
  refreshLive();
}

const liveKeys = theme => ({
  1: () => chooseLive({ by: 'functions' }), 2: () => chooseLive({ by: 'tasks' }), '/': () => livePage.filter.focus(), ' ': () => chooseLive({ paused: !live.paused }),
  '<': () => sortNext(-1), '>': () => sortNext(1), t: theme, '?': () => livePage.help.showModal(),
  Escape: () => { livePage.filter.value = ''; chooseLive({ match: '' }); },
});

function onLiveKey(event, keys) {
  const isTyping = event.target instanceof HTMLInputElement && event.key !== 'Escape';
  if (livePage.help.open || event.altKey || event.metaKey || event.ctrlKey || isTyping) return;
  if (event.target instanceof HTMLButtonElement && (event.key === 'Enter' || event.key === ' ')) return;
  const action = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action) return;
  action();
  if (event.key === 'Escape') shownTable().scroller.focus();
  event.preventDefault();
}

function liveTable(label, name) {
  const options = { label, sort: 'all_self_ns', resort: refreshLive };
  return new Table([...(label === 'Tasks' ? withoutTotals : liveNumbers), ...name], options);
}

function buildLive(info, toggleTheme) {
  const help = element('dialog', { class: 'help', 'aria-label': 'Keys' }, element('button', { class: 'close', onclick: () => help.close() }, 'Close'), element('h2', {}, 'Keys'),
    element('dl', {}, ...LIVE_KEYS.flatMap(([key, what]) => [element('dt', {}, key), element('dd', {}, what)])));
  const tab = (name, text) => element('button', { role: 'tab', onclick: () => chooseLive({ by: name }) }, text);
  livePage = {
    help, tabs: { functions: tab('functions', 'Functions'), tasks: tab('tasks', 'Tasks') },
    tables: { functions: liveTable('Functions', [{ title: 'Function', key: 'name', width: 'minmax(170px, 2fr)' }, { title: 'Module', key: 'module', width: 'minmax(70px, 1fr)' }]),
      tasks: liveTable('Tasks', [{ title: 'Task', key: 'name', width: 'minmax(170px, 2fr)' }]) },
    filter: element('input', { type: 'search', placeholder: 'Names  ( / )', 'aria-label': 'Only names', spellcheck: 'false', autocomplete: 'off', oninput: () => chooseLive({ match: livePage.filter.value.trim() }) }),
    pause: element('button', { class: 'choice', title: 'Keep this table, or go on (Space)', onclick: () => chooseLive({ paused: !live.paused }) }, 'Pause'),
    facts: element('dl', { 'aria-label': 'The recording' }), status: element('div', { role: 'status', class: 'big' }), note: element('div', { class: 'dim' }),
  };
  document.title = `${info.title} – guesttrace`;
  document.body.replaceChildren(
    element('header', {}, element('h1', { title: info.path }, info.title), element('div', { class: 'tabs', role: 'tablist' }, ...Object.values(livePage.tabs)), element('span', { class: 'grow' }), livePage.pause, livePage.filter,
      element('button', { class: 'icon', title: 'Dark or light (T)', 'aria-label': 'Dark or light', onclick: toggleTheme }, '◐'),
      element('button', { class: 'icon', title: 'Keys (?)', 'aria-label': 'Keys', onclick: () => help.showModal() }, '?')),
    element('main', {}, element('div', { class: 'split' }, livePage.tables.functions.box, livePage.tables.tasks.box, element('div', { class: 'side' }, livePage.status, livePage.facts, livePage.note))), help);
}

const aSecond = () => new Promise(done => { setTimeout(done, LIVE_PERIOD); });

// Until the recording has ended, and its page can be built.
export async function showLive(info, toggleTheme) {
  const keys = new AbortController();
  buildLive(info, toggleTheme);
  const actions = liveKeys(toggleTheme);
  document.addEventListener('keydown', event => onLiveKey(event, actions), { signal: keys.signal });
  livePage.tables.tasks.box.hidden = true;
  livePage.tables.functions.scroller.focus({ preventScroll: true });
  for (;;) {
    if (!live.paused) await refreshLive();
    else if (await liveHasEnded()) live.paused = false;
    if (live.got && live.got.ready) break;
    await aSecond();
  }
  keys.abort();
}

// While it is paused the table stays, but the recording may end.
async function liveHasEnded() {
  try {
    return Boolean((await source.get('live', { limit: 1 })).ready);
  } catch {
    return false;
  }
}
