/* SPDX-License-Identifier: GPL-2.0-or-later */
// What the page shows. It stands in the address, so that a link shows the same.
import { clamp, shownName } from './base.js';
import { recording, both, functionOf, source, addNames, onFunctions, isLane, taskTitle } from './source.js';

export const state = {
  tab: 'timeline',
  from: 0, to: 1,        // the time that is in sight
  range: null,           // [from, to]: the time that is summed up
  tasks: [],             // those that are summed up; none: all
  call: null,            // { task, depth, begin, duration, function }
  function: -1,          // whose callers and callees are shown
  search: '',
  list: false,           // whether the calls that it finds are listed
  others: false,         // of all functions that match, not only those of this very name
  durations: null,       // [shortest, longest] of the calls that are listed
  inverse: false, by: 'time',
  wall: false,           // sums have times from calls to returns, not those that ran
  difference: false,     // flame graph: of both recordings
  path: [],              // flame graph: functions down to the one that fills the width
  group: '',             // what tracks stand below: 'process', 'cpu'; '': what fits
  open: {},              // track: whether its depths are shown
  pinned: [], hidden: [], // tracks that stay on top, that are not shown
  filter: '',            // of tracks, by name
  order: '',             // of tracks: 'name', 'ran', 'first'; '': as tasks were created
  names: 0,              // width of the tracks' names; 0: the usual one
  bookmarks: [],         // lines: bookmarks.js
};

const listeners = [];
export const onState = f => listeners.push(f);

export const TABS = ['timeline', 'flame', 'functions', 'modules', 'tasks', 'source', 'difference', 'about', 'boot', 'bookmarks'];
// Those that this recording has, in order.
const HAS = { difference: () => recording.info.other, boot: () => recording.isLinux, bookmarks: () => state.bookmarks.length || source.keepsNotes };
export const tabs = () => TABS.filter(tab => !HAS[tab] || HAS[tab]());

function pairOf(text) {
  const pair = (text || '').split('-').map(Number);
  return pair.length === 2 && pair.every(Number.isFinite) && pair[0] <= pair[1] ? pair : null;
}

const MOST_BOOKMARKS = 200;
const numbersOf = text => (text ? text.split(',').map(Number).filter(Number.isInteger) : []);

const taskOf = id => recording.info.tasks.findIndex(task => task.id === id);
const idOf = index => recording.info.tasks[index].id;

// Tracks: a task's id, or a vCPU's name.
function trackOf(text) {
  const [, vcpu] = /^cpu(\d{1,5})$/.exec(text) || [];
  return vcpu === undefined ? taskOf(text ? Number(text) : NaN) : recording.info.tasks.length + Number(vcpu);
}
const trackName = track => (isLane(track) ? taskTitle(track) : idOf(track));

// Functions that the address names and that are not known yet: they are as the recording is read. An address has
// names, for numbers of functions are other ones each time a recording is opened.
export const sought = { function: '', call: '', path: [], missing: '' };

const numberOf = key => (recording.keys.get(key) || [-1])[0];
const keyOfPath = number => (state.difference ? both.names.get(number) : functionOf(number)).key;

// The call of an address: task, depth, begin, duration and the function's name, which may have commas.
function readCall(text) {
  const [, id, depth, begin, duration, key] = /^(\d+),(\d+),(\d+),(\d+),([^]*)$/.exec(text || '') || [];
  const task = taskOf(Number(id));
  sought.call = task >= 0 ? key : '';
  return task >= 0 ? { task, depth: Number(depth), begin: Number(begin), duration: Number(duration), function: -1 } : null;
}

export function readAddress() {
  const q = new URLSearchParams(location.hash.slice(1));
  const end = recording.duration;
  const sight = pairOf(q.get('at')) || [0, end];
  const two = Boolean(recording.info.other);
  state.tab = tabs().includes(q.get('tab')) || q.get('tab') === 'boot' ? q.get('tab') : two ? 'flame' : 'timeline';
  state.difference = two && q.get('difference') !== '0';
  state.from = clamp(sight[0], 0, end);
  state.to = clamp(Math.max(sight[1], state.from + 1), 1, Math.max(end, 1));
  state.range = pairOf(q.get('range'));
  state.tasks = numbersOf(q.get('tasks')).map(taskOf).filter(task => task >= 0);
  state.search = q.get('search') || '';
  state.list = q.get('list') === '1';
  state.others = q.get('others') === '1';
  state.durations = pairOf(q.get('durations'));
  state.inverse = q.get('inverse') === '1';
  state.wall = q.get('wall') === '1' && source.hasWall;
  state.by = q.get('by') === 'calls' ? 'calls' : 'time';
  state.group = ['cpu', 'process'].includes(q.get('group')) ? q.get('group') : '';
  for (const key of ['pinned', 'hidden']) state[key] = (q.get(key) || '').split(',').map(trackOf).filter(track => track >= 0);
  state.filter = q.get('filter') || '';
  state.order = ['name', 'ran', 'first'].includes(q.get('order')) ? q.get('order') : '';
  state.names = Math.max(0, Number(q.get('names')) || 0);
  if (!source.keepsNotes) state.bookmarks = [...new Set([...state.bookmarks, ...q.getAll('bookmark')])].slice(0, MOST_BOOKMARKS);
  state.path = [];
  state.function = -1;
  Object.assign(sought, { function: q.get('function') || '', path: q.getAll('path'), missing: '' });
  state.call = readCall(q.get('call'));
  findFunctions();
}

// The sought functions that are known now.
function foundNow() {
  const changes = {};
  const index = numberOf(sought.function), called = numberOf(sought.call);
  if (sought.function && index >= 0) changes.function = index;
  if (sought.call && called >= 0 && state.call && state.call.function < 0) changes.call = { ...state.call, function: called };
  if (sought.path.length && !state.difference && sought.path.every(key => numberOf(key) >= 0)) changes.path = sought.path.map(numberOf);
  return changes;
}

function findFunctions() {
  const changes = foundNow();
  if ('function' in changes) sought.function = '';
  if ('call' in changes) sought.call = '';
  if ('path' in changes) sought.path = [];
  Object.assign(state, changes);
  return changes;
}

let asking = null;

// Asks for the names of both recordings' functions, and finds a path of them.
async function askPath() {
  addNames((await source.get('names')).names);
  const path = sought.path.map(key => both.numbers.get(key));
  if (path.includes(undefined)) sought.missing = sought.path[path.indexOf(undefined)];
  sought.path = [];
  setState({ path: path.includes(undefined) ? [] : path });
}

// Whether the flame graph's path is known.
export function findPath() {
  if (sought.path.length && state.difference && !asking) asking = askPath().finally(() => { asking = null; });
  return !sought.path.length;
}

// When all functions are known: functions still sought are not in the recording.
export function endSearch() {
  const { function: f, call, path } = sought;
  const missing = f || call || (state.difference ? '' : path.find(key => numberOf(key) < 0)) || '';
  Object.assign(sought, { function: '', call: '', missing: sought.missing || missing });
  if (!state.difference) sought.path = [];
  if (missing) setState({});
}

export const missingText = () => (sought.missing ? `${shownName(sought.missing.split('\n')[0]).slice(0, 200)} is not in this recording` : '');

function addressOf() {
  const q = new URLSearchParams();
  const s = state;
  if (s.tab !== 'timeline' || recording.info.other) q.set('tab', s.tab);
  if (recording.info.other && !s.difference) q.set('difference', '0');
  if (s.from > 0 || s.to < recording.duration) q.set('at', `${Math.round(s.from)}-${Math.round(s.to)}`);
  if (s.range) q.set('range', s.range.map(Math.round).join('-'));
  if (s.tasks.length) q.set('tasks', s.tasks.map(idOf).join(','));
  if (s.search) q.set('search', s.search);
  if (s.list) q.set('list', '1');
  if (s.others) q.set('others', '1');
  if (s.durations) q.set('durations', s.durations.join('-'));
  if (s.inverse) q.set('inverse', '1');
  if (s.wall) q.set('wall', '1');
  if (s.by === 'calls') q.set('by', 'calls');
  if (s.group) q.set('group', s.group);
  for (const name of ['pinned', 'hidden']) if (s[name].length) q.set(name, s[name].map(trackName).join(','));
  if (s.filter) q.set('filter', s.filter);
  if (s.order) q.set('order', s.order);
  if (s.names) q.set('names', s.names);
  if (!source.keepsNotes) for (const line of s.bookmarks) q.append('bookmark', line);
  for (const key of sought.path.length ? sought.path : s.path.map(keyOfPath)) q.append('path', key);
  const key = s.function >= 0 ? functionOf(s.function).key : sought.function;
  if (key) q.set('function', key);
  if (s.call) q.set('call', [idOf(s.call.task), s.call.depth, s.call.begin, s.call.duration, s.call.function >= 0 ? functionOf(s.call.function).key : sought.call].join(','));
  return `#${q}`;
}

let timer = 0;
let written = '';

// Back and Forward go through what was chosen, and what was in sight: zooms that follow each other fast are one step.
const CHOICES = ['tab', 'tasks', 'call', 'path', 'list', 'durations', 'pinned', 'hidden'], MOVES = ['from', 'to', 'range'];
const SAME_STEP = 700; // ms
const steps = { kind: '', last: '', time: -Infinity };

function noteStep(changes) {
  if (CHOICES.some(key => key in changes)) steps.kind = 'choice';
  else if (MOVES.some(key => key in changes)) steps.kind = steps.kind || 'move';
}

function writeAddress() {
  const address = addressOf(), now = performance.now(), { kind, last, time } = steps;
  steps.kind = '';
  if (address === location.hash) return;
  written = address;
  if (kind === 'choice' || (kind && (last !== 'move' || now - time > SAME_STEP))) history.pushState(null, '', written);
  else history.replaceState(null, '', written);
  if (kind) Object.assign(steps, { last: kind, time: now });
}

// Changes some of the state and tells everybody.
export function setState(changes) {
  if ('function' in changes) sought.function = '';
  if ('call' in changes) sought.call = '';
  if ('path' in changes) sought.path = [];
  Object.assign(state, changes);
  noteStep(changes);
  for (const listener of listeners) listener(changes);
  clearTimeout(timer);
  timer = setTimeout(writeAddress, 150);
}

onFunctions(() => {
  const changes = findFunctions();
  if (Object.keys(changes).length) setState(changes);
});

window.addEventListener('hashchange', () => {
  if (location.hash === written || !recording.info) return;
  written = location.hash;
  clearTimeout(timer);
  readAddress();
  Object.assign(steps, { kind: '', last: '' });
  for (const listener of listeners) listener(state);
});

// Shows a stretch of time, within the recording.
export function setSight(from, to) {
  const end = recording.duration;
  const width = clamp(to - from, Math.min(20, end), end);
  const begin = clamp(from + (to - from - width) / 2, 0, end - width);
  setState({ from: begin, to: begin + width });
}

export const wallParameters = () => (state.wall ? { wall: 1 } : {});

// Parameters of answers about the range and tasks that are summed up.
export function rangeParameters() {
  const p = {};
  if (state.range) {
    p.from = Math.max(0, Math.round(state.range[0]));
    p.to = Math.round(state.range[1]);
  }
  if (state.tasks.length) p.tasks = state.tasks.join(',');
  return { ...p, ...wallParameters() };
}
