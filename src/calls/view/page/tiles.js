/* SPDX-License-Identifier: GPL-2.0-or-later */
// Tiles of the time line: one task's slices and cells in BINS bins of 2^exp ns. They are asked for several at a
// time, and kept; a coarser one stands in until a finer one is there.
import { recording, source, loadFunctions, isLane } from './source.js';

export const BINS = 512;
const MOST = 12000;      // tiles that are kept
const RUN = 6;           // tiles in a row that are asked for at once
const REQUESTS = 4;

const tiles = new Map(); // "exp/number/task"
const waiting = new Map();
let turn = 0;
const watchers = [];
const changed = () => { for (const f of watchers) f(); };
export const failure = { text: '' };

export const onTiles = f => watchers.push(f);

// Exponents of the levels that there are, the finest first.
export function levelList() {
  const { finest, coarsest } = recording.tracks;
  const list = [];
  for (let exp = coarsest; exp >= 0; exp -= 2) list.unshift(exp);
  if (list[0] > 0) list.unshift(0);
  return source.isRemote ? list : list.filter(exp => exp >= finest);
}

// The coarsest level whose bins are not wider than a pixel.
export function levelFor(nsPerPixel) {
  const list = levelList();
  let best = list[0];
  for (const exp of list) if (2 ** exp <= nsPerPixel) best = exp;
  return best;
}

const keyOf = (exp, number, task) => `${exp}/${number}/${task}`;

export function tileAt(exp, number, task) {
  const tile = tiles.get(keyOf(exp, number, task));
  if (tile) tile.used = ++turn;
  return tile;
}

// A coarser tile that covers this one.
export function standIn(exp, number, task) {
  for (const wider of levelList()) {
    if (wider <= exp) continue;
    const tile = tileAt(wider, Math.floor(number / 2 ** (wider - exp)), task);
    if (tile) return tile;
  }
  return null;
}

function evict() {
  const list = [...tiles.entries()].sort((a, b) => a[1].used - b[1].used);
  for (const [key] of list.slice(0, list.length - MOST * 3 / 4)) tiles.delete(key);
}

// An answer for several tiles, as tiles. Times of slices then count from the recording's begin.
function split(got, exp, first, count, tasks) {
  const width = BINS * 2 ** exp, begin = first * width;
  let largest = 0;
  for (let n = 0; n < count; n++)
    for (const task of tasks)
      tiles.set(keyOf(exp, first + n, task), { exp, number: first + n, slices: [], cells: [], used: ++turn, progress: got.progress });
  for (const of of got.tasks) {
    const { slices, cells, task } = of;
    for (let i = 0; i < slices.length; i += 5) {
      const at = slices[i], end = at + slices[i + 1];
      if (!isLane(task) || slices[i + 2]) largest = Math.max(largest, slices[i + 3]);
      const last = Math.min(count - 1, Math.floor(end / width));
      for (let n = Math.max(0, Math.floor(at / width)); n <= last; n++)
        tiles.get(keyOf(exp, first + n, task)).slices.push(begin + at, slices[i + 1], slices[i + 2], slices[i + 3], slices[i + 4]);
    }
    for (let i = 0; i < cells.length; i += 5) {
      const n = Math.floor(cells[i] / BINS);
      if (!isLane(task) || cells[i + 2]) largest = Math.max(largest, cells[i + 3]);
      if (n < count) tiles.get(keyOf(exp, first + n, task)).cells.push(first * BINS + cells[i], cells[i + 1], cells[i + 2], cells[i + 3], cells[i + 4]);
    }
  }
  if (tiles.size > MOST) evict();
  if (largest >= recording.functions.length) loadFunctions().then(changed);
}

async function request(exp, first, count, tasks, stays) {
  const keys = [];
  for (let n = 0; n < count; n++) for (const task of tasks) keys.push(keyOf(exp, first + n, task));
  const control = new AbortController();
  for (const key of keys) waiting.set(key, { control, exp, first, count, stays });
  try {
    const got = await source.get('tiles', { exp, bin: first * BINS, bins: count * BINS, tasks: tasks.join(',') }, control.signal);
    split(got, exp, first, count, tasks);
    failure.text = '';
  } catch (error) {
    if (error.name !== 'AbortError') failure.text = error.message;
  }
  for (const key of keys) waiting.delete(key);
  changed();
}

const isFresh = tile => tile && (tile.progress === 1000 || tile.progress >= recording.tracks.progress);

// Ends requests that nothing in sight needs.
function drop(exp, first, last) {
  const controls = new Set();
  for (const w of waiting.values()) if (!w.stays && (w.exp !== exp || w.first > last || w.first + w.count <= first)) controls.add(w.control);
  for (const control of controls) control.abort();
}

// Asks for the missing tiles of these tasks between two tiles. Other requests end, except those that stay.
export function needTiles(exp, first, last, tasks, stays = false) {
  if (!stays) drop(exp, first, last);
  const end = Math.floor(recording.duration / 2 ** exp / BINS);
  for (let from = first - first % RUN; from <= Math.min(last, end); from += RUN) {
    const count = Math.min(RUN, end - from + 1);
    const missing = tasks.filter(task => {
      for (let n = Math.max(from, first); n < Math.min(from + count, last + 1); n++) {
        const key = keyOf(exp, n, task);
        if (!isFresh(tiles.get(key)) && !waiting.has(key)) return true;
      }
      return false;
    });
    if (missing.length && new Set([...waiting.values()].map(w => w.control)).size < REQUESTS) request(exp, from, count, missing, stays);
  }
}

export const isWaiting = () => waiting.size > 0;
