/* SPDX-License-Identifier: GPL-2.0-or-later */
// The calls that the search finds: a list of them, how long they took, their marks on the overview.
import { element, timeText, countText, exactTime, shownName, rowsOf } from './base.js';
import { functionOf, source, recording, taskTitle } from './source.js';
import { state, setState, onState } from './state.js';
import { redraw, view } from './plot.js';
import { searched, wantedFunctions, wantedParameters, wantsTooMuch, searchError } from './search.js';
import { showCall } from './timeline.js';
import { Table, goTo } from './tables.js';

// The answer for `key`, and the rows that were made of it.
const hits = { key: '', got: null, error: '', rows: [], busy: false };
let foundPanel, foundTable, foundBars, foundTitle, othersButton, anyButton;
let listedFor = null; // the search that was listed last

// ---- what was found ------------------------------------------------------------------------

const isListed = () => state.list && state.search.trim() !== '';

// Loads the calls, where they are listed or were gone to.
export async function loadHits() {
  const p = wantedParameters();
  const parameters = p && { ...p, sort: foundTable.sort.key, down: Number(foundTable.sort.down) };
  const key = parameters ? JSON.stringify(parameters) : '';
  if (key === hits.key) return;
  Object.assign(hits, { key, got: null, error: '', rows: [], busy: Boolean(key) });
  if (key) {
    try {
      const got = await source.get('hits', parameters);
      if (key !== hits.key) return;
      hits.got = got;
      hits.rows = rowsOf(got.rows, 6).map(makeRow);
    } catch (error) {
      if (key !== hits.key) return;
      hits.error = error.message;
    }
    hits.busy = false;
  }
  view.found = hits.got ? hits.got.marks : null;
  showHits();
  redraw();
}

function makeRow([begin, duration, depth, task, index, flags]) {
  return { time: begin, duration, depth, task: taskTitle(task), function: functionOf(index).name, name: functionOf(index).name, arguments: '',
    call: { task, depth, begin, duration, function: index, flags } };
}

function messageOf() {
  if (wantsTooMuch()) return `${countText(wantedFunctions().size)} functions match: say more of the name.`;
  if (hits.busy) return 'Reading the calls…';
  const wanted = wantedFunctions();
  return searchError() || hits.error || (wanted && !wanted.size ? 'No function that was called matches.' : 'There are no such calls here.');
}

function titleText() {
  const wanted = wantedFunctions();
  if (!hits.got || !wanted) return messageOf();
  const [only] = wanted.size === 1 ? wanted : [-1];
  const calls = `${countText(hits.got.calls)} ${hits.got.calls === 1 ? 'call' : 'calls'}`;
  const of = only >= 0 ? functionOf(only).name : `${countText(wanted.size)} functions`;
  const cut = hits.got.calls > hits.rows.length ? `, the first ${countText(hits.rows.length)} in this order are listed` : '';
  return `${calls} of ${of}${cut}`;
}

function showOthers() {
  const found = searched();
  const more = found && found.exact.size ? found.all.size - found.exact.size : 0;
  othersButton.hidden = !more;
  othersButton.textContent = state.others ? 'Only this name' : `${countText(more)} more with it in their names`;
  othersButton.dataset.on = String(state.others);
}

function showHits() {
  if (foundPanel.hidden) return;
  foundTitle.textContent = titleText();
  foundTitle.title = foundTitle.textContent;
  showOthers();
  anyButton.hidden = !state.durations;
  if (state.durations) anyButton.textContent = `${durationText(...state.durations)} ×`;
  foundTable.hasArguments = hits.rows.some(row => row.arguments);
  foundTable.set(hits.rows, messageOf());
  showBars();
}

// ---- arguments -----------------------------------------------------------------------------

const textOf = list => rowsOf(list, 2).map(([name, value]) => `${shownName(name)}=${shownName(value)}`).join(', ');

// Of the rows in sight, one after the other.
async function loadArguments(rows) {
  if (!source.isRemote || foundTable.loads) return;
  foundTable.loads = true;
  let some = false;
  for (const row of rows.filter(r => !r.asked)) {
    row.asked = true;
    const { task, depth, begin, duration } = row.call;
    try {
      const got = await source.get('values', { task, depth, begin, duration, function: row.call.function });
      const returned = rowsOf(got.returned, 2).map(([, value]) => ` → ${shownName(value)}`).join('');
      row.arguments = `${textOf(got.arguments)}${returned}`.slice(0, 300);
    } catch { /* the row has none */ }
    some = some || row.arguments;
  }
  foundTable.loads = false;
  if (!some) return;
  foundTable.hasArguments = true;
  foundTable.redraw();
}

// ---- durations -----------------------------------------------------------------------------

const durationText = (least, most) => `${timeText(least)} to ${timeText(most)}`;

// A bar for each part of an octave; one that is chosen lists only its calls.
function showBars() {
  const parts = hits.got ? rowsOf(hits.got.durations, 3) : [];
  const most = Math.max(1, ...parts.map(part => part[2]));
  foundBars.replaceChildren(...parts.map(([least, last, n]) => {
    const on = Boolean(state.durations) && state.durations[0] === least && state.durations[1] === last;
    const bar = element('button', { class: 'bin', 'aria-pressed': String(on), disabled: n === 0, 'data-calls': n,
      'aria-label': `${countText(n)} calls of ${durationText(least, last)}`, title: `${countText(n)} calls of ${durationText(least, last)}`,
      onclick: () => setState({ durations: on ? null : [least, last] }) });
    bar.style.setProperty('--size', `${n ? Math.max(4, 100 * Math.log1p(n) / Math.log1p(most)) : 0}%`);
    return bar;
  }));
  const ends = parts.length ? [timeText(parts[0][0]), timeText(parts[parts.length - 1][1])] : ['', ''];
  foundPanel.querySelector('.ends').replaceChildren(...ends.map(text => element('span', {}, text)));
}

// ---- what one does with it -----------------------------------------------------------------

// The next call of all that are found, or the one before.
export function stepHit(which) {
  const p = wantedParameters();
  if (!p) return false;
  loadHits();
  goTo(-1, which, p);
  return true;
}

function chooseHit(row) {
  showCall(row.call, false);
}

function updateList(changes) {
  foundPanel.hidden = !isListed() || state.tab !== 'timeline';
  if (listedFor !== null && listedFor !== state.search) Object.assign(state, { others: false, durations: null });
  listedFor = state.search;
  if (foundPanel.hidden) {
    if (view.found && !state.search.trim()) loadHits();
    return;
  }
  loadHits();
  if (['search', 'list', 'others', 'durations', 'tab'].some(key => key in changes) || !hits.got) showHits();
}

export function makeList() {
  foundTable = new Table([{ title: 'Time', key: 'time', number: true, text: row => exactTime(row.time), width: '124px' },
    { title: 'Duration', key: 'duration', number: true, text: row => timeText(row.duration), width: '92px' },
    { title: 'Task', key: 'task', width: 'minmax(80px, 1fr)' }, { title: 'Function', key: 'function', width: 'minmax(120px, 1.5fr)' },
    { title: 'Arguments', key: 'arguments', width: 'minmax(120px, 3fr)', hidden: () => !foundTable.hasArguments, fixed: true }],
  { label: 'Calls found', sort: 'time', up: true, choose: chooseHit, open: row => showCall(row.call), seen: loadArguments,
    resort: () => (hits.got && hits.got.calls > hits.rows.length ? loadHits() : foundTable.arrange()),
    isOn: row => state.call && row.call.begin === state.call.begin && row.call.task === state.call.task && row.call.depth === state.call.depth });
  foundTitle = element('div', { class: 'name', 'aria-live': 'polite' });
  othersButton = element('button', { class: 'choice', onclick: () => setState({ others: !state.others, durations: null }) });
  anyButton = element('button', { class: 'choice', 'data-on': 'true', title: 'Calls of any duration', onclick: () => setState({ durations: null }) });
  foundBars = element('div', { class: 'bins', role: 'group', 'aria-label': 'How long the calls took' });
  foundPanel = element('section', { class: 'found', 'aria-label': 'Calls found', hidden: true },
    element('div', { class: 'column' }, foundTitle,
      element('div', { class: 'doing' }, element('button', { title: '[', onclick: () => stepHit('before') }, 'Before'),
        element('button', { title: ']', onclick: () => stepHit('next') }, 'Next'), othersButton, anyButton,
        element('button', { onclick: () => setState({ list: false }) }, 'Close')),
      foundBars, element('div', { class: 'ends dim' })),
    foundTable.box);
  onState(updateList);
  return foundPanel;
}
