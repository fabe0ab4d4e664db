/* SPDX-License-Identifier: GPL-2.0-or-later */
// The time line as it is drawn: scale, marks, tracks.
import { clamp, eachFrame, fitCanvas, tickText, timeText, countText } from './base.js';
import { recording, functionOf, source, taskTitle } from './source.js';
import { state } from './state.js';
import { wantedFunctions } from './search.js';
import { theme, colorOf, fitText, drawMessage, FONT } from './colors.js';
import { BINS, levelFor, tileAt, standIn, needTiles, isWaiting, failure } from './tiles.js';
import { drawLane, drawMoves, drawStrip, chosenTasks } from './lanes.js';
import { layout, levelOf, ROW, SMALL_ROW } from './tracks.js';

export let HEAD = 200;     // width of the tracks' names
export const setHead = width => { HEAD = width; };
export const SCALE = 26;
export const PALE = 0.55;  // laid over calls of a suspended task
const MARKS = 22;
export const PIN = 30, HIDE = 12; // what a head with the pointer has, from its right end

export const view = { marks: { console: [], notes: [] }, canvas: null, overview: null, scroll: 0, hover: null, head: -1, drag: null, drawn: 0, waits: false, found: null, after: () => {} };

let found = null; // the functions that the search names; null: none is given

export const nsPerPixel = () => (state.to - state.from) / Math.max(1, view.canvas.clientWidth - HEAD);
export const xOf = time => HEAD + (time - state.from) / nsPerPixel();
export const timeAt = x => state.from + (x - HEAD) * nsPerPixel();
// The height above the tracks.
export const topHeight = () => SCALE + (view.marks.console.length || view.marks.notes.length ? MARKS : 0);

function drawSlice(c, track, y, height, s, i, clip) {
  const depth = s[i + 2];
  if (depth >= track.rows) return;
  const x0 = Math.max(xOf(s[i]), clip[0]), x1 = Math.min(xOf(s[i] + s[i + 1]), clip[1]);
  if (x1 < clip[0] || x0 > clip[1]) return;
  const width = Math.max(x1 - x0, 0.6), at = y + depth * height;
  const inside = width > 3 && height >= ROW ? width - 0.7 : width;
  c.globalAlpha = found && !found.has(s[i + 3]) ? 0.22 : 1;
  c.fillStyle = colorOf(s[i + 3]);
  c.fillRect(x0, at, inside, height - (height >= ROW ? 1 : 0));
  if (height >= ROW && inside > 22) labels.push([s[i + 3], x0, at, inside]);
}

// While a task is suspended, the calls that it is in are pale: nothing of them runs.
function drawSuspended(c, track, y, height, s, i, clip) {
  if (!functionOf(s[i + 3]).suspended) return;
  const x0 = Math.max(xOf(s[i]), clip[0]), x1 = Math.min(xOf(s[i] + s[i + 1]), clip[1]);
  if (x1 <= x0) return;
  c.globalAlpha = PALE;
  c.fillStyle = theme.back;
  c.fillRect(x0, y, x1 - x0, Math.min(s[i + 2], track.rows) * height);
}

let labels = [];

function drawLabels(c) {
  for (const [index, x, y, width] of labels) {
    const f = functionOf(index), text = fitText(c, f.name, width - 6);
    c.globalAlpha = found && !found.has(index) ? 0.22 : 1;
    c.fillStyle = f.suspended ? theme.dim : theme.strong;
    if (text) c.fillText(text, x + 3, y + ROW / 2);
  }
  labels = [];
}

function drawCells(c, track, y, height, tile, clip) {
  const width = 2 ** tile.exp, s = tile.cells;
  for (let i = 0; i < s.length; i += 5) {
    if (s[i + 2] >= track.rows) continue;
    const x0 = Math.max(xOf(s[i] * width), clip[0]), x1 = Math.min(xOf((s[i] + 1) * width), clip[1]);
    if (x1 <= x0) continue;
    const covered = clamp(s[i + 1] / width, 0, 1);
    c.globalAlpha = (0.3 + 0.6 * covered) * (found && !found.has(s[i + 3]) ? 0.25 : 1);
    c.fillStyle = colorOf(s[i + 3]);
    c.fillRect(x0, y + s[i + 2] * height, x1 - x0 + 0.25, height - (height >= ROW ? 1 : 0));
  }
}

// A slice of several tiles is drawn once: with the tile in which it begins, or the first one in sight.
function drawTile(c, track, y, tile, clip, from) {
  const height = track.open ? ROW : SMALL_ROW, all = [HEAD, view.canvas.clientWidth];
  drawCells(c, track, y, height, tile, clip);
  const s = tile.slices;
  for (let i = 0; i < s.length; i += 5) if (s[i] >= from) drawSlice(c, track, y, height, s, i, all);
  for (let i = 0; i < s.length; i += 5) if (s[i] >= from) drawSuspended(c, track, y, height, s, i, all);
}

export const spanOf = exp => BINS * 2 ** exp;

export function sightTiles() {
  const exp = levelFor(nsPerPixel()), span = spanOf(exp);
  const end = Math.floor(recording.duration / span);
  return { exp, span, first: clamp(Math.floor(state.from / span), 0, end), last: clamp(Math.floor(state.to / span), 0, end) };
}

function drawTrack(c, track, y, sight, width) {
  const place = { xOf, left: HEAD, right: width, chosen: track.lane ? chosenTasks(view.hover, view.head) : null }, tiles = [];
  for (let n = sight.first; n <= sight.last; n++) {
    const clip = [Math.max(HEAD, xOf(n * sight.span)), Math.min(width, xOf((n + 1) * sight.span))];
    const tile = tileAt(sight.exp, n, track.task) || standIn(sight.exp, n, track.task);
    const from = n === sight.first ? -Infinity : n * sight.span;
    if (tile) tiles.push(tile);
    if (tile && track.lane) drawLane(c, y, tile, clip, from, place);
    else if (tile) drawTile(c, track, y, tile, clip, from);
  }
  drawLabels(c);
  c.globalAlpha = 1;
  if (!track.lane) drawStrip(c, track, y, tiles, place);
}

// Where records of a task were lost, its calls are not all there.
function drawLost(c, track, y, height) {
  c.fillStyle = theme.lost;
  for (const n of view.marks.notes)
    if (n.lost && n.task === track.task && n.time >= state.from && n.time <= state.to) c.fillRect(xOf(n.time) - 0.75, y - 2, 1.5, height);
}

// The name stays in sight as long as something of the track does.
function drawHead(c, track, y, height) {
  const chosen = state.tasks.includes(track.task);
  c.fillStyle = theme.panel;
  c.fillRect(0, y - 2, HEAD - 1, height);
  if (chosen) {
    c.fillStyle = theme.accent;
    c.fillRect(0, y - 2, 3, height);
  }
  const level = levelOf(track.task);
  if (level && level.kind) {
    c.fillStyle = theme[level.kind];
    c.fillRect(HEAD - 5, y - 2, 4, height);
  }
  const at = Math.min(Math.max(y, topHeight() + 2), y + height - 18) + 8;
  c.fillStyle = theme.dim;
  if (!track.lane) c.fillText(track.open ? '▾' : '▸', 9, at);
  c.fillStyle = chosen ? theme.accent : theme.text;
  c.fillText(fitText(c, taskTitle(track.task), HEAD - 84), 24, at);
  c.fillStyle = theme.dim;
  c.textAlign = 'right';
  if (view.head === track.task) {
    c.fillStyle = state.pinned.includes(track.task) ? theme.accent : theme.text;
    c.fillText('⇱', HEAD - PIN, at);
    c.fillStyle = theme.text;
    c.fillText('×', HEAD - HIDE, at);
  } else c.fillText(shortCount(track.calls), HEAD - 9, at);
  c.textAlign = 'left';
}

function shortCount(n) {
  if (n >= 1e6) return `${(n / 1e6).toFixed(n >= 1e7 ? 0 : 1)} M`;
  return n >= 1e4 ? `${(n / 1e3).toFixed(0)} k` : countText(n);
}

function drawGroup(c, item, y, width) {
  c.fillStyle = theme.panel;
  c.fillRect(0, y, width, 18);
  c.fillStyle = theme.dim;
  c.fillText(fitText(c, item.title, width - 20), 9, y + 9);
}

// Steps of 1, 2 or 5 whose ticks are at least `room` pixels apart.
function stepFor(perPixel, room) {
  const least = perPixel * room, ten = 10 ** Math.floor(Math.log10(least));
  return Math.max(1, [1, 2, 5, 10].map(n => n * ten).find(step => step >= least));
}

function drawScale(c, width, height) {
  const step = stepFor(nsPerPixel(), 110);
  c.fillStyle = theme.panel;
  c.fillRect(0, 0, width, SCALE);
  c.strokeStyle = theme.line;
  c.lineWidth = 1;
  c.beginPath();
  const label = rangeLabel(c, width);
  for (let t = Math.ceil(state.from / step) * step; t <= state.to; t += step) {
    const x = Math.round(xOf(t)) + 0.5;
    if (x < HEAD) continue;
    c.moveTo(x, SCALE - 5);
    c.lineTo(x, height);
    c.fillStyle = theme.dim;
    const text = tickText(t, step);
    if (label && x < label.x + label.width + 8 && x + 12 + c.measureText(text).width > label.x) continue;
    c.fillText(text, x + 4, SCALE / 2);
  }
  c.moveTo(0, SCALE - 0.5);
  c.lineTo(width, SCALE - 0.5);
  c.stroke();
  c.fillStyle = theme.panel;
  c.fillRect(0, 0, HEAD - 1, SCALE - 1);
  c.fillStyle = theme.dim;
  c.fillText(`${timeText(state.to - state.from)} in sight`, 9, SCALE / 2);
}

// The first of a sorted list of marks that is not before a time; `of` gives an item's time.
function firstAt(list, time, of) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(list[middle]) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

const markTime = m => m.time;

// A line of the console: right of its mark, or left of it where there is no room. Returns where it ends.
function drawLine(c, line, x, next, until) {
  const left = next - x <= 24 && x - until > 60;
  const text = left || next - x > 24 ? fitText(c, line, (left ? x - until : next - x) - 8) : '';
  const size = text ? c.measureText(text).width : 0;
  c.fillStyle = theme.text;
  if (text) c.fillText(text, left ? x - size - 4 : x + 4, SCALE + MARKS / 2);
  return left ? x : x + size;
}

function drawMarks(c, width) {
  if (topHeight() === SCALE) return;
  c.fillStyle = theme.panel;
  c.fillRect(0, SCALE, width, MARKS);
  const list = view.marks.console;
  let until = HEAD;
  for (let i = firstAt(list, state.from, markTime); i < list.length && list[i].time <= state.to; i++) {
    const x = xOf(list[i].time);
    const next = i + 1 < list.length ? xOf(list[i + 1].time) : width;
    c.fillStyle = theme.mark;
    if (x - until >= 1 || i === 0) c.fillRect(x, SCALE + 3, 1.5, MARKS - 7);
    until = Math.max(until, drawLine(c, list[i].text, x, Math.min(next, width), until));
  }
  for (const n of view.marks.notes) {
    if (n.time < state.from || n.time > state.to) continue;
    c.fillStyle = n.lost ? theme.lost : theme.accent;
    c.fillRect(xOf(n.time), SCALE + 3, 2, MARKS - 7);
  }
  c.fillStyle = theme.panel;
  c.fillRect(0, SCALE, HEAD - 1, MARKS);
  c.fillStyle = theme.dim;
  c.fillText(list.length ? `console, ${countText(list.length)} line${list.length > 1 ? 's' : ''}` : 'events', 9, SCALE + MARKS / 2);
}

const rangeEnds = width => state.range.map(time => clamp(xOf(time), HEAD, width));

// How long the range is, in the middle of it; null: there is no room. The scale leaves its own texts out there.
function rangeLabel(c, width) {
  if (!state.range) return null;
  const [x0, x1] = rangeEnds(width), text = timeText(state.range[1] - state.range[0]), size = c.measureText(text).width;
  return x1 - x0 > size + 4 ? { text, x: (x0 + x1 - size) / 2, width: size } : null;
}

function drawRange(c, width, height) {
  if (!state.range) return;
  const [x0, x1] = rangeEnds(width), label = rangeLabel(c, width);
  c.fillStyle = theme.select;
  c.globalAlpha = 0.16;
  c.fillRect(x0, SCALE, Math.max(1, x1 - x0), height - SCALE);
  c.globalAlpha = 1;
  c.fillRect(x0, 0, 1, height);
  c.fillRect(x1 - 1, 0, 1, height);
  if (label) c.fillText(label.text, label.x, SCALE / 2);
}

// Tracks that are pinned stay on top, unless they take more than half of the height.
export const stuckHeight = () => (layout.pinned < (view.canvas.clientHeight - topHeight()) / 2 ? layout.pinned : 0);
export const itemTop = item => topHeight() + item.y - (item.pinned && stuckHeight() ? 0 : view.scroll);

function drawCall(c, call, color, width) {
  const item = layout.items.find(i => i.track && i.track.task === call.task);
  if (!item || call.depth >= item.track.rows) return;
  const rowHeight = item.track.open ? ROW : SMALL_ROW;
  const y = itemTop(item) + call.depth * rowHeight;
  const x0 = Math.max(HEAD, xOf(call.begin)), x1 = Math.min(width, xOf(call.begin + call.duration));
  if (x1 < HEAD || x0 > width || y < topHeight() + (item.pinned ? 0 : stuckHeight()) - 1) return;
  c.strokeStyle = color;
  c.lineWidth = 2;
  c.strokeRect(x0, y, Math.max(2, x1 - x0), rowHeight - 1);
}

// Those below `top`, from the top of the tracks on.
function drawItems(c, items, top, sight, shown) {
  const width = view.canvas.clientWidth, height = view.canvas.clientHeight, first = topHeight() + top;
  c.restore();
  c.save();
  c.beginPath();
  c.rect(0, first, width, height - first);
  c.clip();
  const lanes = new Map(items.filter(item => item.track && item.track.lane).map(item => [item.track.task, itemTop(item)]));
  for (const item of items) {
    const y = itemTop(item);
    if (y + item.height < first || y > height) continue;
    if (item.title) {
      drawGroup(c, item, y, width);
      continue;
    }
    shown.push(item.track.task);
    drawTrack(c, item.track, y, sight, width);
    drawLost(c, item.track, y, item.height);
    drawHead(c, item.track, y, item.height);
    c.fillStyle = theme.line;
    c.fillRect(0, y + item.height - 3, width, 1);
  }
  drawMoves(c, lanes, sight, { xOf, left: HEAD, right: width, chosen: chosenTasks(view.hover, view.head) });
}

function draw() {
  if (!recording.tracks || !view.canvas || view.canvas.clientWidth < HEAD + 20) return;
  const { context: c, width, height } = fitCanvas(view.canvas);
  layout.make();
  view.scroll = clamp(view.scroll, 0, Math.max(0, layout.height - (height - topHeight())));
  c.font = FONT;
  c.textBaseline = 'middle';
  c.fillStyle = theme.back;
  c.fillRect(0, 0, width, height);
  found = wantedFunctions();
  drawScale(c, width, height);
  const sight = sightTiles(), shown = [];
  c.save();
  drawItems(c, layout.items.filter(item => !item.pinned || !stuckHeight()), stuckHeight(), sight, shown);
  if (stuckHeight()) drawItems(c, layout.items.filter(item => item.pinned), 0, sight, shown);
  if (view.hover && view.hover.call) drawCall(c, view.hover.call, theme.dim, width);
  if (state.call) drawCall(c, state.call, theme.select, width);
  c.restore();
  drawMarks(c, width);
  c.fillStyle = theme.line;
  c.fillRect(HEAD - 1, 0, 1, height);
  drawRange(c, width, height);
  if (failure.text) drawFailure(c, height);
  needTiles(sight.exp, sight.first, sight.last, shown);
  needStandIns(sight.exp, shown);
  view.waits = isWaiting();
  view.drawn++;
  view.after();
}

// Levels finer than the server keeps take it a while: meanwhile the finest level that it keeps is shown.
function needStandIns(exp, shown) {
  const { finest } = recording.tracks, span = spanOf(finest);
  if (source.isRemote && exp < finest) needTiles(finest, Math.floor(state.from / span), Math.floor(state.to / span), shown, true);
}

function drawFailure(c, height) {
  c.fillStyle = theme.lost;
  drawMessage(c, failure.text, HEAD + 10, height - 14, view.canvas.clientWidth - HEAD - 20);
}

export const redraw = eachFrame(draw);
