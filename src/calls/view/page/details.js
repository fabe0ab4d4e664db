/* SPDX-License-Identifier: GPL-2.0-or-later */
// The selection, below the time line: a call, with the calls that it is in; or a range, with its sums.
import { element, timeText, exactTime, countText, shownName, neverReturned, rowsOf } from './base.js';
import { functionOf, taskTitle, source } from './source.js';
import { state, setState, onState, rangeParameters, setSight } from './state.js';
import { view, spanOf } from './plot.js';
import { pathOf, flagsOf } from './hits.js';
import { onTiles, levelFor, needTiles } from './tiles.js';
import { showCall } from './timeline.js';
import { Table, goTo, times } from './tables.js';
import { colorOf } from './colors.js';

let panel, rangeTable, rangeKey = '';

const fact = (name, ...value) => [element('dt', {}, name), element('dd', {}, ...value)];

function placeOf(f) {
  if (f.file) return f.line ? `${f.file}:${f.line}` : f.file;
  return '';
}

function callButtons(call) {
  const button = (text, title, action) => element('button', { title, onclick: action }, text);
  return element('div', { class: 'doing' },
    button('Show', 'Zoom to this call (Enter)', () => showCall(call)),
    button('Sum up', 'Select its time and task (M)', () => sumUp(call)),
    button('Before', 'Call of this function before it (P)', () => goTo(call.function, 'before')),
    button('Next', 'Next call of this function (N)', () => goTo(call.function, 'next')),
    button('Callers and callees', 'In the table of functions (C)', () => setState({ tab: 'functions', function: call.function })));
}

export const sumUp = call => setState({ range: [call.begin, call.begin + call.duration], tasks: [call.task] });

// The calls that the selected one is in, as far as they are known: where the time line has them, and from a tile that
// has all calls that last as long.
const path = { key: '', calls: [], list: null };

const isWhole = () => path.calls.every(Boolean);

// Whether more of the path is known than before.
function extendPath(call) {
  const key = keyOfCall(call), known = pathOf(call);
  if (key !== path.key) Object.assign(path, { key, calls: known });
  else if (isWhole() || !known.some((c, depth) => c && !path.calls[depth])) return false;
  else path.calls = path.calls.map((c, depth) => c || known[depth]);
  return true;
}

function seekPath(call) {
  const exp = levelFor(Math.max(1, call.duration)), number = Math.floor((call.begin + call.duration / 2) / spanOf(exp));
  if (!isWhole() || call.flags === undefined) needTiles(exp, number, number, [call.task], true);
}

function pathList(call) {
  extendPath(call);
  return element('ol', { class: 'stack' }, ...[...path.calls.filter(Boolean), call].map(c => {
    const f = functionOf(c.function);
    const dot = element('span', { class: 'dot' });
    dot.dataset.function = c.function;
    dot.style.background = colorOf(c.function);
    return element('li', { class: c === call ? 'on' : '', onclick: () => setState({ call: c, function: c.function }), title: f.name.slice(0, 1000) },
      dot, element('button', { class: 'name' }, f.name), element('span', { class: 'dim' }, timeText(c.duration)));
  }));
}

function onNewTiles() {
  const { call } = state;
  if (!panel || panel.hidden || !call || !path.list || !path.list.isConnected) return;
  if (call.flags === undefined && flagsOf(call) !== undefined) {
    showSelectedCall(call);
    return;
  }
  if (extendPath(call)) showPathOf(call);
  seekPath(call);
}

function showPathOf(call) {
  const list = pathList(call);
  path.list.replaceWith(list);
  path.list = list;
  panel.lastChild.scrollTop = panel.lastChild.scrollHeight; // the call itself
}

// In the colors of another theme.
export function recolorDetails() {
  for (const dot of panel.querySelectorAll('.dot')) dot.style.background = colorOf(Number(dot.dataset.function));
}

// Of the call that was asked for last: arguments and return value, where the recording has them, and how long its
// task slept.
const values = { key: '', arguments: [], returned: [], slept: 0, error: '' };
const keyOfCall = call => [call.task, call.depth, call.begin, call.duration, call.function].join(',');

async function loadValues(call) {
  const key = keyOfCall(call), { task, depth, begin, duration } = call;
  if (key === values.key || call.function < 0) return;
  Object.assign(values, { key, arguments: [], returned: [], slept: 0, error: '' });
  try {
    const slept = await source.get('slept', { task, begin, duration });
    const got = source.isRemote ? await source.get('values', { task, depth, begin, duration, function: call.function }) : {};
    if (values.key === key) Object.assign(values, slept, got);
  } catch (error) {
    values.error = error.message;
  }
  const some = values.arguments.length || values.returned.length || values.slept || values.error;
  if (values.key === key && some && state.call && keyOfCall(state.call) === key) update({ call: state.call });
}

function valueFacts(call) {
  if (values.key !== keyOfCall(call)) return [];
  const list = [...values.arguments, ...values.returned], facts = [];
  for (let i = 0; i < list.length; i += 2) facts.push(...fact(shownName(list[i]), shownName(list[i + 1]).slice(0, 2000)));
  return values.error ? fact('Values', values.error) : facts;
}

// Of a call in which its task slept; the time that ran is what sums have of it.
function sleptFacts(call) {
  if (values.key !== keyOfCall(call) || !values.slept || functionOf(call.function).suspended) return [];
  return [...fact('Ran', timeText(call.duration - values.slept)), ...fact('Slept', timeText(values.slept))];
}

function showSelectedCall(call) {
  if (call.flags === undefined) call.flags = flagsOf(call);
  const f = functionOf(call.function);
  const facts = element('dl', {},
    ...fact('Duration', timeText(call.duration), element('span', { class: 'dim' }, ` ${countText(call.duration)} ns`)),
    ...sleptFacts(call),
    ...valueFacts(call),
    ...fact('Begins at', exactTime(call.begin)),
    ...fact('Ends at', exactTime(call.begin + call.duration)),
    ...fact('Task', taskTitle(call.task), element('span', { class: 'dim' }, ` depth ${call.depth}`)),
    ...(f.handler ? fact('Kind', 'handler of an interrupt, exception, system call or signal') : []),
    ...(f.module ? fact('Module', f.path) : []),
    ...(placeOf(f) ? fact('Source', element('button', { class: 'link', title: 'Show it (V)', onclick: () => setState({ tab: 'source', function: call.function }) }, placeOf(f))) : []),
    ...(neverReturned(call) ? fact('Note', call.flags & 4 ? 'open: the recording ends before it returns' : 'open: it has not returned') : []));
  loadValues(call);
  path.list = element('ol');
  panel.replaceChildren(
    element('div', { class: 'column' }, element('div', { class: 'name big' }, f.name), callButtons(call), facts),
    element('div', { class: 'column' }, element('h2', {}, 'Path'), path.list));
  showPathOf(call);
  seekPath(call);
}

async function showSelectedRange() {
  if (!state.range) return; // it was cleared meanwhile
  const [from, to] = state.range;
  const who = state.tasks.length ? state.tasks.map(taskTitle).join(', ') : 'all tasks';
  panel.replaceChildren(
    element('div', { class: 'column' }, element('div', { class: 'name big' }, timeText(to - from)),
      element('div', { class: 'doing' },
        element('button', { onclick: () => setState({ tab: 'flame', path: [] }) }, 'Flame graph'),
        element('button', { onclick: () => setState({ tab: 'functions' }) }, 'Functions'),
        element('button', { onclick: () => setSight(from, to) }, 'Show'),
        element('button', { onclick: () => setState({ range: null }) }, 'Clear')),
      element('dl', {}, ...fact('From', exactTime(from)), ...fact('To', exactTime(to)), ...fact('Tasks', who))),
    rangeTable.box);
  const parameters = rangeParameters(), key = JSON.stringify(parameters);
  if (key === rangeKey) return;
  rangeKey = key;
  rangeTable.set([], 'Reading the calls…');
  try {
    const got = await source.get('report', parameters), rows = [];
    if (key !== rangeKey) return;
    for (const [index, calls, total, self, , , , slept, open] of rowsOf(got.rows, 9)) {
      const f = functionOf(index);
      rows.push({ function: f.index, name: f.name, module: f.module, calls, total, self, slept, open });
    }
    rangeTable.set(rows, 'There are no calls here.');
  } catch (error) {
    rangeTable.set([], error.message);
  }
}

let rangeTimer = 0;

function update(changes) {
  const of = state.range && !(state.call && 'call' in changes) ? 'range' : state.call ? 'call' : state.range ? 'range' : '';
  panel.hidden = !of || state.tab !== 'timeline';
  if (panel.hidden) return;
  if (of === 'call') showSelectedCall(state.call);
  else if (!view.drag && ('range' in changes || 'tasks' in changes || 'tab' in changes)) {
    clearTimeout(rangeTimer);
    rangeTimer = setTimeout(showSelectedRange, 0);
  }
}

export function makeDetails() {
  const number = (title, key, text) => ({ title, key, number: true, text, width: '92px' });
  rangeTable = new Table([number('Self', 'self', r => timeText(r.self)), number('Total', 'total', r => timeText(r.total)),
    number('Slept', 'slept', r => (r.slept ? timeText(r.slept) : '')), number('Calls', 'calls', r => countText(r.calls)), times.open, { title: 'Function', key: 'name', width: 'minmax(120px, 1fr)' }],
  { label: 'Functions of the range', sort: 'self', class: 'small', choose: row => setState({ function: row.function }), open: row => goTo(row.function, 'next') });
  panel = element('div', { class: 'details', hidden: true });
  onState(update);
  onTiles(onNewTiles);
  return panel;
}

export const startDetails = () => update({ range: state.range, call: state.call });
export const finishDrag = () => update({ range: state.range });
