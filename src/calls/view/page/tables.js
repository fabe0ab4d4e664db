/* SPDX-License-Identifier: GPL-2.0-or-later */
// Tables of the range: functions, modules, tasks; and who calls a function and what it calls. Only the rows in sight
// are in the page.
import { element, timeText, countText, eachFrame, baseName, shownName, rowsOf } from './base.js';
import { functionOf, source, recording, needFunctions, taskTitle, sameFunctions } from './source.js';
import { state, setState, onState, rangeParameters } from './state.js';
import { expressionOf, searched, textMatcher } from './search.js';
import { showCall } from './timeline.js';

const HEIGHT = 22;

// A table: columns are { title, key, text(row), number, hidden(), ifAny }; number may be a function: what of a row is sorted.
// ifAny: it is shown where a row has it.
export class Table {
  constructor(columns, options = {}) {
    this.columns = columns;
    this.options = options;
    this.rows = [];
    this.sorted = [];
    this.sort = { key: options.sort || columns[0].key, down: !options.up };
    this.chosen = -1;
    this.body = element('div', { class: 'rows' });
    this.space = element('div', { class: 'space' }, this.body);
    this.head = element('div', { class: 'row head', role: 'row' });
    this.scroller = element('div', { class: 'scroller', tabindex: '0', role: 'grid', 'aria-label': options.label || '' }, this.head, this.space);
    this.box = element('div', { class: `table ${options.class || ''}` }, this.scroller);
    this.redraw = eachFrame(() => this.draw());
    this.scroller.addEventListener('scroll', this.redraw);
    this.scroller.addEventListener('keydown', event => this.key(event));
    new ResizeObserver(this.redraw).observe(this.scroller);
    this.message = '';
    this.without = new Set(columns.filter(c => c.ifAny));
    this.whole = { self: 1, total: 1 };
  }

  // `whole`: what parts of rows are of, in each column.
  set(rows, message = '', whole = this.whole) {
    this.rows = rows;
    this.without = new Set(this.columns.filter(c => c.ifAny && !rows.some(row => row[c.key])));
    this.whole = whole;
    this.message = message;
    this.arrange();
  }

  arrange() {
    const { key, down } = this.sort, filter = this.filter;
    const column = this.columns.find(c => c.key === key);
    const chosen = this.sorted[this.chosen];
    this.sorted = filter ? this.rows.filter(filter) : [...this.rows];
    const sign = down ? -1 : 1;
    const number = typeof column.number === 'function' ? column.number : row => row[key];
    this.sorted.sort(column.number ? (a, b) => sign * (number(a) - number(b)) || (a.name < b.name ? -1 : 1)
      : (a, b) => (a[key] < b[key] ? -sign : a[key] > b[key] ? sign : 0));
    this.chosen = chosen ? this.sorted.indexOf(chosen) : -1;
    this.redraw();
  }

  sortBy(column) {
    this.sort = { key: column.key, down: this.sort.key === column.key ? !this.sort.down : Boolean(column.number) };
    if (this.options.resort) this.options.resort();
    else this.arrange();
    this.redraw();
  }

  shown() {
    return this.columns.filter(c => !this.without.has(c) && (!c.hidden || !c.hidden()));
  }

  drawHead() {
    this.scroller.style.setProperty('--columns', this.shown().map(c => c.width || '84px').join(' '));
    const focused = [...this.head.children].findIndex(cell => cell.contains(document.activeElement));
    this.head.replaceChildren(...this.shown().map(c => {
      const sorted = this.sort.key === c.key;
      return element('div', { class: c.number ? 'cell number' : 'cell', role: 'columnheader', title: c.help, onclick: c.fixed ? undefined : () => this.sortBy(c),
        'aria-sort': sorted ? (this.sort.down ? 'descending' : 'ascending') : undefined },
      c.fixed ? c.title : element('button', {}, `${c.title}${sorted ? (this.sort.down ? ' ▾' : ' ▴') : ''}`));
    }));
    if (focused >= 0 && this.head.children[focused]) this.head.children[focused].firstChild.focus();
  }

  draw() {
    this.drawHead();
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / HEIGHT) - 4);
    const count = Math.ceil(this.scroller.clientHeight / HEIGHT) + 8;
    this.space.style.height = `${Math.max(this.sorted.length * HEIGHT, 44)}px`;
    this.body.style.transform = `translateY(${first * HEIGHT}px)`;
    this.body.replaceChildren(...this.sorted.slice(first, first + count).map((row, i) => this.drawRow(row, first + i)));
    this.scroller.setAttribute('aria-rowcount', this.sorted.length + 1);
    if (this.chosen >= first && this.chosen < first + count) this.scroller.setAttribute('aria-activedescendant', this.rowId(this.chosen));
    else this.scroller.removeAttribute('aria-activedescendant');
    if (this.options.seen) this.options.seen(this.sorted.slice(first, first + count));
    if (this.sorted.length || !this.message) return;
    this.body.style.transform = '';
    this.body.replaceChildren(element('div', { class: 'message', role: 'row' }, element('div', { role: 'gridcell' }, this.message)));
    this.space.style.height = `${Math.max(44, this.body.offsetHeight)}px`;
  }

  rowId(index) {
    return `row-${(this.options.label || '').replace(/\W/g, '-')}-${index}`;
  }

  drawRow(row, index) {
    const cells = this.shown().map(c => {
      const cell = element('div', { class: c.number ? 'cell number' : 'cell', role: 'gridcell' }, c.text ? c.text(row) : row[c.key]);
      if (c.part) cell.style.setProperty('--part', `${Math.min(100, 100 * c.part(row, this.whole))}%`);
      if (c.part) cell.classList.add('part');
      if (!c.number) cell.title = String(row.hint || row[c.key]).slice(0, 1000);
      return cell;
    });
    return element('div', { class: `row${index === this.chosen || (this.options.isOn && this.options.isOn(row)) ? ' on' : ''}`, role: 'row', id: this.rowId(index), 'aria-rowindex': index + 2, 'aria-selected': String(index === this.chosen), 'data-ran': this.options.isRun && this.options.isRun(row) !== undefined ? String(this.options.isRun(row) > 0) : undefined,
      onclick: () => { this.choose(index); if (this.options.click) this.options.click(row); }, ondblclick: () => this.options.open && this.options.open(row) }, ...cells);
  }

  choose(index) {
    const row = this.sorted[index];
    if (!row) return;
    this.chosen = index;
    const at = index * HEIGHT, height = this.scroller.clientHeight - HEIGHT;
    if (at < this.scroller.scrollTop) this.scroller.scrollTop = at;
    else if (at + HEIGHT > this.scroller.scrollTop + height) this.scroller.scrollTop = at + HEIGHT - height;
    if (this.options.choose) this.options.choose(row);
    this.redraw();
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / HEIGHT) - 2);
    const to = { ArrowDown: this.chosen + 1, ArrowUp: this.chosen - 1, PageDown: this.chosen + page, PageUp: this.chosen - page, Home: 0,
      End: this.sorted.length - 1 }[event.key];
    if (to !== undefined) this.choose(Math.max(0, Math.min(this.sorted.length - 1, to)));
    else if (event.key === 'Enter' && this.sorted[this.chosen] && this.options.open) this.options.open(this.sorted[this.chosen]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

// ---- what the tables show ------------------------------------------------------------------

export const data = { report: null, whole: { self: 1, total: 1 } };

// What times of rows are parts of: the sums of functions themselves; with what they called, also while tasks were suspended.
export function wholeOf(rows) {
  let self = 0, total = 0;
  for (const row of rows) {
    total += row.self;
    if (!row.suspended) self += row.self;
  }
  return { self: Math.max(1, self), total: Math.max(1, total) };
}

export const times = {
  total: { title: 'Total', key: 'total', number: true, text: r => timeText(r.total), part: (r, whole) => r.total / whole.total, help: 'From a call to its return; recursive calls count once' },
  self: { title: 'Self', key: 'self', number: true, text: r => timeText(r.self), part: (r, whole) => r.self / whole.self, help: 'Without what it called' },
  slept: { title: 'Slept', key: 'slept', number: true, text: r => (r.slept ? timeText(r.slept) : ''), help: 'While its task was suspended in it, or in what it called' },
  calls: { title: 'Calls', key: 'calls', number: true, text: r => countText(r.calls) },
  open: { title: 'Open', key: 'open', number: row => row.open || 0, text: r => (r.open ? countText(r.open) : ''), width: '64px', ifAny: true, help: 'Calls that have not returned' },
};

const functionColumns = [times.total, times.self, times.calls, times.open, times.slept,
  { title: 'Average', key: 'average', number: true, text: r => timeText(r.average) },
  { title: 'Shortest', key: 'least', number: true, text: r => timeText(r.least) },
  { title: 'Longest', key: 'most', number: true, text: r => timeText(r.most) },
  { title: 'Function', key: 'name', width: 'minmax(170px, 2fr)' },
  { title: 'Module', key: 'module', width: 'minmax(70px, 1fr)' },
  { title: 'Source', key: 'place', width: 'minmax(70px, 1fr)' }];

const rowOf = index => {
  const f = functionOf(index);
  return { function: index, name: f.name, module: f.module, path: f.path, suspended: f.suspended, place: f.file ? `${baseName(f.file)}:${f.line}` : '', hint: f.file ? `${f.name}\n${f.file}:${f.line}` : f.name };
};

export const functionTable = new Table(functionColumns, { label: 'Functions', sort: 'total', choose: row => setState({ function: row.function }),
  open: row => goTo(row.function, 'longest'), isOn: row => state.function >= 0 && sameFunctions(state.function).includes(row.function) });
const moduleTable = new Table([times.total, times.self, times.calls, times.open, times.slept, { title: 'Functions', key: 'functions', number: true, text: r => countText(r.functions) },
  { title: 'Module', key: 'name', width: 'minmax(220px, 1fr)' }], { label: 'Modules', sort: 'total', open: row => setState({ tab: 'functions', search: `${row.name}:*` }) });
const taskTable = new Table([times.total, times.self, times.calls, times.open, times.slept, { title: 'Functions', key: 'functions', number: true, text: r => countText(r.functions) },
  { title: 'Task', key: 'name', width: 'minmax(220px, 1fr)' }, { title: 'Process', key: 'process', width: 'minmax(120px, 1fr)' }],
{ label: 'Tasks', sort: 'total', open: row => setState({ tab: 'timeline', tasks: [row.task], open: { ...state.open, [row.task]: true } }) });
const relationColumns = [{ ...times.calls, width: '76px' }, times.open, { ...times.total, part: undefined, width: '80px' }, { ...times.self, part: undefined, width: '80px' },
  { title: 'Function', key: 'name', width: 'minmax(90px, 1fr)' }];
const relationOptions = label => ({ label, sort: 'total', choose: row => row.function >= 0 && setState({ function: row.function }) });
export const callers = new Table(relationColumns, relationOptions('Callers'));
export const callees = new Table(relationColumns, relationOptions('Callees'));

// Shows a call of a function, or of those that a question is about, in the time line: the first, the longest, or that
// after or before the selection.
export async function goTo(index, which, about = null) {
  if (index < 0 && !about) return;
  const time = state.call ? state.call.begin : state.from;
  const parameters = { ...(about || { functions: sameFunctions(index).join(',') }), time: Math.round(time) };
  if (state.tasks.length) parameters.tasks = state.tasks.join(',');
  const got = await source.get('find', parameters);
  const place = got[which] || (which === 'next' ? got.first : null);
  if (place) showCall(about ? place : { ...place, function: index }, which !== 'next' && which !== 'before');
}

// ---- loading -------------------------------------------------------------------------------

const loaded = {};

// Loads an answer about the range once for each range; `use` gets it.
async function load(name, table, parameters, use) {
  const key = JSON.stringify([name, parameters]);
  if (loaded[table.options.label] === key) return;
  loaded[table.options.label] = key;
  table.set([], 'Reading the calls…');
  try {
    const got = await source.get(name, parameters);
    if (loaded[table.options.label] === key) await use(got);
  } catch (error) {
    table.set([], error.message);
  }
}

async function useReport(got) {
  const rows = [];
  const list = rowsOf(got.rows, 9);
  await needFunctions(list.reduce((most, [index]) => Math.max(most, index), 0));
  for (const [index, calls, total, self, average, least, most, slept, open] of list)
    rows.push({ ...rowOf(index), calls, total, self, average, least, most, slept, open });
  Object.assign(data, { report: rows, whole: wholeOf(rows) });
  setTimeout(() => setState({}), 0); // others show it, too
  functionTable.set(rows, 'There are no calls here.', data.whole);
}

function useModules(got) {
  const rows = [];
  for (const [index, functions, calls, total, self, slept, open] of rowsOf(got.rows, 7)) {
    const path = functionOf(index).path;
    rows.push({ name: shownName(baseName(path)) || '(none)', hint: path, functions, calls, total, self, slept, open });
  }
  moduleTable.set(rows, 'There are no calls here.', wholeOf(rows));
}

function useTasks(got) {
  const rows = [];
  for (const [task, functions, calls, total, self, slept, open] of rowsOf(got.rows, 7)) {
    const process = recording.info.processes[recording.info.tasks[task].process];
    rows.push({ task, name: taskTitle(task), process: process ? `${shownName(baseName(process.program))} ${process.pid}` : '', functions, calls, total, self, slept, open });
  }
  taskTable.set(rows, 'There are no calls here.', wholeOf(rows));
}

function relationRows(list) {
  const rows = new Map();
  for (const [index, calls, total, self, open] of rowsOf(list, 5))
    rows.set(index, { ...(index < 0 ? { function: -1, name: '(nothing: outermost)' } : rowOf(index)), calls, total, self, open });
  return [...rows.values()];
}

function loadRelations() {
  if (state.function < 0) {
    callers.set([], 'Choose a function.');
    callees.set([], '');
    return;
  }
  load('function', callers, { ...rangeParameters(), functions: sameFunctions(state.function).join(',') }, async got => {
    callers.set(relationRows(got.callers), 'Nothing calls it here.');
    callees.set(relationRows(got.callees), 'It calls nothing here.');
  });
}

function filterTables() {
  const found = searched(), matches = textMatcher(false);
  functionTable.filter = found && (row => found.all.has(row.function));
  moduleTable.filter = matches && (row => matches(row.name));
  taskTable.filter = matches && (row => matches(row.name) || matches(row.process));
  for (const table of [functionTable, moduleTable, taskTable]) table.arrange();
}

function updateTables(changes) {
  const p = rangeParameters();
  if (state.tab === 'functions' || state.tab === 'source' || (state.tab === 'timeline' && state.range)) load('report', functionTable, p, useReport);
  if (state.tab === 'functions') loadRelations();
  if (state.tab === 'modules') load('groups', moduleTable, { ...p, by: 'modules' }, useModules);
  if (state.tab === 'tasks') load('groups', taskTable, { ...p, by: 'tasks' }, useTasks);
  if ('search' in changes || expressionOf(state.search.trim())) filterTables();
  functionTable.redraw();
}

// The title of the function whose callers and callees are shown, with what to do with it.
function makeRelations() {
  const title = element('div', { class: 'name' }), doing = element('div', { class: 'doing' });
  const show = () => {
    const f = functionOf(state.function);
    title.textContent = state.function < 0 ? 'No function chosen' : f.name;
    title.title = f.name.slice(0, 1000);
    doing.hidden = state.function < 0;
    sourceButton.hidden = !f.file;
  };
  for (const [text, which] of [['First call', 'first'], ['Longest', 'longest'], ['Before', 'before'], ['Next', 'next']])
    doing.append(element('button', { onclick: () => goTo(state.function, which) }, text));
  const sourceButton = element('button', { title: 'Its source (V)', onclick: () => setState({ tab: 'source' }) }, 'Source');
  doing.append(sourceButton);
  onState(show);
  show();
  return element('div', { class: 'side' }, title, doing, element('h2', {}, 'Called by'), callers.box, element('h2', {}, 'Calls'), callees.box);
}

export function makeTables() {
  onState(updateTables);
  return {
    functions: element('div', { class: 'split' }, functionTable.box, makeRelations()),
    modules: moduleTable.box,
    tasks: taskTable.box,
  };
}

export const startTables = () => { filterTables(); updateTables({}); };
