/* SPDX-License-Identifier: GPL-2.0-or-later */
// The time line: what the pointer does there, and how it is made.
import { element, clamp, timeText, countText, percentText, neverReturned } from './base.js';
import { recording, functionOf, loadFunctions, source, isLane } from './source.js';
import { state, setState, setSight, onState, endSearch } from './state.js';
import { onTiles, failure } from './tiles.js';
import { laneTip } from './lanes.js';
import { layout, ROW, togglePin, toggleHidden } from './tracks.js';
import { HEAD, SCALE, PIN, HIDE, view, redraw, timeAt, topHeight, stuckHeight } from './plot.js';
import { trackAt, hitAt, markAt } from './hits.js';
import { makeOverview } from './overview.js';

let tip;

function tipLines(x, y) {
  if (view.head >= 0 && x > HEAD - 40) return [x > HEAD - 24 ? 'Hide this track' : state.pinned.includes(view.head) ? 'No longer on top' : 'Pin: keep it on top'];
  const mark = markAt(x, y);
  if (mark) return [mark.text, timeText(mark.time)];
  const hit = view.hover;
  if (!hit) return null;
  if (isLane(hit.task)) return laneTip(hit);
  if (hit.call) {
    const f = functionOf(hit.call.function);
    return [f.name, `${timeText(hit.call.duration)}${neverReturned(hit.call) ? ', open' : ''}${f.module ? ` · ${f.module}` : ''}`];
  }
  const c = hit.cell, f = functionOf(c.function);
  return [`${countText(c.calls)} calls within ${timeText(c.width)}`, `${percentText(c.covered, c.width)} covered, most by ${f.name}`, 'zoom in to see each'];
}

function showTip(x, y) {
  const lines = tipLines(x, y);
  tip.hidden = !lines;
  if (!lines) return;
  tip.replaceChildren(...lines.map((line, i) => element('div', { class: i ? 'dim' : '' }, line.slice(0, 300))));
  const box = view.canvas.parentElement.getBoundingClientRect();
  tip.style.left = `${clamp(x + 14, 0, Math.max(0, box.width - tip.offsetWidth - 8))}px`;
  tip.style.top = `${y + 20 + tip.offsetHeight > box.height ? y - tip.offsetHeight - 8 : y + 20}px`;
}

export function zoomAt(factor, time) {
  const from = time - (time - state.from) * factor;
  setSight(from, from + (state.to - state.from) * factor);
}

export function pan(part) {
  const by = (state.to - state.from) * part;
  setSight(state.from + by, state.to + by);
}

function onWheel(event) {
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 24 : 1, dx = event.deltaX * lines, dy = event.deltaY * lines;
  if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
    pan((Math.abs(dx) > Math.abs(dy) ? dx : dy) / (view.canvas.clientWidth - HEAD));
  } else if (event.altKey || event.offsetX < HEAD) {
    view.scroll += dy;
    redraw();
  } else {
    zoomAt(Math.exp(clamp(dy, -400, 400) * (event.ctrlKey ? 0.01 : 0.0022)), timeAt(event.offsetX));
  }
}

// Fingers that are down, by pointer: where each is; and the times below two of them, which stay there.
const fingers = new Map();
let pinched = null;

function pinch() {
  const [a, b] = [...fingers.keys()].map(id => ({ x: fingers.get(id), time: pinched.get(id) }));
  const per = (b.time - a.time) / (b.x - a.x), from = a.time - (a.x - HEAD) * per;
  if (per > 0 && Number.isFinite(per)) setSight(from, from + (view.canvas.clientWidth - HEAD) * per);
}

function onDown(event) {
  if (event.button !== 0) return;
  view.canvas.setPointerCapture(event.pointerId);
  const x = event.offsetX, y = event.offsetY;
  fingers.set(event.pointerId, x);
  if (fingers.size === 2) {
    pinched = new Map([...fingers].map(([id, at]) => [id, timeAt(at)]));
    view.drag = null;
    tip.hidden = true;
  }
  if (fingers.size > 1) return;
  const kind = x < HEAD ? 'head' : event.shiftKey || y < SCALE ? 'range' : 'pan';
  view.drag = { kind, x, y, from: state.from, to: state.to, scroll: view.scroll, time: timeAt(x), moved: false };
}

function onMove(event) {
  const x = event.offsetX, y = event.offsetY, d = view.drag;
  if (fingers.has(event.pointerId)) fingers.set(event.pointerId, x);
  if (pinched) {
    if (fingers.size === 2) pinch();
    return;
  }
  if (!d) {
    view.hover = hitAt(x, y);
    view.head = x < HEAD && trackAt(y) ? trackAt(y).track.task : -1;
    view.canvas.style.cursor = x < HEAD ? 'default' : y < SCALE ? 'col-resize' : view.hover && view.hover.call ? 'pointer' : 'default';
    showTip(x, y);
    redraw();
    return;
  }
  d.moved = d.moved || Math.abs(x - d.x) + Math.abs(y - d.y) > 4;
  if (!d.moved) return;
  tip.hidden = true;
  if (d.kind === 'range') {
    const time = clamp(timeAt(x), 0, recording.duration);
    setState({ range: [Math.min(d.time, time), Math.max(d.time, time)] });
  } else if (d.kind === 'pan') {
    const by = (d.x - x) * (d.to - d.from) / (view.canvas.clientWidth - HEAD);
    view.scroll = d.scroll + d.y - y;
    setSight(d.from + by, d.to + by);
  }
}

function liftFinger(event) {
  fingers.delete(event.pointerId);
  if (!fingers.size) pinched = null;
  if (event.type === 'pointercancel') view.drag = null;
}

function onUp(event) {
  const d = view.drag;
  if (d) onMove(event); // a busy page may have got no move to here
  liftFinger(event);
  view.drag = null;
  if (!d || d.moved) return;
  if (d.kind === 'head') clickHead(event);
  else if (d.kind === 'range') setState({ range: null });
  else clickCall(event);
}

function clickHead(event) {
  const at = trackAt(event.offsetY);
  if (!at) return;
  const task = at.track.task;
  if (Math.abs(event.offsetX - (HEAD - PIN - 4)) < 9) {
    togglePin(task);
    return;
  }
  if (Math.abs(event.offsetX - (HEAD - HIDE - 4)) < 9) {
    toggleHidden(task);
    return;
  }
  if (isLane(task)) return;
  if (event.offsetX < 22) {
    setState({ open: { ...state.open, [task]: !at.track.open } });
    return;
  }
  const more = event.ctrlKey || event.metaKey || event.shiftKey;
  const others = state.tasks.filter(t => t !== task);
  if (state.tasks.includes(task)) setState({ tasks: more ? others : [] });
  else setState({ tasks: more ? [...state.tasks, task] : [task] });
}

// The task of a run, or none, where it is chosen already; its track is in sight then.
export function chooseTask(task) {
  if (task < 0) return;
  const isChosen = state.tasks.length === 1 && state.tasks[0] === task;
  setState({ tasks: isChosen ? [] : [task] });
  if (!isChosen) scrollTo({ task, depth: 0 });
}

function clickCall(event) {
  const hit = hitAt(event.offsetX, event.offsetY);
  if (hit && hit.call && isLane(hit.task)) chooseTask(hit.depth === 0 ? hit.call.function : hit.call.in);
  else if (hit && hit.call) setState({ call: hit.call, function: hit.call.function });
  else if (hit && hit.cell) setSight(hit.cell.begin - 20 * hit.cell.width, hit.cell.begin + 21 * hit.cell.width);
  else setState({ call: null });
}

function onDouble(event) {
  const hit = hitAt(event.offsetX, event.offsetY);
  if (hit && hit.call) showCall(hit.call);
  else if (event.offsetX < HEAD && trackAt(event.offsetY) && !trackAt(event.offsetY).track.lane) {
    const track = trackAt(event.offsetY).track;
    setState({ open: { ...state.open, [track.task]: !track.open } });
  }
}

// Zooms to a call; opens its track and scrolls to it.
export function showCall(call, exact = true) {
  const margin = Math.max(call.duration * (exact ? 0.12 : 2), 10);
  const open = { ...state.open, [call.task]: true };
  if (!isLane(call.task)) setState({ call, function: call.function, open, tab: 'timeline' });
  setSight(call.begin - margin, call.begin + call.duration + margin);
  scrollTo(call);
}

export function scrollTo(call) {
  layout.make();
  const item = layout.items.find(i => i.track && i.track.task === call.task);
  if (!item) return;
  const room = view.canvas.clientHeight - topHeight(), y = item.y + (item.track.open ? call.depth * ROW : 0), stuck = stuckHeight();
  if (item.pinned && stuck) return;
  if (y < view.scroll + stuck || y + ROW > view.scroll + room) view.scroll = y - stuck - (room - stuck) / 3;
  redraw();
}

// ---- making --------------------------------------------------------------------------------

async function loadMarks() {
  const got = await source.get('marks');
  const lines = [];
  for (let i = 0; i < got.console.length; i += 2) lines.push({ time: got.console[i], text: got.console[i + 1] });
  view.marks.console = lines;
  view.marks.notes = got.notes.map(([time, task, value, name]) => ({ time, task, lost: name === 1,
    text: name === 1 ? `${value ? countText(value) : 'some'} records are lost` : name || `event ${value}` }));
  setState({});
}

// Until the recording has been read: what there is so far.
async function watchProgress() {
  while (recording.tracks.progress < 1000) {
    await new Promise(done => setTimeout(done, 100));
    recording.tracks = await source.get('tracks');
    if (recording.tracks.functions > recording.functions.length) await loadFunctions();
    setState({});
  }
  endSearch();
  await loadMarks();
}

// A filter of tracks by name, over the begin of the overview.
function makeFilter() {
  const box = element('input', { type: 'search', class: 'filter', placeholder: 'Tracks', 'aria-label': 'Only tracks of this name', title: 'Only tracks with this in their name, or a glob (*, ?)',
    spellcheck: 'false', autocomplete: 'off', oninput: () => setState({ filter: box.value }),
    onkeydown: event => {
      if (event.key === 'Escape') setState({ filter: box.value = '' });
      if (event.key === 'Escape' || event.key === 'Enter') view.canvas.focus();
    } });
  onState(() => { if (document.activeElement !== box && box.value !== state.filter) box.value = state.filter; });
  return box;
}

// `outline`: the calls in sight in another form; `strip` and `divider` stand above the tracks, and right of their names.
export function makeTimeline(outline, strip, divider) {
  view.canvas = element('canvas', { class: 'tracks', tabindex: '0', role: 'img', 'aria-label': 'Time line of calls; a tree of them comes next' });
  tip = element('div', { class: 'tip', hidden: true });
  const c = view.canvas;
  c.addEventListener('wheel', onWheel, { passive: false });
  c.addEventListener('pointerdown', onDown);
  c.addEventListener('pointermove', onMove);
  c.addEventListener('pointerup', onUp);
  c.addEventListener('pointercancel', liftFinger);
  c.addEventListener('pointerleave', () => { view.hover = null; view.head = -1; tip.hidden = true; redraw(); });
  c.addEventListener('dblclick', onDouble);
  onTiles(redraw);
  onState(redraw);
  new ResizeObserver(redraw).observe(c);
  loadFunctions().then(() => setState({ search: state.search })).then(watchProgress).catch(error => { failure.text = error.message; redraw(); });
  return element('div', { class: 'timeline' }, makeOverview(), makeFilter(), strip, element('div', { class: 'plot' }, c, tip, outline), divider);
}
