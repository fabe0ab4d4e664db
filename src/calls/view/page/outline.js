/* SPDX-License-Identifier: GPL-2.0-or-later */
// The calls in sight as a tree, for those who do not see the canvas, or use keys alone: tracks, their calls, what these
// call. It has what the tiles in sight have; calls that are summed up there are counted. It is seen while it has the focus.
import { element, timeText, countText, exactTime, neverReturned } from './base.js';
import { functionOf, taskTitle, isLane } from './source.js';
import { state, setState, onState } from './state.js';
import { laneText } from './lanes.js';
import { layout } from './tracks.js';
import { view, sightTiles, itemTop, topHeight } from './plot.js';
import { onTiles, tileAt, standIn } from './tiles.js';
import { showCall, chooseTask } from './timeline.js';

const MOST_CHILDREN = 300;
const outline = { box: null, items: [], at: '', open: new Set(), timer: 0 };

// Calls of a task in sight, nested: [{ call, children }]; and how many are summed up.
function callsOf(task) {
  const sight = sightTiles(), calls = new Map();
  let summed = 0;
  for (let n = sight.first; n <= sight.last; n++) {
    const tile = tileAt(sight.exp, n, task) || standIn(sight.exp, n, task);
    const s = tile ? tile.slices : [], cells = tile ? tile.cells : [], width = tile ? 2 ** tile.exp : 1;
    for (let i = 0; i < s.length; i += 5)
      if (s[i] <= state.to && s[i] + s[i + 1] >= state.from)
        calls.set(`${s[i]},${s[i + 2]}`, { call: { task, depth: s[i + 2], begin: s[i], duration: s[i + 1], function: s[i + 3], flags: s[i + 4] }, children: [] });
    for (let i = 0; i < cells.length; i += 5) if (cells[i] * width <= state.to && (cells[i] + 1) * width >= state.from) summed += cells[i + 4];
  }
  return { roots: nest([...calls.values()]), summed };
}

function nest(list) {
  const roots = [], open = [];
  list.sort((a, b) => a.call.begin - b.call.begin || a.call.depth - b.call.depth);
  for (const node of list) {
    open.length = Math.min(open.length, node.call.depth);
    const parent = open.slice().reverse().find(n => n && n.call.begin + n.call.duration >= node.call.begin + node.call.duration);
    (parent ? parent.children : roots).push(node);
    open[node.call.depth] = node;
  }
  return roots;
}

function callText({ call }) {
  if (isLane(call.task)) return laneText(call);
  const f = functionOf(call.function);
  return `${f.name}, ${timeText(call.duration)}, at ${exactTime(call.begin)}${neverReturned(call) ? ', open' : ''}`;
}

// Adds an item, and below it, where it is open, its children.
function addItem(list, item) {
  list.push(item);
  if (!item.children.length || !outline.open.has(item.key)) return;
  const some = item.children.slice(0, MOST_CHILDREN);
  some.forEach((node, i) => addItem(list, { key: `${node.call.task},${node.call.depth},${node.call.begin}`, parent: item.key, call: node.call, text: callText(node),
    children: node.children, level: item.level + 1, position: i + 1, size: some.length }));
}

function makeItems() {
  const list = [], height = view.canvas.clientHeight;
  const inSight = layout.items.filter(item => item.track && itemTop(item) < height && itemTop(item) + item.height > topHeight());
  inSight.forEach(({ track }, i) => {
    const { roots, summed } = callsOf(track.task), left = roots.length > MOST_CHILDREN ? `, ${MOST_CHILDREN} of them listed: zoom in` : '';
    addItem(list, { key: `task ${track.task}`, parent: '', call: null, children: roots, level: 1, position: i + 1, size: inSight.length,
      text: `${taskTitle(track.task)}: ${countText(roots.length)} ${track.lane ? 'runs' : 'outermost calls'} in sight${left}${summed ? `, ${countText(summed)} too short to be listed: zoom in` : ''}` });
  });
  return list;
}

const itemId = item => `call-${item.key.replace(/\W/g, '-')}`;

function drawOutline() {
  outline.timer = 0;
  if (!view.canvas.clientWidth || state.tab !== 'timeline') return;
  const list = outline.items = makeItems();
  if (!list.some(item => item.key === outline.at)) outline.at = list.length ? list[0].key : '';
  outline.box.replaceChildren(...list.map(item => {
    const row = element('div', { class: `item${item.key === outline.at ? ' on' : ''}`, id: itemId(item), role: 'treeitem', 'aria-level': item.level, 'aria-posinset': item.position,
      'aria-setsize': item.size, 'aria-selected': String(item.key === outline.at), 'aria-expanded': item.children.length ? String(outline.open.has(item.key)) : undefined,
      onclick: () => { outline.at = item.key; act('Enter'); } }, item.text);
    row.style.paddingLeft = `${8 + 14 * Math.min(item.level - 1, 12)}px`;
    return row;
  }));
  const at = list.find(item => item.key === outline.at);
  if (at) outline.box.setAttribute('aria-activedescendant', itemId(at));
  else outline.box.removeAttribute('aria-activedescendant');
}

// Soon: the tree follows the canvas when that stands still.
function drawSoon() {
  if (!outline.timer) outline.timer = setTimeout(drawOutline, 200);
}

function goToItem(item) {
  if (!item) return;
  outline.at = item.key;
  drawOutline();
  const row = outline.box.querySelector('.on');
  if (row) row.scrollIntoView({ block: 'nearest' });
}

function setOpen(item, isOpen) {
  if (isOpen) outline.open.add(item.key);
  else outline.open.delete(item.key);
  goToItem(item);
}

// What a key does at the item that has the focus. False: nothing.
function act(key) {
  const { items, open } = outline, index = items.findIndex(item => item.key === outline.at), item = items[index];
  if (!item) return false;
  const isOpen = open.has(item.key) && item.children.length;
  if (key === 'ArrowDown') goToItem(items[index + 1]);
  else if (key === 'ArrowUp') goToItem(items[index - 1]);
  else if (key === 'Home') goToItem(items[0]);
  else if (key === 'End') goToItem(items[items.length - 1]);
  else if (key === 'ArrowRight' && isOpen) goToItem(items[index + 1]);
  else if (key === 'ArrowRight' && item.children.length) setOpen(item, true);
  else if (key === 'ArrowLeft' && isOpen) setOpen(item, false);
  else if (key === 'ArrowLeft') goToItem(items.find(i => i.key === item.parent));
  else if (key === ' ' && item.call && isLane(item.call.task)) { if (item.call.depth === 0) chooseTask(item.call.function); }
  else if (key === ' ' && item.call) setState({ call: item.call, function: item.call.function });
  else if (key === 'Enter' && item.call) showCall(item.call);
  else if (key === 'Enter' || key === ' ') setOpen(item, !isOpen);
  else return key === 'ArrowRight';
  return true;
}

export function makeOutline() {
  outline.box = element('div', { class: 'outline', role: 'tree', tabindex: '0', 'aria-label': 'Calls in sight',
    onkeydown: event => {
      if (event.ctrlKey || event.altKey || event.metaKey || !act(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
    } });
  onState(drawSoon);
  onTiles(drawSoon);
  return outline.box;
}
