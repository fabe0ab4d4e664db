/* SPDX-License-Identifier: GPL-2.0-or-later */
// Flame graphs: paths of calls of the range, outermost on top; inverse: what took the time, callers below.
import { element, clamp, eachFrame, fitCanvas, timeText, countText, percentText, callsText, rowsOf } from './base.js';
import { functionOf, source, recording, needFunctions, nodeSize, both, addNames } from './source.js';
import { textMatcher } from './search.js';
import { state, setState, onState, rangeParameters, wallParameters, findPath } from './state.js';
import { theme, colorOf, differenceColor, fitText, drawMessage, FONT } from './colors.js';

const LINE = 18;

export const flame = { canvas: null, nodes: [], shown: 0, key: '', ready: '', hover: -1, scroll: 0, error: '' };
let control = null, flameTip, pathBar, flameMatches = null, matchesFor = '';

// Nodes of an answer, which are in depth-first order, with their place: x and width are parts of the whole.
function nodesOf(answer) {
  const nodes = [], open = [], next = [], make = answer.all ? ofBoth : ofOne;
  for (const numbers of rowsOf(answer.nodes, nodeSize(answer))) {
    const n = { ...make(numbers), parent: -1, x: 0, width: 1 };
    open.length = n.depth;
    open[n.depth] = nodes.length;
    if (n.depth) {
      n.parent = open[n.depth - 1];
      n.x = next[n.parent];
      n.width = n.value / (nodes[0].value || 1);
      next[n.parent] += n.width;
    }
    next.push(n.x);
    nodes.push(n);
  }
  return nodes;
}

const ofOne = ([depth, f, value, calls, total, self, open]) => ({ depth, function: f, value, calls, total, self, open });

// `parts`: of all, in each recording. Its width is their mean.
function ofBoth([depth, f, value0, value1, calls0, calls1]) {
  const values = [value0, value1], parts = values.map((value, side) => value / Math.max(1, both.all[side]));
  return { depth, function: f, values, calls: [calls0, calls1], parts, value: parts[0] + parts[1] };
}

const changeOf = n => (n.value ? (n.parts[1] - n.parts[0]) / n.value : 0);
const labelOf = f => (state.difference ? both.names.get(f) || { name: '…', module: '' } : functionOf(f));

const isRoot = () => state.path.length === 0;

function nameOf(n, i) {
  if (i === 0 && isRoot()) return state.range && !state.difference ? 'range' : 'all';
  if (n.function < 0) return `${countText(-n.function)} paths that are too small`;
  return labelOf(n.function).name;
}

// ---- loading -------------------------------------------------------------------------------

async function loadFlame(key, parameters) {
  if (control) control.abort();
  control = new AbortController();
  flame.key = key;
  flame.error = '';
  try {
    const got = await source.get(state.difference ? 'difference' : 'flame', parameters, control.signal);
    if (!got.all) await needFunctions(rowsOf(got.nodes, nodeSize(got)).reduce((most, n) => Math.max(most, n[1]), 0));
    if (flame.key !== key) return;
    if (got.all) {
      both.all = got.all;
      addNames(got.names);
    }
    flame.nodes = nodesOf(got);
    flame.scroll = 0;
    flame.ready = key;
  } catch (error) {
    if (error.name === 'AbortError' || flame.key !== key) return;
    flame.nodes = [];
    flame.error = error.message;
    flame.ready = key;
  }
  redrawFlame();
}

function updateFlame() {
  if (state.tab !== 'flame') return;
  if (!findPath()) {
    flame.key = 'a path that is not known yet';
    redrawFlame();
    return;
  }
  const parameters = state.difference ? wallParameters() : rangeParameters();
  if (state.inverse) parameters.inverse = 1;
  if (state.by === 'calls') parameters.by = 'calls';
  if (state.path.length) parameters.path = state.path.join(',');
  const key = JSON.stringify([state.difference, parameters]);
  if (key !== flame.key) loadFlame(key, parameters);
  showPath();
  redrawFlame();
}

// ---- drawing -------------------------------------------------------------------------------

function drawNode(c, n, i, width, y, found) {
  const x = n.x * width, w = n.width * width;
  if (w < 0.4) return;
  const f = n.function < 0 ? null : labelOf(n.function);
  c.globalAlpha = found && (!f || !found.has(n.function)) ? 0.25 : 1;
  c.fillStyle = i === 0 && isRoot() ? theme.line : n.parts ? differenceColor(changeOf(n)) : !f ? theme.idle : colorOf(n.function);
  c.fillRect(x, y, Math.max(0.5, w - 0.6), LINE - 1);
  if (w > 24) {
    c.fillStyle = f && f.suspended ? theme.dim : theme.strong;
    if (i === 0 && isRoot()) c.fillStyle = theme.text;
    c.fillText(fitText(c, nameOf(n, i), w - 8), x + 4, y + LINE / 2);
  }
  if (i === flame.hover) {
    c.globalAlpha = 1;
    c.strokeStyle = theme.select;
    c.lineWidth = 1.5;
    c.strokeRect(x + 0.5, y + 0.5, Math.max(1, w - 1.5), LINE - 2);
  }
}

function foundBy(test) {
  if (state.difference) return new Set([...both.names].filter(([, f]) => test(f.name, f.module)).map(([id]) => id));
  return new Set(recording.functions.filter(f => test(f.name, f.module)).map(f => f.index));
}

function drawFlame() {
  if (!flame.canvas || state.tab !== 'flame' || !flame.canvas.clientWidth) return;
  const { context: c, width, height } = fitCanvas(flame.canvas);
  c.font = FONT;
  c.textBaseline = 'middle';
  c.fillStyle = theme.back;
  c.fillRect(0, 0, width, height);
  const deepest = flame.nodes.reduce((most, n) => Math.max(most, n.depth), 0);
  flame.scroll = clamp(flame.scroll, 0, Math.max(0, (deepest + 2) * LINE - height));
  const test = textMatcher();
  const found = test ? foundBy(test) : null;
  flame.nodes.forEach((n, i) => {
    const y = 4 + n.depth * LINE - flame.scroll;
    if (y > -LINE && y < height) drawNode(c, n, i, width, y, found);
  });
  c.globalAlpha = 1;
  flameMatches = found;
  if (matchesFor !== `${flame.ready}/${state.search}`) {
    matchesFor = `${flame.ready}/${state.search}`;
    showPath();
  }
  const text = flame.error || (flame.ready !== flame.key ? 'Reading the calls…' : flame.nodes.length < 2 ? 'There are no calls here.' : '');
  if (text) {
    c.fillStyle = flame.error ? theme.lost : theme.dim;
    drawMessage(c, text, 12, height - 16, width - 24);
  }
  flame.shown++;
}

export const redrawFlame = eachFrame(drawFlame);

// How much of all is in calls of what the search found; those below each other count once.
function matchedPart() {
  let sum = 0, until = -1;
  flame.nodes.forEach((n, i) => {
    if (until >= 0 && n.depth > until) return;
    until = -1;
    if (i > 0 && n.function >= 0 && flameMatches.has(n.function)) { sum += n.width; until = n.depth; }
  });
  return sum;
}

// The functions that lead to what fills the width, each to go back to.
function showPath() {
  const items = state.path.map((f, i) => element('button', { class: 'link', onclick: () => setState({ path: state.path.slice(0, i + 1) }) }, labelOf(f).name));
  const all = element('button', { class: 'link', onclick: () => setState({ path: [] }) }, state.range ? 'range' : 'all');
  pathBar.replaceChildren(all, ...items.flatMap(item => [' › ', item]));
  if (flameMatches && flame.nodes.length) pathBar.append(element('span', { class: 'dim right' }, `search: ${percentText(matchedPart(), 1)}`));
}

// ---- pointer and keys ----------------------------------------------------------------------

function nodeAt(event) {
  const x = event.offsetX / flame.canvas.clientWidth, depth = Math.floor((event.offsetY - 4 + flame.scroll) / LINE);
  return flame.nodes.findIndex(n => n.depth === depth && x >= n.x && x < n.x + n.width);
}

// Functions from the root of the whole to a node.
function pathTo(i) {
  const path = [];
  for (let n = flame.nodes[i]; n && n.parent >= 0; n = flame.nodes[n.parent]) path.unshift(n.function);
  return [...state.path, ...path];
}

// "+1.20 points": a change of a part of all, by its sign.
export const pointsText = change => `${change > 0 ? '+' : change < 0 ? '−' : ''}${Math.abs(100 * change).toFixed(2)}`;

function changeLines(n) {
  const side = i => `${percentText(n.parts[i], 1) || '0 %'}, ${state.by === 'calls' ? '' : `${timeText(n.values[i])} in `}${countText(n.calls[i])} calls`;
  return [`${recording.info.title}: ${side(0)}`, `${recording.info.other.title}: ${side(1)}`, `${pointsText(n.parts[1] - n.parts[0])} points`];
}

function onFlameMove(event) {
  flame.hover = nodeAt(event);
  const n = flame.nodes[flame.hover];
  flameTip.hidden = !n;
  if (n) {
    const lines = [nameOf(n, flame.hover), ...(n.parts ? changeLines(n) : [`${timeText(n.total)} in ${callsText(n.calls, n.open)}, ${timeText(n.self)} of its own`,
      percentText(n.width, 1)])];
    if (n.function >= 0 && flame.hover > 0 && labelOf(n.function).module) lines.push(labelOf(n.function).module);
    flameTip.replaceChildren(...lines.filter(Boolean).map((line, i) => element('div', { class: i ? 'dim' : '' }, line.slice(0, 300))));
    const box = flame.canvas.parentElement.getBoundingClientRect();
    flameTip.style.left = `${clamp(event.offsetX + 14, 0, Math.max(0, box.width - flameTip.offsetWidth - 8))}px`;
    flameTip.style.top = `${event.offsetY + 20 + flameTip.offsetHeight > box.height ? event.offsetY - flameTip.offsetHeight - 8 : event.offsetY + 20}px`;
  }
  redrawFlame();
}

const chosen = n => (state.difference ? {} : { function: n.function });

function onFlameClick(event) {
  const i = nodeAt(event), n = flame.nodes[i];
  if (!n) return;
  if (i === 0) setState({ path: state.path.slice(0, -1) });
  else if (n.function >= 0) setState({ path: pathTo(i), ...chosen(n) });
  else setState({ path: pathTo(n.parent) });
}

function onFlameKey(event) {
  const at = flame.nodes[flame.hover] ? flame.hover : 0, n = flame.nodes[at];
  if (!n) return;
  const siblings = flame.nodes.map((_, i) => i).filter(i => flame.nodes[i].parent === n.parent);
  const moves = {
    ArrowDown: () => flame.nodes.findIndex(m => m.parent === at),
    ArrowUp: () => n.parent,
    ArrowRight: () => siblings[siblings.indexOf(at) + 1],
    ArrowLeft: () => siblings[siblings.indexOf(at) - 1],
  };
  if (event.key === 'Enter' && at > 0 && n.function >= 0) setState({ path: pathTo(at), ...chosen(n) });
  else if (event.key === 'Backspace') setState({ path: state.path.slice(0, -1) });
  else if (moves[event.key]) {
    const to = moves[event.key]();
    if (flame.nodes[to]) flame.hover = to;
    redrawFlame();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

const choice = (text, title, isOn, change) => element('button', { class: 'choice', title, 'data-on': String(isOn()),
  onclick: event => { change(); event.target.dispatchEvent(new Event('again', { bubbles: true })); } }, text);

export function makeFlame() {
  flame.canvas = element('canvas', { class: 'tracks', tabindex: '0', 'aria-label': 'Flame graph' });
  flameTip = element('div', { class: 'tip', hidden: true });
  pathBar = element('div', { class: 'path' });
  const bar = element('div', { class: 'bar' });
  const other = recording.info.other;
  const fill = () => bar.replaceChildren(
    ...(other ? [choice('Difference', `Red: more in ${other.title}; green: less`, () => state.difference, () => setState({ difference: true, path: [] })),
      choice(recording.info.title, 'This recording alone', () => !state.difference, () => setState({ difference: false, path: [] })),
      element('span', { class: 'gap' })] : []),
    choice('Calls', 'Outermost calls on top', () => !state.inverse, () => setState({ inverse: false, path: [] })),
    choice('Inverse', 'What took the time on top, its callers below', () => state.inverse, () => setState({ inverse: true, path: [] })),
    element('span', { class: 'gap' }),
    choice(recording.info.instructions ? 'Instructions' : 'Time', 'Widths are times', () => state.by === 'time', () => setState({ by: 'time' })),
    choice('Number of calls', 'Widths are numbers of calls', () => state.by === 'calls', () => setState({ by: 'calls' })), pathBar);
  const c = flame.canvas;
  c.addEventListener('pointermove', onFlameMove);
  c.addEventListener('pointerleave', () => { flame.hover = -1; flameTip.hidden = true; redrawFlame(); });
  c.addEventListener('click', onFlameClick);
  c.addEventListener('keydown', onFlameKey);
  c.addEventListener('wheel', event => { event.preventDefault(); flame.scroll += event.deltaY * (event.deltaMode === 1 ? 24 : 1); redrawFlame(); }, { passive: false });
  onState(() => { fill(); updateFlame(); });
  new ResizeObserver(redrawFlame).observe(c);
  fill();
  return element('div', { class: 'flame' }, bar, element('div', { class: 'plot' }, c, flameTip));
}
