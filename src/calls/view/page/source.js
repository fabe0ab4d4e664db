/* SPDX-License-Identifier: GPL-2.0-or-later */
// Where answers come from: the server, or data inside of the page.
import { baseName, shownName, rowsOf } from './base.js';

class Remote {
  constructor() {
    this.isRemote = this.hasWall = true;
    this.busy = 0; // questions that are not answered yet
  }

  async get(name, parameters = {}, signal = undefined) {
    this.busy++;
    try {
      return await this.ask(name, parameters, signal);
    } finally {
      this.busy--;
    }
  }

  async ask(name, parameters, signal) {
    const query = new URLSearchParams(parameters).toString();
    let response;
    try {
      response = await fetch(query ? `${name}?${query}` : name, { signal });
    } catch (error) {
      if (error.name === 'AbortError') throw error;
      throw new Error('The server does not answer: it has ended. Start guesttrace view again.');
    }
    if (!response.ok) throw new Error((await response.text()).trim());
    return response.json();
  }
}

// Durations by quarters of octaves, from the shortest to the longest: first, last, how many; as the server has them.
function durationParts(durations) {
  const partOf = d => { const octave = Math.floor(Math.log2(d)); return d < 4 ? d : 4 * (octave - 1) + Math.floor(d / 2 ** (octave - 2)) - 4; };
  const beginOf = part => (part < 4 ? part : (4 + part % 4) * 2 ** (Math.floor(part / 4) - 1));
  const counts = [];
  for (const d of durations) counts[partOf(d)] = (counts[partOf(d)] || 0) + 1;
  const first = counts.findIndex(n => n), list = [];
  for (let i = first; i < counts.length; i++) list.push(beginOf(i), beginOf(i + 1) - 1, counts[i] || 0);
  return list;
}

// Data blocks of a page that is a file: see calls/view/file.c.
class Embedded {
  constructor(blocks) {
    this.isRemote = false;
    this.busy = 0;
    this.blocks = new Map(blocks.map(block => [block.dataset.name, block.textContent]));
    this.answers = new Map();
    const names = [...this.blocks.keys()];
    this.levels = names.filter(name => name.startsWith('tiles/')).map(name => Number(name.slice(6)));
    this.hasWall = this.blocks.has('wall'); // sums of wall time, where they differ
    this.isExact = names.some(name => name.startsWith('exact/')); // the finest level has all calls, none summed up
  }

  async get(name, parameters = {}) {
    this.busy++;
    try {
      return await this.answer(name, parameters);
    } finally {
      this.busy--;
    }
  }

  // An answer that stands in the file.
  block(name) {
    if (!this.blocks.has(name)) throw new Error('This file has sums of the whole recording only. For a part of it: guesttrace view.');
    if (!this.answers.has(name)) this.answers.set(name, this.unpack(this.blocks.get(name)));
    this.blocks.set(name, '');
    return this.answers.get(name);
  }

  // The same of sums, of wall time or not.
  sums(name, wall) {
    const walled = `${name}${name.includes('?') ? ',' : '?'}wall=1`;
    return this.block(wall && this.blocks.has(walled) ? walled : name);
  }

  async unpack(text) {
    const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Response(stream).json();
  }

  answer(name, p) {
    if (name === 'tiles') return this.tiles(p);
    if (name === 'find') return this.find(p);
    if (name === 'hits') return this.hits(p);
    if (name === 'function') return this.relations(p);
    if (name === 'tracks') return this.block(name).then(t => ({ ...t, finest: Math.min(...this.levels) }));
    if (name === 'slept') return this.slept(p);
    if (name === 'names') return this.block('difference');
    if (name === 'functions' && p.first > 0) return { first: p.first, functions: [] };
    const query = Object.entries(p).filter(([key]) => !['first', 'path', 'wall'].includes(key)).map(([key, value]) => `${key}=${value}`).join(',');
    const whole = this.sums(query ? `${name}?${query}` : name, p.wall);
    if ((name !== 'flame' && name !== 'difference') || !p.path) return whole;
    return whole.then(got => part(got, p.path.split(',').map(Number)));
  }

  async tiles({ exp, bin, bins, tasks }) {
    const level = await this.block(`tiles/${exp}`);
    const wanted = new Set(String(tasks).split(',').map(Number)), from = bin * 2 ** exp, width = bins * 2 ** exp;
    const list = level.tasks.filter(t => wanted.has(t.task)).map(({ task, slices, cells }) => {
      const got = { task, slices: [], cells: [] };
      for (let i = 0; i < slices.length; i += 5)
        if (slices[i] <= from + width && slices[i] + slices[i + 1] >= from) got.slices.push(slices[i] - from, ...slices.slice(i + 1, i + 5));
      for (let i = 0; i < cells.length; i += 5)
        if (cells[i] >= bin && cells[i] < bin + bins) got.cells.push(cells[i] - bin, ...cells.slice(i + 1, i + 5));
      return got;
    });
    return { progress: 1000, tasks: list };
  }

  // Where all calls stand alone.
  async slept({ task, begin, duration }) {
    const level = this.isExact ? await this.block(`tiles/${Math.min(...this.levels)}`) : { tasks: [] };
    let slept = 0;
    for (const { slices } of level.tasks.filter(t => t.task === task))
      for (let i = 0; i < slices.length; i += 5)
        if (functionOf(slices[i + 3]).suspended && slices[i] >= begin && slices[i] + slices[i + 1] <= begin + duration) slept += slices[i + 1];
    return { slept };
  }

  // Among the calls that are not summed up.
  async find({ functions, time, tasks, least = 0, most = Infinity }) {
    const level = await this.block(`tiles/${Math.min(...this.levels)}`), got = { calls: 0 };
    const wanted = new Set(functions.split(',').map(Number)), of = tasks ? new Set(tasks.split(',').map(Number)) : null;
    const offer = (key, place, better) => { if (!got[key] || better(place, got[key])) got[key] = place; };
    for (const { task, slices } of level.tasks) {
      if (isLane(task) || (of && !of.has(task))) continue;
      for (let i = 0; i < slices.length; i += 5) {
        if (!wanted.has(slices[i + 3]) || slices[i + 1] < least || slices[i + 1] > most) continue;
        const place = { begin: slices[i], duration: slices[i + 1], depth: slices[i + 2], task, function: slices[i + 3], flags: slices[i + 4] };
        got.calls++;
        offer('first', place, (a, b) => a.begin < b.begin);
        offer('longest', place, (a, b) => a.duration > b.duration);
        if (place.begin > time) offer('next', place, (a, b) => a.begin < b.begin);
        if (place.begin < time) offer('before', place, (a, b) => a.begin > b.begin);
      }
    }
    return got;
  }

  // The same of all of them.
  async hits({ functions, tasks, least = 0, most = Infinity, sort, down }) {
    const level = await this.block(`tiles/${Math.min(...this.levels)}`), of = tasks ? new Set(tasks.split(',').map(Number)) : null;
    const wanted = new Set(functions.split(',').map(Number)), rows = [], all = [], marks = new Array(512).fill(0);
    for (const { task, slices } of level.tasks.filter(t => !isLane(t.task) && (!of || of.has(t.task))))
      for (const [begin, duration, depth, index, flags] of rowsOf(slices, 5)) {
        if (!wanted.has(index)) continue;
        all.push(duration);
        if (duration < least || duration > most) continue;
        rows.push([begin, duration, depth, task, index, flags]);
        marks[Math.min(511, Math.floor(512 * begin / recording.duration))]++;
      }
    const key = { time: r => r[0], duration: r => r[1], task: r => r[3], function: r => functionOf(r[4]).name }[sort], sign = down ? -1 : 1;
    rows.sort((a, b) => (key(a) < key(b) ? -sign : key(a) > key(b) ? sign : a[0] - b[0]));
    return { calls: rows.length, all: all.length, rows: rows.slice(0, 2000).flat(), durations: durationParts(all), marks };
  }

  async relations({ functions, from, tasks, wall }) {
    if (from !== undefined || tasks) return this.block('function of a part');
    const { edges } = await this.sums('edges', wall), wanted = new Set(functions.split(',').map(Number));
    const got = { callers: [], callees: [] };
    for (const [caller, called, ...sums] of rowsOf(edges, 6)) {
      if (wanted.has(called)) got.callers.push(caller, ...sums);
      if (wanted.has(caller)) got.callees.push(called, ...sums);
    }
    return got;
  }
}

// How many numbers a node of a flame graph has; `all`: it is one of two recordings.
export const nodeSize = answer => (answer.all ? 6 : 7);

// The nodes below a path, of an answer about the whole.
function part(whole, path) {
  const { nodes } = whole, size = nodeSize(whole);
  let at = 0;
  for (const f of path) {
    const depth = nodes[at], same = whole.all ? [f] : sameFunctions(f);
    let i = at + size;
    while (i < nodes.length && nodes[i] > depth && !(nodes[i] === depth + 1 && same.includes(nodes[i + 1]))) i += size;
    if (i >= nodes.length || nodes[i] <= depth) throw new Error('This file has no such path of calls.');
    at = i;
  }
  let end = at + size;
  while (end < nodes.length && nodes[end] > nodes[at]) end += size;
  return { ...whole, nodes: nodes.slice(at, end).map((n, i) => (i % size ? n : n - path.length)) };
}

const blocks = [...document.querySelectorAll('script[data-name]')];
export const source = blocks.length ? new Embedded(blocks) : new Remote();

// Facts about the recording. Functions are in order of their index.
export const recording = { isLinux: false, info: null, tracks: null, functions: [], keys: new Map(), duration: 1 };

// A function as links and the difference name it; numbers are other ones each time a recording is opened.
const nameKey = (name, module) => `${name}\n${module}`;

// A function as the page shows it. `key`: the same for all of one name and module.
function addFunction(name, module, file, line, handler) {
  const f = { index: recording.functions.length, name: shownName(name) || '?', path: module, module: shownName(baseName(module)),
    file: shownName(file), line, key: nameKey(name, module), suspended: !module && /^linux:schedule/.test(name), handler: !!handler };
  recording.functions.push(f);
  recording.isLinux = recording.isLinux || /^do_one_initcall(\.|$)/.test(name);
  if (!recording.keys.has(f.key)) recording.keys.set(f.key, []);
  recording.keys.get(f.key).push(f.index);
}

const UNKNOWN = { index: -1, name: '…', path: '', module: '', file: '', line: 0, key: '', suspended: false, handler: false };
export const functionOf = index => recording.functions[index] || UNKNOWN;
// All indexes of the functions that look like this one.
export const sameFunctions = index => recording.keys.get(functionOf(index).key) || [index];

// Functions of both recordings that answers have named, by number; and how much all of each is.
export const both = { all: [1, 1], names: new Map(), numbers: new Map() };

// Takes the names of an answer about both.
export function addNames(list) {
  for (let i = 0; i < list.length; i += 3) {
    const [number, name, module] = list.slice(i, i + 3), key = nameKey(name, module);
    both.names.set(number, { name: shownName(name) || '?', module: shownName(module), key });
    both.numbers.set(key, number);
  }
}

let loading = null;
let tell = () => {};
export const onFunctions = f => { tell = f; };

// Loads the names that are new; resolves when all that are used so far are there.
export function loadFunctions() {
  loading = loading || (async () => {
    const got = await source.get('functions', { first: recording.functions.length });
    const f = got.functions;
    if (got.first === recording.functions.length)
      for (let i = 0; i < f.length; i += 5) addFunction(f[i], f[i + 1], f[i + 2], f[i + 3], f[i + 4]);
    loading = null;
    if (f.length) tell();
  })();
  return loading;
}

// Until the names of these functions are there.
export async function needFunctions(largest) {
  while (largest >= recording.functions.length) {
    const before = recording.functions.length;
    await loadFunctions();
    if (recording.functions.length === before) return;
  }
}

// `follow`: shows a recording that is being written, until it has ended.
export async function openRecording(follow) {
  recording.info = await source.get('info');
  if (recording.info.live) {
    await follow(recording.info);
    recording.info = await source.get('info');
  }
  recording.duration = Math.max(1, recording.info.duration);
  for (const task of recording.info.tasks) task.name = shownName(task.name);
  recording.tracks = await source.get('tracks');
}

// Tracks behind those of tasks are vCPUs.
export const isLane = track => track >= recording.info.tasks.length;

export function taskTitle(index) {
  if (isLane(index)) return `cpu${index - recording.info.tasks.length}`;
  const t = recording.info.tasks[index];
  return t.name ? `${t.name} ${t.id}` : `task ${t.id}`;
}
