/* SPDX-License-Identifier: GPL-2.0-or-later */
// What of the time line is at a place: a track, a call or a cell, a mark.
import { clamp } from './base.js';
import { levelList, tileAt, standIn } from './tiles.js';
import { LANE, HANDLER } from './lanes.js';
import { layout, ROW, SMALL_ROW } from './tracks.js';
import { HEAD, SCALE, view, nsPerPixel, timeAt, xOf, topHeight, sightTiles, spanOf, itemTop, stuckHeight } from './plot.js';

// The track at a height of the canvas, and the depth there.
export function trackAt(y) {
  const isStuck = y < topHeight() + stuckHeight();
  const item = layout.items.find(i => y >= itemTop(i) && y < itemTop(i) + i.height && (!isStuck || i.pinned));
  if (!item || !item.track || y < topHeight()) return null;
  const depth = Math.floor((y - itemTop(item)) / (item.track.open ? ROW : SMALL_ROW));
  const isLow = item.track.lane && y - itemTop(item) >= LANE - HANDLER;
  return { track: item.track, depth: depth < item.track.rows ? depth : -1, isLow };
}

// The call, or the cell, of a task and depth at a time.
export function callAt(task, depth, time) {
  const sight = sightTiles(), number = clamp(Math.floor(time / sight.span), sight.first, sight.last);
  const tile = tileAt(sight.exp, number, task) || standIn(sight.exp, number, task);
  if (!tile) return null;
  const near = nsPerPixel() * 1.5;
  let best = null, distance = near;
  const s = tile.slices;
  for (let i = 0; i < s.length; i += 5) {
    if (s[i + 2] !== depth) continue;
    const off = time < s[i] ? s[i] - time : Math.max(0, time - s[i] - s[i + 1]);
    if (off > distance || (best && off === distance)) continue;
    best = { task, depth, begin: s[i], duration: s[i + 1], function: s[i + 3], flags: s[i + 4] };
    distance = off;
  }
  return best ? { call: best } : cellAt(tile, depth, time);
}

function cellAt(tile, depth, time) {
  const width = 2 ** tile.exp, bin = Math.floor(time / width), s = tile.cells;
  for (let i = 0; i < s.length; i += 5)
    if (s[i + 2] === depth && s[i] === bin)
      return { cell: { begin: bin * width, width, covered: s[i + 1], function: s[i + 3], calls: s[i + 4] } };
  return null;
}

// Calls that a call is in, by depth; null: it is not known. A tile of any level that is there has those that last as
// long as a bin.
export function pathOf(call) {
  const path = new Array(call.depth).fill(null), end = call.begin + call.duration;
  for (const exp of levelList()) {
    const tile = tileAt(exp, Math.floor((call.begin + call.duration / 2) / spanOf(exp)), call.task), s = tile ? tile.slices : [];
    for (let i = 0; i < s.length; i += 5) {
      const depth = s[i + 2];
      if (depth < call.depth && !path[depth] && s[i] <= call.begin && s[i] + s[i + 1] >= end)
        path[depth] = { task: call.task, depth, begin: s[i], duration: s[i + 1], function: s[i + 3], flags: s[i + 4] };
    }
    if (path.every(Boolean)) break;
  }
  return path;
}

// Of a call that an address names: whether it returned, and the like. Undefined: no tile is there that has it.
export function flagsOf({ task, depth, begin, duration }) {
  for (const exp of levelList()) {
    const tile = tileAt(exp, Math.floor((begin + duration / 2) / spanOf(exp)), task), s = tile ? tile.slices : [];
    for (let i = 0; i < s.length; i += 5)
      if (s[i] === begin && s[i + 1] === duration && s[i + 2] === depth) return s[i + 4];
  }
  return undefined;
}

// A handler of a lane; `in`: the task that it is in.
function handlerHit(low, run, task) {
  const of = run && run.call ? run.call.function : -1;
  if (low.call) low.call.in = of;
  else low.cell.in = of;
  return { ...low, task, depth: 1 };
}

export function hitAt(x, y) {
  const at = x >= HEAD ? trackAt(y) : null;
  if (!at || at.depth < 0) return null;
  const time = timeAt(x), hit = callAt(at.track.task, at.depth, time);
  const low = at.isLow ? callAt(at.track.task, 1, time) : null;
  if (low) return handlerHit(low, hit, at.track.task);
  return hit ? { ...hit, task: at.track.task, depth: at.depth } : null;
}

export function markAt(x, y) {
  if (y < SCALE || y >= topHeight() || x < HEAD) return null;
  let best = null, distance = 5;
  for (const m of [...view.marks.console, ...view.marks.notes]) {
    const off = Math.abs(xOf(m.time) - x);
    if (off < distance) { best = m; distance = off; }
  }
  return best;
}
