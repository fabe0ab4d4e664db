/* SPDX-License-Identifier: GPL-2.0-or-later */
// The page: its bar, its tabs, the search, the keys.
import { element, timeText, countText, exactTime } from './base.js';
import { source, recording, openRecording, functionOf, taskTitle } from './source.js';
import { state, tabs, TABS, setState, setSight, onState, readAddress, missingText } from './state.js';
import { searched } from './search.js';
import { readTheme } from './colors.js';
import { redraw, view } from './plot.js';
import { byCpu, layout, levelOf, hiddenCount, togglePin, toggleHidden } from './tracks.js';
import { callAt } from './hits.js';
import { makeTimeline, zoomAt, pan, showCall, scrollTo } from './timeline.js';
import { makeOutline } from './outline.js';
import { flame, makeFlame, redrawFlame } from './flame.js';
import { makeTables, startTables, goTo, functionTable } from './tables.js';
import { makeList, stepHit } from './list.js';
import { makeBoot, startBoot } from './boot.js';
import { makeBookmarks, openNotes, addBookmark } from './bookmarks.js';
import { makePhases } from './phases.js';
import { makeOrder, makeDivider } from './heads.js';
import { makeDifference } from './difference.js';
import { makeListing, showSource } from './listing.js';
import { live, showLive } from './live.js';
import { makeDetails, startDetails, finishDrag, sumUp, recolorDetails } from './details.js';

const TITLES = { timeline: 'Time line', flame: 'Flame graph', functions: 'Functions', modules: 'Modules', tasks: 'Tasks', source: 'Source', difference: 'Difference', about: 'About', boot: 'Initcalls', bookmarks: 'Bookmarks' };

const KEYS = [
  ['1 … 9', 'the tabs'], ['B', 'set a bookmark with a note at the selected call, or stretch of time'], ['/ or Ctrl-F', 'search; Enter goes to the next call of a match, Shift-Enter to the one before'],
  ['H', 'list the calls that the search finds, with how long they took'], ['[ ]', 'the call before of those, and the next one'],
  ['W S, + −, wheel, pinch', 'zoom in and out'], ['A D, Shift-wheel, drag', 'move in time'],
  ['Q E, Alt-wheel, Page Up and Down', 'scroll tracks'], ['0', 'all of the time'],
  ['← → ↑ ↓', 'the calls beside, above and below the selected one'], ['F, Enter', 'zoom to the selected call, or stretch of time'],
  ['N P', 'the next call of the same function, and the one before'], ['M', 'sum up the selected call: its time, its task'],
  ['R', 'sum up the time that is in sight'], ['Shift-drag, or drag on the scale', 'sum up a stretch of time'],
  ['Click on a run of a vCPU', 'choose its task: its other runs, and where it moves to another vCPU'], ['Click on a task', 'sum up only this task (Ctrl: this one, too)'], ['O', 'open or close the track of the selected call'], ['G', 'tracks below their vCPU, or their process'],
  ['C', 'callers and callees of the selected function'], ['V', 'source of the selected function'], ['F elsewhere', 'flame graph of the calls summed up'],
  ['I, X', 'pin, hide the track of the selected call; so do ⇱ and × where the pointer is on its name'], ['Tab', 'from the time line to a tree of its calls: arrows walk, Space selects, Enter zooms'], ['Back, Forward', 'what was in sight, and chosen, before'],
  ['L', 'sums of wall time, from calls to returns, or of the time that ran'],
  ['Escape', 'undo the last choice: call, range, tasks, search'], ['T', 'dark or light'], ['?', 'this page'],
];

let searchBox, listButton, wallButton, chips, help, panes = {}, tabButtons = {};

// ---- bar -----------------------------------------------------------------------------------

const chip = (text, title, clear) => element('span', { class: 'chip', title }, text,
  element('button', { 'aria-label': `Clear: ${text}`, onclick: clear }, '×'));

function showChips() {
  const list = [];
  if (state.range) list.push(chip(`${timeText(state.range[1] - state.range[0])} at ${timeText(state.range[0])}`,
    `${exactTime(state.range[0])} to ${exactTime(state.range[1])}`, () => setState({ range: null, path: [] })));
  if (state.tasks.length) {
    const names = state.tasks.map(taskTitle);
    list.push(chip(names.length > 2 ? `${names.length} tasks` : names.join(', '), names.join('\n'), () => setState({ tasks: [], path: [] })));
  }
  if (hiddenCount()) list.push(chip(`${countText(hiddenCount())} ${hiddenCount() === 1 ? 'track' : 'tracks'} hidden`, 'Show all tracks', () => setState({ hidden: [], filter: '' })));
  if (!source.isRemote && !source.isExact && recording.tracks.finest > 0) list.push(element('span', { class: 'dim note', title: 'About has more' }, `calls below ${timeText(2 ** recording.tracks.finest)} are summed up`));
  if (missingText()) list.push(element('span', { class: 'dim note', title: missingText() }, missingText()));
  chips.replaceChildren(...list);
}

function showTab() {
  for (const [name, pane] of Object.entries(panes)) pane.hidden = name !== state.tab;
  for (const [name, button] of Object.entries(tabButtons)) Object.assign(button, { hidden: !tabs().includes(name) }).setAttribute('aria-selected', String(name === state.tab));
  wallButton.dataset.on = String(state.wall);
  listButton.dataset.on = String(state.list);
  if (document.activeElement !== searchBox && searchBox.value !== state.search) searchBox.value = state.search;
}

function setDark(dark) {
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  try { localStorage.setItem('guesttrace-theme', dark ? 'dark' : 'light'); } catch { /* not allowed: it is not kept */ }
  readTheme();
  if (!panes.timeline) return; // there is no recording yet
  redraw();
  redrawFlame();
  recolorDetails();
}

const toggleDark = () => setDark(document.documentElement.dataset.theme !== 'dark');

function startTheme() {
  const system = matchMedia('(prefers-color-scheme: dark)');
  let kept = null;
  try { kept = localStorage.getItem('guesttrace-theme'); } catch { /* as above */ }
  document.documentElement.dataset.theme = kept || (system.matches ? 'dark' : 'light');
  system.addEventListener('change', () => setDark(system.matches));
}

// The function that the search finds: that of this very name, else the first one, by time where that is known.
function foundFunction() {
  const text = state.search.trim();
  if (!text) return -1;
  const isExact = f => f.name === text || `${f.module}:${f.name}` === text;
  const listed = functionTable.filter ? functionTable.sorted : [];
  const row = listed.find(isExact);
  if (row) return row.function;
  const found = searched();
  if (!found.exact.size && listed.length) return listed[0].function;
  const [first] = found.exact.size ? found.exact : found.all;
  return first === undefined ? -1 : first;
}

function onSearchKey(event) {
  if (event.key === 'Enter') {
    const f = foundFunction(), which = event.shiftKey ? 'before' : 'next';
    if (f >= 0 && state.tab === 'flame') setState({ function: f });
    else if (f >= 0 && state.tab !== 'timeline') goTo(f, which);
    else stepHit(which);
  } else if (event.key === 'Escape') {
    searchBox.value = '';
    setState({ search: '' });
    focusPane();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

function toggleList() {
  setState(state.list && state.tab === 'timeline' ? { list: false } : { list: true, tab: 'timeline' });
  if (!state.search.trim()) keys['/']();
}

function makeBar() {
  searchBox = element('input', { type: 'search', placeholder: 'Search functions  ( / )', 'aria-label': 'Search functions', spellcheck: 'false', autocomplete: 'off',
    oninput: () => setState({ search: searchBox.value }), onkeydown: onSearchKey });
  listButton = element('button', { class: 'choice', title: 'List the calls that the search finds (H)', onclick: toggleList }, 'List');
  chips = element('div', { class: 'chips' });
  wallButton = element('button', { class: 'choice', title: 'Sums of times from calls to returns, with those in which tasks slept (L); else of those that ran',
    hidden: !source.hasWall, onclick: () => setState({ wall: !state.wall, path: [] }) }, 'Wall time');
  const bar = element('div', { class: 'tabs', role: 'tablist' });
  for (const name of TABS) {
    tabButtons[name] = element('button', { role: 'tab', onclick: () => { setState({ tab: name }); focusPane(); } }, TITLES[name]);
    bar.append(tabButtons[name]);
  }
  return element('header', {}, element('h1', { title: recording.info.path }, recording.info.title), bar, chips, element('span', { class: 'grow' }),
    wallButton, searchBox, listButton, element('button', { class: 'icon', title: 'Dark or light (T)', 'aria-label': 'Dark or light', onclick: toggleDark }, '◐'),
    element('button', { class: 'icon', title: 'Keys and colours (?)', 'aria-label': 'Keys and colours', onclick: () => help.showModal() }, '?'));
}

// ---- about and help ------------------------------------------------------------------------

function makeAbout() {
  const list = element('dl', {});
  const show = () => {
    const i = recording.info, calls = recording.tracks.tasks.reduce((sum, t) => sum + t[0], 0);
    const rows = [['Recording', i.path], ['Compared with', i.other ? i.other.path : ''], ['Command', i.command], ['Program', i.program], ['Recorded by', i.version], ['CPU', i.cpu],
      ['Time', `${exactTime(i.duration)}${i.instructions ? ', instructions of the guest, 1 ns each' : ''}`],
      ['Calls', `${countText(calls)}${recording.tracks.progress < 1000 ? ' so far' : ''}`], ['Functions', countText(recording.tracks.functions)],
      ['Tasks', countText(i.tasks.length)], ['Records', countText(i.records)], ['Size', `${countText(i.bytes)} bytes`],
      ['This file', source.isRemote ? '' : `sums of the whole recording; calls shorter than ${timeText(2 ** recording.tracks.finest)} are summed up in the time line. To see each: guesttrace view.`],
      ['Note', i.incomplete ? 'The recording was cut, or is still being written.' : '']];
    list.replaceChildren(...rows.filter(([, value]) => value).flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));
  };
  onState(() => { if (state.tab === 'about') show(); });
  show();
  return element('div', { class: 'about' }, list);
}

// What colours say: a swatch, as a class or as variables of the style sheet, and words.
const COLORS = [
  ['name', 'a call; its hue is of the first word of its function’s name, so that one subject has one hue'],
  ['handler', 'handlers of interrupts, exceptions, system calls and signals'],
  ['pale', 'calls while their task is suspended; calls that are too short to be drawn one by one, summed up'],
  ['dimmed', 'functions that the search does not find'],
  ['runs', 'strip above a track: the task runs; in the lane of a vCPU each task has a colour of its own'], ['asleep', 'strip: it is suspended'], ['idle', 'a vCPU that is idle: Linux’s swapper runs'],
  ['select', 'the selected call and stretch of time; in the overview calls that the search finds'],
  ['user', 'stripe of a track: a user’s programs'], ['kernel', 'stripe: a kernel'], ['above', 'stripe: firmware, hypervisors'],
  ['mark', 'lines of the console'], ['accent', 'events and marks; tasks that are chosen'], ['lost', 'records are lost there; lines that never ran'],
  ['more', 'difference: a larger part of the time in the second recording'], ['less', 'difference: a smaller part'],
];

const legend = () => element('ul', { class: 'legend', 'aria-label': 'Colours' }, ...COLORS.map(([name, what]) =>
  element('li', {}, element('span', { class: `swatch ${name}`, 'aria-hidden': 'true' }), what)));

function makeHelp() {
  help = element('dialog', { class: 'help', 'aria-label': 'Keys and colours' }, element('button', { class: 'close', onclick: () => help.close() }, 'Close'), element('h2', {}, 'Colours'), legend(), element('h2', {}, 'Keys'),
    element('dl', {}, ...KEYS.flatMap(([key, what]) => [element('dt', {}, key), element('dd', {}, what)])));
  help.addEventListener('click', event => { if (event.target === help) help.close(); });
  return help;
}

// ---- keys ----------------------------------------------------------------------------------

function focusPane() {
  const pane = panes[state.tab];
  const inner = pane && pane.querySelector('[tabindex]');
  if (inner) inner.focus({ preventScroll: true });
}

// The call beside another one, of the same depth, or that above or below it.
function beside(call, key) {
  if (key === 'ArrowUp') return call.depth > 0 ? callAt(call.task, call.depth - 1, call.begin + call.duration / 2) : null;
  const pixel = (state.to - state.from) / Math.max(1, view.canvas.clientWidth);
  if (key === 'ArrowDown') {
    for (let i = 0; i <= 64; i++) {
      const hit = callAt(call.task, call.depth + 1, call.begin + call.duration * i / 64);
      if (hit && hit.call) return hit;
    }
    return null;
  }
  const sign = key === 'ArrowRight' ? 1 : -1, edge = sign > 0 ? call.begin + call.duration : call.begin;
  for (let step = 1; step < (state.to - state.from) / pixel; step *= 1.25) {
    const hit = callAt(call.task, call.depth, edge + sign * step * pixel);
    if (hit && hit.call && hit.call.begin !== call.begin) return hit;
  }
  return null;
}

function selectBeside(key) {
  if (!state.call) return;
  const hit = beside(state.call, key);
  if (!hit || !hit.call) return;
  const { call } = hit;
  setState({ call, function: call.function });
  const width = state.to - state.from;
  if (call.begin + call.duration < state.from || call.begin > state.to) setSight(call.begin - width * 0.3, call.begin + width * 0.7);
  scrollTo(call);
}

function undo() {
  if (state.call && state.tab === 'timeline') setState({ call: null });
  else if (state.path.length && state.tab === 'flame') setState({ path: state.path.slice(0, -1) });
  else if (state.range) setState({ range: null, path: [] });
  else if (state.tasks.length) setState({ tasks: [], path: [] });
  else if (state.search) setState({ search: '' });
}

const middle = () => (state.call && state.call.begin >= state.from && state.call.begin <= state.to ? state.call.begin : (state.from + state.to) / 2);
const scroll = part => { view.scroll += part * view.canvas.clientHeight; redraw(); };

const timelineKeys = {
  w: () => zoomAt(0.6, middle()), s: () => zoomAt(1 / 0.6, middle()), '+': () => zoomAt(0.6, middle()), '=': () => zoomAt(0.6, middle()),
  '-': () => zoomAt(1 / 0.6, middle()), a: () => pan(-0.2), d: () => pan(0.2), q: () => scroll(-0.2), e: () => scroll(0.2),
  PageUp: () => scroll(-0.8), PageDown: () => scroll(0.8), 0: () => setSight(0, recording.duration), Home: () => setSight(0, recording.duration),
  r: () => setState({ range: [state.from, state.to] }),
  m: () => state.call && sumUp(state.call), Enter: () => state.call && showCall(state.call),
  '[': () => stepHit('before'), ']': () => stepHit('next'), h: toggleList,
  x: () => state.call && toggleHidden(state.call.task), i: () => state.call && togglePin(state.call.task),
  f: () => { if (state.call) showCall(state.call); else if (state.range) setSight(...state.range); else keys.f(); },
  o: () => state.call && setState({ open: { ...state.open, [state.call.task]: state.open[state.call.task] === false } }),
  g: () => setState({ group: byCpu() ? 'process' : 'cpu' }),
  ArrowLeft: () => (state.call ? selectBeside('ArrowLeft') : pan(-0.1)), ArrowRight: () => (state.call ? selectBeside('ArrowRight') : pan(0.1)),
  ArrowUp: () => (state.call ? selectBeside('ArrowUp') : scroll(-0.1)), ArrowDown: () => (state.call ? selectBeside('ArrowDown') : scroll(0.1)),
};

const keys = {
  '/': () => { searchBox.focus(); searchBox.select(); }, '?': () => help.showModal(), Escape: undo,
  l: () => source.hasWall && setState({ wall: !state.wall, path: [] }),
  t: toggleDark, n: () => goTo(state.function, 'next'), p: () => goTo(state.function, 'before'),
  b: addBookmark, v: () => showSource(state.function), c: () => state.function >= 0 && setState({ tab: 'functions' }), f: () => setState({ tab: 'flame', path: [] }),
};

function onKey(event) {
  if (document.querySelector('dialog[open]') || event.altKey || event.metaKey) return;
  const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  if (event.ctrlKey && event.key === 'f') keys['/']();
  else if (typing || event.ctrlKey) return;
  else if (event.target instanceof HTMLButtonElement && (event.key === 'Enter' || event.key === ' ')) return;
  else if (/^[1-9]$/.test(event.key) && event.key <= tabs().length) { setState({ tab: tabs()[event.key - 1] }); focusPane(); }
  else {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = (state.tab === 'timeline' && timelineKeys[key]) || keys[key];
    if (!action) return;
    action();
  }
  event.preventDefault();
}

// ---- all -----------------------------------------------------------------------------------

function build() {
  document.title = `${recording.info.title} – guesttrace`;
  const bar = makeBar();
  panes = { timeline: element('div', { class: 'pane' }, makeTimeline(makeOutline(), makePhases(makeOrder()), makeDivider()), makeList(), makeDetails()), flame: makeFlame(), ...makeTables(), ...makeListing(), ...makeDifference(), about: makeAbout(), ...makeBoot(), ...makeBookmarks() };
  document.body.replaceChildren(bar, element('main', {}, ...Object.values(panes)), makeHelp());
  onState(() => { showTab(); showChips(); });
  window.addEventListener('pointerup', () => { if (state.range) finishDrag(); });
  document.addEventListener('keydown', onKey);
  readTheme();
  showTab();
  showChips();
  setState({});
  startTables();
  startBoot();
  startDetails();
  focusPane();
}

async function start() {
  startTheme();
  document.body.replaceChildren(element('p', { class: 'wait' }, 'Opening the recording…'));
  try {
    await openRecording(info => showLive(info, toggleDark));
    await openNotes();
    readAddress();
    build();
  } catch (error) {
    document.body.replaceChildren(element('p', { class: 'wait failed' }, error.message));
    throw error;
  }
}

// For tests: the page's state.
window.guesttrace = { state, recording, view, functionOf, callAt, source, flame, layout, levelOf, setState, setSight, goTo, live };
start();
