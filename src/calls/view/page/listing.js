/* SPDX-License-Identifier: GPL-2.0-or-later */
// Source files: what the functions of each took, and a file's text with what each line took.
import { element, timeText, countText, baseName, shownName } from './base.js';
import { source, recording, functionOf } from './source.js';
import { textMatcher } from './search.js';
import { state, setState, onState } from './state.js';
import { Table, data, times } from './tables.js';

let files, lines, fileTitle, note;
let listed = null;         // the report whose files are listed
const shown = { file: '', key: '', text: [], counts: new Map(), why: '' };

const numbers = [{ ...times.self, width: '82px' }, { ...times.calls, width: '82px' }];
const blank = (key, show) => row => (row[key] === undefined ? '' : show(row[key]));

// A row a file of the range.
function listFiles() {
  const rows = new Map();
  for (const f of data.report) {
    const file = functionOf(f.function).file;
    if (!file) continue;
    const row = rows.get(file) || { name: baseName(file), file, hint: file, function: f.function, functions: 0, calls: 0, self: 0 };
    row.functions++;
    row.calls += f.calls;
    row.self += f.self;
    rows.set(file, row);
  }
  files.set([...rows.values()], 'The recording has no source lines: record with --srcline, or name them with guesttrace symbols.');
}

// Lines of the text, those in which functions begin with what these took.
function listLines() {
  const rows = shown.text.map((text, i) => ({ line: i + 1, name: text }));
  const at = line => {
    while (rows.length < line && shown.text.length) rows.push({ line: rows.length + 1, name: '' });
    let row = shown.text.length ? rows[line - 1] : rows.find(r => r.line === line);
    if (!row) rows.push(row = { line, name: '' });
    return row;
  };
  for (const [line, count] of shown.counts) if (line && line < 1e6) at(line).count = count;
  for (const r of data.report || []) {
    const f = functionOf(r.function);
    if (f.file !== shown.file || !f.line || f.line >= 1e6) continue;
    const row = at(f.line);
    for (const key of ['calls', 'open', 'self', 'total']) row[key] = (row[key] || 0) + r[key];
    row.function = r.function;
    if (!shown.text.length) row.name = row.name ? `${row.name}, ${f.name}` : f.name;
  }
  lines.set(rows, 'No function of this file was called here.');
  lines.scroller.classList.toggle('counted', shown.counts.size > 0);
  note.textContent = shown.why;
}

async function loadFile(index) {
  const { file } = functionOf(index), key = file;
  if (!file || key === shown.key) return;
  Object.assign(shown, { file, key, text: [], counts: new Map(), why: '' });
  fileTitle.textContent = file;
  fileTitle.title = file.slice(0, 1000);
  if (source.isRemote && recording.info.sources) {
    try {
      const got = await source.get('source', { function: index });
      if (shown.key !== key) return;
      Object.assign(shown, { text: got.lines.map(shownName), why: got.why });
      for (let i = 0; i < got.counts.length; i += 2) shown.counts.set(got.counts[i], got.counts[i + 1]);
    } catch (error) {
      shown.why = error.message;
    }
  } else shown.why = source.isRemote ? 'For the text: guesttrace view --source FOLDER' : 'This file has no source texts. For these: guesttrace view --source FOLDER';
  listLines();
  toLine(functionOf(index).line);
}

function toLine(line) {
  const at = lines.sorted.findIndex(row => row.line === line);
  if (at >= 0) lines.choose(at);
}

function updateListing() {
  if (state.tab !== 'source' || !data.report) return;
  if (listed !== data.report) {
    listed = data.report;
    listFiles();
    listLines();
  }
  const matches = textMatcher(false);
  files.filter = matches && (row => matches(row.file));
  files.arrange();
  const index = functionOf(state.function).file ? state.function : files.sorted.length ? files.sorted[0].function : -1;
  if (index >= 0 && functionOf(index).file !== shown.file) loadFile(index);
  else if (index >= 0 && functionOf(index).line !== (lines.sorted[lines.chosen] || {}).line && state.function >= 0) toLine(functionOf(index).line);
  lines.redraw();
}

export const hasSource = index => Boolean(functionOf(index).file);
export const showSource = index => { if (hasSource(index)) setState({ tab: 'source', function: index }); };

export function makeListing() {
  files = new Table([...numbers, { title: 'File', key: 'name', width: 'minmax(90px, 1fr)' }],
    { label: 'Files', sort: 'self', choose: row => setState({ function: row.function }), isOn: row => row.file === shown.file });
  lines = new Table([{ title: 'Line', key: 'line', number: true, width: '60px' },
    { title: 'Count', key: 'count', number: row => row.count || 0, text: blank('count', countText), hidden: () => !shown.counts.size, help: 'How often it ran, as the coverage says' },
    { ...times.calls, number: row => row.calls || 0, text: blank('calls', countText), width: '82px', help: 'Of the function that begins here' }, times.open,
    { ...times.self, number: row => row.self || 0, text: blank('self', timeText), part: row => (row.self || 0) / data.whole.self },
    { ...times.total, number: row => row.total || 0, text: blank('total', timeText), part: row => (row.total || 0) / data.whole.total },
    { title: 'Text', key: 'name', width: 'minmax(170px, 1fr)' }],
  { label: 'Lines', sort: 'line', up: true, class: 'code', choose: row => row.function !== undefined && setState({ function: row.function }), isRun: row => row.count });
  fileTitle = element('div', { class: 'name' });
  note = element('div', { class: 'dim' });
  onState(updateListing);
  return { source: element('div', { class: 'split' }, element('div', { class: 'side left' }, element('h2', {}, 'Files'), files.box),
    element('div', { class: 'listing' }, fileTitle, note, lines.box)) };
}
