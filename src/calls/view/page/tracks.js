/* SPDX-License-Identifier: GPL-2.0-or-later */
// Which tracks there are, and where: a track a task, below its process or its vCPU where there are several.
import { recording, taskTitle, isLane } from './source.js';
import { state, setState } from './state.js';
import { baseName, countText, shownName, matcher } from './base.js';
import { lanes, LANE } from './lanes.js';

export const ROW = 16, SMALL_ROW = 4, SMALL_ROWS = 5;
const GROUP = 20, PINNED = -2, LANES = -1, MOST_ROWS = 1024, OPEN_TASKS = 2, OPEN_CALLS = 20000;

// Tasks that have calls, with the most first.
export function tracks() {
  return recording.tracks.tasks.map(([calls, first, last, deepest], task) => ({ task, calls, first, last, deepest }))
    .filter(t => t.calls > 0).sort((a, b) => b.calls - a.calls);
}

// vCPUs are above them.
const allTracks = () => [...lanes(), ...tracks()];

// vCPU and privilege level of a machine's task, which its name has: "cpu0", "cpu1 NS-EL1". What runs there: a user's
// programs, a kernel, or firmware and what else is above kernels; '' where the level is not known.
const LEVELS = [[/^(NS-|S-|R-)?EL0$|^V?U$|^Ring3$/, 'user'], [/^(NS-|R-)?EL1$|^V?S$|^Ring0$/, 'kernel'], [/./, 'above']];

export function levelOf(task) {
  const [, cpu, level] = /^cpu(\d{1,4})(?: (.+))?$/.exec(isLane(task) ? '' : recording.info.tasks[task].name) || [];
  if (cpu === undefined) return null;
  return { cpu: Number(cpu), level: level || '', kind: level ? LEVELS.find(([pattern]) => pattern.test(level))[1] : '' };
}

// Whether tracks stand below their vCPU, not their process: as chosen, or where several tasks are of one vCPU.
export const byCpu = () => (state.group ? state.group === 'cpu' : tracks().some(track => (levelOf(track.task) || {}).level));

// Tracks that are shown: hidden ones, and names that the filter does not have, are left out.
function shownTracks() {
  const text = state.filter.trim(), matches = text ? matcher(text) : null;
  return allTracks().filter(({ task }) => !state.hidden.includes(task) && (!matches || state.pinned.includes(task) || matches(taskTitle(task)) || matches(groupOf({ task }).title)));
}

export const hiddenCount = () => allTracks().length - shownTracks().length;

const changeList = (name, task) => ({ [name]: state[name].includes(task) ? state[name].filter(t => t !== task) : [...state[name], task] });
export const togglePin = task => setState(changeList('pinned', task));
export const toggleHidden = task => setState(changeList('hidden', task));

// What a track stands below: its order among others, and its title.
function groupOf(track) {
  if (state.pinned.includes(track.task)) return { key: PINNED, title: 'Pinned' };
  if (isLane(track.task)) return { key: LANES, title: `vCPUs${recording.tracks.left_out ? ` · ${countText(recording.tracks.left_out)} runs and handlers left out: zoom in` : ''}` };
  const of = byCpu() ? levelOf(track.task) : null;
  if (of) return { key: of.cpu, title: `vCPU ${of.cpu}` };
  const index = recording.info.tasks[track.task].process, p = recording.info.processes[index];
  return { key: 1e6 + index, title: p ? `${shownName(baseName(p.program)) || 'process'} · ${p.pid}` : 'process' };
}

// How long each task ran, by its index; null: it is not known yet.
export const trackTimes = { ran: null, asked: false };

const ORDER = {
  name: (a, b) => taskTitle(a.task).localeCompare(taskTitle(b.task), 'en', { numeric: true }),
  ran: (a, b) => (trackTimes.ran ? (trackTimes.ran.get(b.task) || 0) - (trackTimes.ran.get(a.task) || 0) : 0),
  first: (a, b) => a.first - b.first,
};
const compareTracks = (a, b) => (ORDER[state.order] ? ORDER[state.order](a, b) : 0) || a.task - b.task;

// Groups in the order of their first tracks, where tracks have one; those that are pinned are on top.
function compareGroups(a, b) {
  if (!state.order || byCpu() || a.key < 0 || b.key < 0) return a.key - b.key;
  return compareTracks(a.tracks[0], b.tracks[0]);
}

// A few of the busiest tracks are open from the beginning, all where they are few.
function isOpen(track, rank, n) {
  if (state.open[track.task] !== undefined) return state.open[track.task];
  return n <= 3 || (rank < OPEN_TASKS && track.calls > OPEN_CALLS);
}

export const layout = {
  items: [], height: 0,
  pinned: 0, // height of the tracks that stay on top

  // Items from top to bottom: { y, height, track } or { y, height, title }.
  make() {
    const list = shownTracks();
    for (const lane of list.filter(track => track.lane)) Object.assign(lane, { open: true, rows: 1 });
    list.filter(track => !track.lane).forEach((track, rank, { length }) => {
      track.open = isOpen(track, rank, length);
      track.rows = Math.min(MOST_ROWS, track.open ? Math.max(1, track.deepest) : Math.min(track.deepest, SMALL_ROWS));
    });
    const groups = new Map();
    for (const track of list) {
      const { key, title } = groupOf(track);
      if (!groups.has(key)) groups.set(key, { key, title, tracks: [] });
      groups.get(key).tracks.push(track);
    }
    this.items = [];
    let y = 4;
    this.pinned = 0;
    for (const group of groups.values()) group.tracks.sort(compareTracks);
    for (const group of [...groups.values()].sort(compareGroups)) {
      const pinned = group.key === PINNED;
      if (groups.size > 1 || pinned) {
        this.items.push({ y, height: GROUP, title: group.title, pinned });
        y += GROUP;
      }
      for (const track of group.tracks) {
        const height = track.lane ? LANE + 4 : track.open ? track.rows * ROW + 6 : Math.max(track.rows, SMALL_ROWS) * SMALL_ROW + 4;
        this.items.push({ y, height, track, pinned });
        y += height;
      }
      if (pinned) this.pinned = y;
    }
    this.height = y + 20;
  },
};
