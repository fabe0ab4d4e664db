/* SPDX-License-Identifier: GPL-2.0-or-later */
// Bookmarks with notes: calls, or stretches of time. They stand in the address, or, with `view --notes`, in a file that the
// server writes. state.bookmarks has the lines of such a file: docs/view.md has the format.
import { element, timeText, exactTime, shownName } from './base.js';
import { source, recording, functionOf, taskTitle } from './source.js';
import { state, setState, setSight, onState } from './state.js';
import { showCall } from './timeline.js';
import { Table } from './tables.js';

const HEADING = 'guesttrace notes 1\n';
const MOST_KEPT = 200, MOST_NOTE = 500, MOST_BYTES = 60000;

let dialog, input, edited = null, table, message, before = '';
const parsed = { of: null, list: [] };

// ---- lines ---------------------------------------------------------------------------------

const ESCAPES = { '\\': '\\\\', '\t': '\\t', '\n': '\\n' };
// eslint-disable-next-line no-control-regex
const escaped = text => String(text).replace(/[\\\t\n]/g, c => ESCAPES[c]).replace(/[\u0000-\u001f\u007f-\u009f]/g, '?');
const unescaped = text => text.replace(/\\(.)/g, (_, c) => ({ t: '\t', n: '\n' }[c] || c));

const lineOf = m => [m.begin, m.end, m.task, m.depth, m.name, m.module, m.note].map(escaped).join('\t');

// Of a line of a link or a file, which may be anybody's; null: it is none.
function parse(line) {
  const fields = line.split('\t').map(unescaped), [begin, end] = fields.map(Number);
  if (fields.length !== 7 || !Number.isInteger(begin) || !Number.isInteger(end) || begin < 0 || end < begin) return null;
  return { begin, end, task: fields[2], depth: fields[3], name: fields[4], module: fields[5], note: fields[6].slice(0, MOST_NOTE) };
}

export function bookmarks() {
  if (parsed.of !== state.bookmarks) Object.assign(parsed, { of: state.bookmarks, list: state.bookmarks.map(parse).filter(Boolean).slice(0, MOST_KEPT) });
  return parsed.list;
}

// ---- keeping them --------------------------------------------------------------------------

// Of a server that keeps them. An empty text: it does not.
export async function openNotes() {
  if (!source.isRemote) return;
  const text = await (await fetch('notes')).text();
  source.keepsNotes = text.startsWith(HEADING);
  if (source.keepsNotes) state.bookmarks = text.slice(HEADING.length).split('\n').filter(Boolean);
}

async function keep(list) {
  const lines = list.slice(0, MOST_KEPT).map(lineOf), text = HEADING + lines.map(line => `${line}\n`).join('');
  if (new TextEncoder().encode(text).length > MOST_BYTES) {
    message.textContent = 'There is no room for more: delete some.';
    return;
  }
  message.textContent = list.length > MOST_KEPT ? `No more than ${MOST_KEPT} bookmarks are kept.` : '';
  setState({ bookmarks: lines });
  if (!source.keepsNotes) return;
  try {
    const response = await fetch('notes', { method: 'POST', body: text });
    if (!response.ok) message.textContent = await response.text();
  } catch {
    message.textContent = 'The server does not answer: the bookmarks are not kept.';
  }
}

// ---- what one does with them ---------------------------------------------------------------

export function showBookmark(mark) {
  const task = mark.depth === '' ? -1 : recording.info.tasks.findIndex(t => String(t.id) === mark.task);
  const [index] = recording.keys.get(`${mark.name}\n${mark.module}`) || [-1];
  if (task >= 0 && index >= 0) {
    showCall({ task, depth: Number(mark.depth) || 0, begin: mark.begin, duration: mark.end - mark.begin, function: index });
    return;
  }
  setState({ tab: 'timeline', range: [mark.begin, mark.end], path: [] });
  setSight(mark.begin, mark.end);
}

function ask(mark, title) {
  edited = mark;
  dialog.querySelector('h2').textContent = title;
  input.value = mark.note;
  if (!dialog.isConnected) document.body.append(dialog);
  dialog.showModal();
  input.focus();
}

// Of the selected call, the range, or the time in sight.
export function addBookmark() {
  const { call, range } = state, f = call && functionOf(call.function);
  const [begin, end] = call ? [call.begin, call.begin + call.duration] : range || [state.from, state.to];
  const place = { begin: Math.max(0, Math.round(begin)), end: Math.round(end), note: '' };
  ask(call ? { ...place, task: String(recording.info.tasks[call.task].id), depth: String(call.depth), name: f.key.split('\n')[0], module: f.path }
    : { ...place, task: '', depth: '', name: '', module: '' }, call ? `Bookmark: ${f.name.slice(0, 80)}` : `Bookmark: ${timeText(end - begin)}`);
}

function saveNote() {
  const note = input.value.slice(0, MOST_NOTE), list = bookmarks();
  dialog.close();
  if (list.includes(edited)) keep(list.map(mark => (mark === edited ? { ...mark, note } : mark)));
  else keep([...list, { ...edited, note }]);
}

const chosenMark = () => table.sorted[table.chosen];

function deleteBookmark() {
  const row = chosenMark();
  if (!row) return;
  table.chosen = -1;
  keep(bookmarks().filter(mark => mark !== row.mark));
}

// ---- making --------------------------------------------------------------------------------

function markRow(mark) {
  const task = recording.info.tasks.findIndex(t => String(t.id) === mark.task);
  return { mark, begin: mark.begin, duration: mark.end - mark.begin, note: shownName(mark.note), what: mark.depth === '' ? 'stretch of time' : shownName(mark.name), task: task < 0 ? '' : taskTitle(task) };
}

function makeDialog() {
  input = element('input', { type: 'text', maxlength: String(MOST_NOTE), 'aria-label': 'Note',
    onkeydown: event => { if (event.key === 'Enter') { event.preventDefault(); saveNote(); } } });
  return element('dialog', { class: 'help note', 'aria-label': 'Bookmark' }, element('h2', {}, 'Bookmark'), input,
    element('div', { class: 'doing' }, element('button', { onclick: saveNote }, 'Keep'), element('button', { onclick: () => dialog.close() }, 'Cancel')));
}

function updateBookmarks() {
  const key = state.bookmarks.join('\n');
  if (key === before) return;
  before = key;
  table.set(bookmarks().map(markRow), NONE);
}

const NONE = 'No bookmarks yet: B sets one at the selected call, or stretch of time.';

export function makeBookmarks() {
  dialog = makeDialog();
  table = new Table([{ title: 'Begins', key: 'begin', number: true, text: row => exactTime(row.begin), width: '124px' },
    { title: 'Duration', key: 'duration', number: true, text: row => timeText(row.duration), width: '92px' },
    { title: 'What', key: 'what', width: 'minmax(120px, 1fr)' }, { title: 'Task', key: 'task', width: 'minmax(80px, 1fr)' }, { title: 'Note', key: 'note', width: 'minmax(160px, 3fr)' }],
  { label: 'Bookmarks', sort: 'begin', up: true, open: row => showBookmark(row.mark) });
  message = element('span', { class: 'dim', 'aria-live': 'polite' });
  table.set(bookmarks().map(markRow), NONE);
  onState(updateBookmarks);
  const button = (text, title, action) => element('button', { title, onclick: action }, text);
  return { bookmarks: element('div', { class: 'listing' }, element('div', { class: 'doing' },
    button('Go there', 'Show it in the time line (Enter)', () => chosenMark() && showBookmark(chosenMark().mark)), button('Edit note', 'Change the note of the chosen one', () => chosenMark() && ask(chosenMark().mark, 'Bookmark')),
    button('Delete', 'Delete the chosen one', deleteBookmark), message), table.box) };
}
