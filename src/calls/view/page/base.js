/* SPDX-License-Identifier: GPL-2.0-or-later */
// Elements, numbers and times. Texts that come from a recording get into the page as text only.

export function element(tag, properties = {}, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key === 'class') e.className = value;
    else if (key.startsWith('on')) e.addEventListener(key.slice(2), value);
    else if (key in e && typeof value !== 'string') e[key] = value;
    else if (value !== undefined && value !== null) e.setAttribute(key, value);
  }
  e.append(...children.filter(child => child !== null && child !== undefined));
  return e;
}

export const clamp = (x, low, high) => Math.max(low, Math.min(high, x));

const UNITS = [[60e9, 'min'], [1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

// "1.234 ms": four digits or so; exact below a microsecond.
export function timeText(ns) {
  if (ns === 0) return '0';
  const [unit, name] = UNITS.find(([u]) => Math.abs(ns) >= u) || [1, 'ns'];
  const n = ns / unit;
  const digits = unit === 1 ? 0 : Math.abs(n) >= 100 ? 1 : Math.abs(n) >= 10 ? 2 : 3;
  return `${n.toFixed(digits)} ${name}`;
}

// A time on a scale whose ticks are `step` apart: as many digits as tell them apart.
export function tickText(ns, step) {
  if (ns === 0) return '0';
  const [unit, name] = UNITS.find(([u]) => ns >= u) || [1, 'ns'];
  const digits = clamp(Math.ceil(Math.log10(unit / step) - 1e-9), 0, 9);
  return `${(ns / unit).toFixed(digits)} ${name}`;
}

// Seconds with all nine digits, as --from takes them.
export function exactTime(ns) {
  const whole = Math.floor(ns / 1e9);
  return `${whole}.${String(Math.round(ns - whole * 1e9)).padStart(9, '0')} s`;
}

export const countText = n => n.toLocaleString('en-US');

export function percentText(part, whole) {
  return whole > 0 ? `${(100 * part / whole).toFixed(part >= whole / 10 ? 1 : 2)} %` : '';
}

// A function that is called once for all calls before the next frame.
export function eachFrame(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  };
}

// Sizes a canvas to its box; the context is scaled to CSS pixels.
export function fitCanvas(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width, height };
}

// A pattern as a test of names: a glob where it has * or ?, "module:name", else a part of the name, in any case.
export function matcher(text) {
  const colon = text.search(/[^:]:[^:]/);
  if (colon >= 0 && !text.includes(' ')) {
    const module = matcher(text.slice(0, colon + 1)), name = matcher(text.slice(colon + 2));
    return (n, m) => (module(m) && name(n)) || n.toLowerCase().includes(text.toLowerCase());
  }
  if (!/[*?]/.test(text)) {
    const low = text.toLowerCase();
    return name => name.toLowerCase().includes(low);
  }
  // By hand: a regular expression of many stars can take for ever.
  const glob = text.toLowerCase();
  return name => globMatches(glob, name.toLowerCase());
}

function globMatches(glob, text) {
  let g = 0, t = 0, star = -1, from = 0;
  while (t < text.length) {
    if (glob[g] === '*') { star = g++; from = t; }
    else if (g < glob.length && (glob[g] === '?' || glob[g] === text[t])) { g++; t++; }
    else if (star >= 0) { g = star + 1; t = ++from; }
    else return false;
  }
  while (glob[g] === '*') g++;
  return g === glob.length;
}

export const baseName = path => path.slice(path.lastIndexOf('/') + 1);

// Names are a guest's: what would turn the direction of text, or is not seen, is shown as its number; control
// characters are replaced before they get here.
// eslint-disable-next-line no-misleading-character-class
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
export const shownName = name => name.replace(UNSEEN, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

// The rows of a list whose rows have n numbers.
export const rowsOf = (list, n) => Array.from({ length: list.length / n }, (_, i) => list.slice(i * n, (i + 1) * n));

// How many calls, and how many of them are open: they have not returned.
export const callsText = (calls, open) => `${countText(calls)} calls${open ? `, ${countText(open)} of them open` : ''}`;

// Whether a call has not returned: where the recording ends, or where something else has ended it.
export const neverReturned = call => Boolean(call.flags & (4 | 16));
