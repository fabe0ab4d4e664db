/* SPDX-License-Identifier: GPL-2.0-or-later */
// The initcalls of a Linux kernel: a table of each, with the time that ran, slept and passed.
import { element, timeText, exactTime, countText, shownName, rowsOf } from './base.js';
import { source, functionOf, needFunctions, taskTitle } from './source.js';
import { state, onState, rangeParameters } from './state.js';
import { searched } from './search.js';
import { showCall } from './timeline.js';
import { Table } from './tables.js';

const initcalls = { key: '', table: null, title: null };

async function makeRows(list) {
  await needFunctions(list.reduce((most, row) => Math.max(most, row[6]), 0));
  return list.map(([begin, wall, slept, own, depth, task, index, flags, result]) => {
    const f = functionOf(index);
    return { begin, wall, slept, ran: wall - slept, result: shownName(result), task: taskTitle(task), function: index, name: f.name, module: f.module, hint: f.file ? `${f.name}\n${f.file}:${f.line}` : f.name,
      call: { task, depth, begin, duration: own, function: index, flags } };
  });
}

function initcallsTitle(got, rows) {
  const ran = rows.reduce((sum, row) => sum + row.ran, 0), slept = rows.reduce((sum, row) => sum + row.slept, 0);
  const left = got.initcalls > rows.length ? `, the first ${countText(rows.length)} are listed` : '';
  return `${countText(got.initcalls)} initcalls${left}: ${timeText(ran)} ran, ${timeText(slept)} slept`;
}

async function loadInitcalls() {
  const { table, title } = initcalls, parameters = rangeParameters();
  delete parameters.wall; // each has both times
  const key = JSON.stringify(parameters);
  if (key === initcalls.key) return;
  initcalls.key = key;
  table.set([], 'Reading the calls…');
  try {
    const got = await source.get('initcalls', parameters), rows = await makeRows(rowsOf(got.rows, 9));
    if (key !== initcalls.key) return;
    const most = Math.max(1, ...rows.map(row => row.wall));
    title.textContent = rows.length ? initcallsTitle(got, rows) : '';
    table.set(rows, 'No initcalls of Linux are here: calls of do_one_initcall.', { most });
  } catch (error) {
    title.textContent = '';
    table.set([], error.message);
  }
}

function updateInitcalls() {
  if (state.tab !== 'boot') return;
  const found = searched();
  initcalls.table.filter = found && (row => found.all.has(row.function));
  initcalls.table.arrange();
  loadInitcalls();
}

export function makeBoot() {
  const part = of => (row, whole) => row[of] / (whole.most || 1);
  const time = (title, key, help) => ({ title, key, number: true, text: row => (row[key] ? timeText(row[key]) : '0'), part: part(key), help });
  initcalls.table = new Table([{ title: 'Begins', key: 'begin', number: true, text: row => exactTime(row.begin), width: '124px' },
    time('Ran', 'ran', 'Time that ran, with all that it called'), time('Slept', 'slept', 'While its task was suspended'), time('Wall', 'wall', 'From its call to its return'),
    { title: 'Result', key: 'result', ifAny: true, width: '92px', help: 'What it returned' },
    { title: 'Initcall', key: 'name', width: 'minmax(170px, 2fr)' }, { title: 'Module', key: 'module', width: 'minmax(70px, 1fr)' }, { title: 'Task', key: 'task', width: 'minmax(90px, 1fr)' }],
  { label: 'Initcalls', sort: 'begin', up: true, click: row => showCall(row.call, false), open: row => showCall(row.call, false),
    isOn: row => state.call && row.call.begin === state.call.begin && row.call.task === state.call.task && row.call.depth === state.call.depth });
  initcalls.title = element('div', { class: 'name', 'aria-live': 'polite' });
  onState(updateInitcalls);
  return { boot: element('div', { class: 'listing' }, initcalls.title, initcalls.table.box) };
}

export const startBoot = updateInitcalls;
