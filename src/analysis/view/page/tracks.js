/* SPDX-License-Identifier: GPL-2.0-or-later */
// Which tracks there are, and where: a track a task, tasks of several processes below their process.
import { recording } from './source.js';
import { state } from './state.js';
import { baseName, shownName } from './base.js';

export const ROW = 16, SMALL_ROW = 4, SMALL_ROWS = 5;
const GROUP = 20, MOST_ROWS = 1024, OPEN_TASKS = 2, OPEN_CALLS = 20000;

// Tasks that have calls, with the most first.
export function tracks() {
  return recording.tracks.tasks.map(([calls, first, last, deepest], task) => ({ task, calls, first, last, deepest }))
    .filter(t => t.calls > 0).sort((a, b) => b.calls - a.calls);
}

// A few of the busiest tracks are open from the beginning, all where they are few.
function isOpen(track, rank, n) {
  if (state.open[track.task] !== undefined) return state.open[track.task];
  return n <= 3 || (rank < OPEN_TASKS && track.calls > OPEN_CALLS);
}

export const layout = {
  items: [], height: 0,

  // Items from top to bottom: { y, height, track } or { y, height, title }.
  make() {
    const list = tracks();
    list.forEach((track, rank) => {
      track.open = isOpen(track, rank, list.length);
      track.rows = Math.min(MOST_ROWS, track.open ? Math.max(1, track.deepest) : Math.min(track.deepest, SMALL_ROWS));
    });
    const processOf = track => recording.info.tasks[track.task].process;
    const processes = [...new Set(list.map(processOf))].sort((a, b) => a - b);
    this.items = [];
    let y = 4;
    for (const process of processes) {
      if (processes.length > 1) {
        const p = recording.info.processes[process];
        const title = p ? `${shownName(baseName(p.program)) || 'process'} · ${p.pid}` : 'process';
        this.items.push({ y, height: GROUP, title });
        y += GROUP;
      }
      for (const track of list.filter(t => processOf(t) === process).sort((a, b) => a.task - b.task)) {
        const height = track.open ? track.rows * ROW + 6 : Math.max(track.rows, SMALL_ROWS) * SMALL_ROW + 4;
        this.items.push({ y, height, track });
        y += height;
      }
    }
    this.height = y + 20;
  },
};
