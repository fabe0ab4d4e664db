/* SPDX-License-Identifier: GPL-2.0-or-later */
// Lanes of vCPUs, which are tracks behind those of tasks: a slice at depth 0 is a run, its function the task's index; at
// depth 1 a handler in it. And the strip of a task's track: when it runs, when it is suspended.
import { clamp, timeText, exactTime, countText, percentText } from './base.js';
import { recording, functionOf, taskTitle, isLane } from './source.js';
import { state } from './state.js';
import { theme, nameColor, fitText } from './colors.js';
import { tileAt, standIn } from './tiles.js';

export const LANE = 16; // height of a lane's runs
export const HANDLER = 6;      // of the handlers, over the lower part of these
const STRIP = 2, MOST_MOVES = 3000, OTHERS = 0.2;

// vCPUs on which tasks have run, as tracks.
export const lanes = () => recording.tracks.lanes.map(([calls, first, last, deepest], vcpu) => ({ task: recording.info.tasks.length + vcpu, lane: true, calls, first, last, deepest }))
  .filter(lane => lane.calls > 0);

// Linux has an idle task a vCPU.
export const isIdle = task => /^swapper(\/\d+)?$/.test(recording.info.tasks[task].name);

function taskColor(task) {
  if (isIdle(task)) return theme.idle;
  const { name, id } = recording.info.tasks[task];
  return nameColor(`${id} ${name}`, ''); // threads have like names, and should not have like colours
}

// Tasks whose runs are not dimmed: that under the pointer, else those that are chosen, else the selected call's; null: all.
export function chosenTasks(hover, head) {
  if (hover && isLane(hover.task)) {
    const run = hover.call || hover.cell, task = hover.depth === 0 ? run.function : run.in;
    return task >= 0 ? new Set([task]) : null;
  }
  if (head >= 0 && !isLane(head)) return new Set([head]);
  if (state.tasks.length) return new Set(state.tasks);
  return state.call ? new Set([state.call.task]) : null;
}

// ---- drawing -------------------------------------------------------------------------------

// `place`: { xOf, left, right, chosen }.
const edgesOf = (s, i, place) => [Math.max(place.xOf(s[i]), place.left), Math.min(place.xOf(s[i] + s[i + 1]), place.right)];
const isDim = (place, task) => place.chosen !== null && !place.chosen.has(task);

function drawLaneCells(c, y, tile, clip, place) {
  const width = 2 ** tile.exp, s = tile.cells;
  for (let i = 0; i < s.length; i += 5) {
    const x0 = Math.max(place.xOf(s[i] * width), clip[0]), x1 = Math.min(place.xOf((s[i] + 1) * width), clip[1]);
    if (x1 <= x0) continue;
    const run = s[i + 2] === 0;
    c.globalAlpha = (0.3 + 0.6 * clamp(s[i + 1] / width, 0, 1)) * (run && isDim(place, s[i + 3]) ? OTHERS : 1);
    c.fillStyle = run ? taskColor(s[i + 3]) : theme.handler;
    c.fillRect(x0, run ? y : y + LANE - HANDLER, x1 - x0 + 0.25, (run ? LANE : HANDLER) - 1);
  }
}

function drawRuns(c, y, s, from, place) {
  for (let i = 0; i < s.length; i += 5) {
    const [x0, x1] = edgesOf(s, i, place), task = s[i + 3];
    if (s[i] < from || s[i + 2] !== 0 || x1 < x0) continue;
    const width = Math.max(x1 - x0, 0.6), inside = width > 3 ? width - 0.7 : width;
    c.globalAlpha = isDim(place, task) ? OTHERS : 1;
    c.fillStyle = taskColor(task);
    c.fillRect(x0, y, inside, LANE - 1);
    const text = inside > 22 && !isIdle(task) ? fitText(c, taskTitle(task), inside - 6) : '';
    c.fillStyle = theme.strong;
    if (text) c.fillText(text, x0 + 3, y + LANE / 2);
  }
}

function drawHandlers(c, y, s, from, place) {
  c.globalAlpha = place.chosen === null ? 1 : OTHERS;
  c.fillStyle = theme.handler;
  for (let i = 0; i < s.length; i += 5) {
    const [x0, x1] = edgesOf(s, i, place);
    if (s[i] >= from && s[i + 2] === 1 && x1 >= x0) c.fillRect(x0, y + LANE - HANDLER, Math.max(x1 - x0, 0.6), HANDLER - 1);
  }
}

// A slice of several tiles is drawn once: those that begin at `from` or later.
export function drawLane(c, y, tile, clip, from, place) {
  drawLaneCells(c, y, tile, clip, place);
  drawRuns(c, y, tile.slices, from, place);
  drawHandlers(c, y, tile.slices, from, place);
  c.globalAlpha = 1;
}

// The tiles in sight of a track.
function* tilesOf(track, sight) {
  for (let n = sight.first; n <= sight.last; n++) {
    const tile = tileAt(sight.exp, n, track) || standIn(sight.exp, n, track);
    if (tile) yield tile;
  }
}

// Runs in sight of one task on all of the lanes, in order of time: [{ begin, end, lane }].
export function runsOf(task, list, sight) {
  const runs = new Map();
  for (const lane of list)
    for (const { slices: s } of tilesOf(lane, sight))
      for (let i = 0; i < s.length; i += 5)
        if (s[i + 2] === 0 && s[i + 3] === task) runs.set(s[i], { begin: s[i], end: s[i] + s[i + 1], lane });
  return [...runs.values()].sort((a, b) => a.begin - b.begin);
}

// Lines from a run to the next one on another vCPU, of tasks that are chosen; `tops`: where each lane is.
export function drawMoves(c, tops, sight, place) {
  if (place.chosen === null || tops.size < 2) return;
  c.strokeStyle = theme.select;
  c.lineWidth = 1;
  c.beginPath();
  for (const task of place.chosen) {
    const runs = runsOf(task, [...tops.keys()], sight);
    for (let i = 1; i < Math.min(runs.length, MOST_MOVES); i++) {
      const a = runs[i - 1], b = runs[i], down = tops.get(b.lane) > tops.get(a.lane);
      if (a.lane === b.lane || place.xOf(b.begin) < place.left || place.xOf(a.end) > place.right) continue;
      c.moveTo(Math.max(place.left, place.xOf(a.end)), tops.get(a.lane) + (down ? LANE : 0));
      c.lineTo(Math.min(place.right, place.xOf(b.begin)), tops.get(b.lane) + (down ? 0 : LANE));
    }
  }
  c.stroke();
}

// Whether it is known when tasks do not run.
const hasStates = () => recording.tracks.suspended.some(n => n > 0);

// Above a task's calls: it runs, or it is suspended. What is summed up is mixed.
export function drawStrip(c, track, y, tiles, place) {
  if (!hasStates()) return;
  const x0 = Math.max(place.left, place.xOf(track.first)), x1 = Math.min(place.right, place.xOf(track.last));
  if (x1 <= x0) return;
  c.fillStyle = theme.runs;
  c.fillRect(x0, y - STRIP, x1 - x0, STRIP);
  c.fillStyle = theme.asleep;
  for (const tile of tiles) {
    const s = tile.slices, cells = tile.cells, width = 2 ** tile.exp;
    for (let i = 0; i < s.length; i += 5) {
      const [from, to] = edgesOf(s, i, place);
      if (functionOf(s[i + 3]).suspended && to > from) c.fillRect(from, y - STRIP, to - from, STRIP);
    }
    for (let i = 0; i < cells.length; i += 5) {
      if (!functionOf(cells[i + 3]).suspended) continue;
      const from = Math.max(place.left, place.xOf(cells[i] * width)), to = Math.min(place.right, place.xOf((cells[i] + 1) * width));
      c.globalAlpha = clamp(cells[i + 1] / width, 0, 1);
      if (to > from) c.fillRect(from, y - STRIP, to - from, STRIP);
      c.globalAlpha = 1;
    }
  }
}

// ---- words ---------------------------------------------------------------------------------

// What a run, or a handler, of a lane is.
export function laneText(call) {
  const what = call.depth === 0 ? taskTitle(call.function) : functionOf(call.function).name;
  return `${what}, ${timeText(call.duration)} on ${taskTitle(call.task)}, at ${exactTime(call.begin)}`;
}

export function laneTip(hit) {
  const vcpu = taskTitle(hit.task);
  if (hit.cell) {
    const { calls, width, covered, function: most } = hit.cell;
    return [`${countText(calls)} ${hit.depth === 0 ? 'runs' : 'handlers'} on ${vcpu} within ${timeText(width)}`,
      `${percentText(covered, width)} covered, most by ${hit.depth === 0 ? taskTitle(most) : functionOf(most).name}`, 'zoom in to see each'];
  }
  const { begin, duration, function: of } = hit.call;
  const lines = hit.depth === 0 ? [taskTitle(of), `${isIdle(of) ? 'idle' : 'runs'} ${timeText(duration)} on ${vcpu}`]
    : [functionOf(of).name, `handler, ${timeText(duration)} on ${vcpu}${hit.call.in >= 0 ? `, in ${taskTitle(hit.call.in)}` : ''}`];
  return [...lines, `${exactTime(begin)} to ${exactTime(begin + duration)}`];
}
