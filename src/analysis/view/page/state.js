/* SPDX-License-Identifier: GPL-2.0-or-later */
// What the page shows. It stands in the address, so that a link shows the same.
import { clamp } from './base.js';
import { recording } from './source.js';

export const state = {
  tab: 'timeline',
  from: 0, to: 1,        // the time that is in sight
  range: null,           // [from, to]: the time that is summed up
  tasks: [],             // those that are summed up; none: all
  call: null,            // { task, depth, begin, duration, function }
  function: -1,          // whose callers and callees are shown
  search: '',
  inverse: false, by: 'time', waiting: false,
  difference: false,     // flame graph: of both recordings
  path: [],              // flame graph: functions down to the one that fills the width
  group: '',             // what tracks stand below: 'process', 'cpu'; '': what fits
  open: {},              // track: whether its depths are shown
};

const listeners = [];
export const onState = f => listeners.push(f);

const TABS = ['timeline', 'flame', 'functions', 'modules', 'tasks', 'source', 'difference', 'about'];
// Those that this recording has, in order.
export const tabs = () => TABS.filter(tab => tab !== 'difference' || recording.info.other);

function pairOf(text) {
  const pair = (text || '').split('-').map(Number);
  return pair.length === 2 && pair.every(Number.isFinite) && pair[0] <= pair[1] ? pair : null;
}

const numbersOf = text => (text ? text.split(',').map(Number).filter(Number.isInteger) : []);

export function readAddress() {
  const q = new URLSearchParams(location.hash.slice(1));
  const end = recording.duration;
  const sight = pairOf(q.get('at')) || [0, end];
  const two = Boolean(recording.info.other);
  state.tab = tabs().includes(q.get('tab')) ? q.get('tab') : two ? 'flame' : 'timeline';
  state.difference = two && q.get('difference') !== '0';
  state.from = clamp(sight[0], 0, end);
  state.to = clamp(Math.max(sight[1], state.from + 1), 1, Math.max(end, 1));
  state.range = pairOf(q.get('range'));
  state.tasks = numbersOf(q.get('tasks')).filter(task => task >= 0 && task < recording.info.tasks.length);
  state.search = q.get('search') || '';
  state.inverse = q.get('inverse') === '1';
  state.waiting = q.get('waiting') === '1';
  state.by = q.get('by') === 'calls' ? 'calls' : 'time';
  state.group = ['cpu', 'process'].includes(q.get('group')) ? q.get('group') : '';
  state.path = numbersOf(q.get('path'));
  state.function = q.has('function') ? Number(q.get('function')) : -1;
  const call = numbersOf(q.get('call'));
  state.call = call.length === 5 ? { task: call[0], depth: call[1], begin: call[2], duration: call[3], function: call[4] } : null;
}

function addressOf() {
  const q = new URLSearchParams();
  const s = state;
  if (s.tab !== 'timeline' || recording.info.other) q.set('tab', s.tab);
  if (recording.info.other && !s.difference) q.set('difference', '0');
  if (s.from > 0 || s.to < recording.duration) q.set('at', `${Math.round(s.from)}-${Math.round(s.to)}`);
  if (s.range) q.set('range', s.range.map(Math.round).join('-'));
  if (s.tasks.length) q.set('tasks', s.tasks.join(','));
  if (s.search) q.set('search', s.search);
  if (s.inverse) q.set('inverse', '1');
  if (s.waiting) q.set('waiting', '1');
  if (s.by === 'calls') q.set('by', 'calls');
  if (s.group) q.set('group', s.group);
  if (s.path.length) q.set('path', s.path.join(','));
  if (s.function >= 0) q.set('function', s.function);
  if (s.call) q.set('call', [s.call.task, s.call.depth, s.call.begin, s.call.duration, s.call.function].join(','));
  return `#${q}`;
}

let timer = 0;
let written = '';

// Changes some of the state and tells everybody.
export function setState(changes) {
  Object.assign(state, changes);
  for (const listener of listeners) listener(changes);
  clearTimeout(timer);
  timer = setTimeout(() => {
    written = addressOf();
    history.replaceState(null, '', written);
  }, 150);
}

window.addEventListener('hashchange', () => {
  if (location.hash === written || !recording.info) return;
  readAddress();
  for (const listener of listeners) listener(state);
});

// Shows a stretch of time, within the recording.
export function setSight(from, to) {
  const end = recording.duration;
  const width = clamp(to - from, Math.min(20, end), end);
  const begin = clamp(from + (to - from - width) / 2, 0, end - width);
  setState({ from: begin, to: begin + width });
}

// Parameters of answers about the range and tasks that are summed up.
export function rangeParameters() {
  const p = {};
  if (state.range) {
    p.from = Math.max(0, Math.round(state.range[0]));
    p.to = Math.round(state.range[1]);
  }
  if (state.tasks.length) p.tasks = state.tasks.join(',');
  return p;
}
