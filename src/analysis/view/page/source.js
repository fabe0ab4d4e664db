/* SPDX-License-Identifier: GPL-2.0-or-later */
// Where answers come from: the server, or data inside of the page.
import { baseName, shownName } from './base.js';

class Remote {
  constructor() {
    this.isRemote = true;
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

export const source = new Remote();

// What is known of the recording. Functions are in order of their index.
export const recording = { info: null, tracks: null, functions: [], keys: new Map(), duration: 1 };

// A function as the page shows it. `key`: the same for all of one name and module.
function addFunction(name, module, file, line) {
  const f = { index: recording.functions.length, name: shownName(name) || '?', path: module, module: shownName(baseName(module)),
    file: shownName(file), line, key: `${module}\n${name}`, suspended: !module && /^linux:schedule/.test(name) };
  recording.functions.push(f);
  if (!recording.keys.has(f.key)) recording.keys.set(f.key, []);
  recording.keys.get(f.key).push(f.index);
}

const UNKNOWN = { index: -1, name: '…', path: '', module: '', file: '', line: 0, key: '', suspended: false };
export const functionOf = index => recording.functions[index] || UNKNOWN;
// All indexes of the functions that look like this one.
export const sameFunctions = index => recording.keys.get(functionOf(index).key) || [index];

let loading = null;

// Loads the names that are new; resolves when all that are used so far are there.
export function loadFunctions() {
  loading = loading || (async () => {
    const got = await source.get('functions', { first: recording.functions.length });
    const f = got.functions;
    if (got.first === recording.functions.length)
      for (let i = 0; i < f.length; i += 4) addFunction(f[i], f[i + 1], f[i + 2], f[i + 3]);
    loading = null;
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

export async function openRecording() {
  recording.info = await source.get('info');
  recording.duration = Math.max(1, recording.info.duration);
  for (const task of recording.info.tasks) task.name = shownName(task.name);
  recording.tracks = await source.get('tracks');
}

export function taskTitle(index) {
  const t = recording.info.tasks[index];
  return t.name ? `${t.name} ${t.id}` : `task ${t.id}`;
}
