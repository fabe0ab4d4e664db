/* SPDX-License-Identifier: GPL-2.0-or-later */
// Colours: of the style sheet, and one for each function, from its name.
import { functionOf } from './source.js';

export const theme = { dark: false };

export function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ['back', 'panel', 'line', 'text', 'dim', 'accent', 'mark', 'lost', 'select', 'idle', 'strong', 'user', 'kernel', 'above', 'handler', 'runs', 'asleep'])
    theme[name] = style.getPropertyValue(`--${name}`).trim();
  theme.dark = style.getPropertyValue('--is-dark').trim() === '1';
  colors.clear();
}

const colors = new Map();

function hashOf(text) {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  h ^= h >>> 15;
  return Math.imul(h, 0x85ebca6b) >>> 0;
}

// Functions of one subject begin with the same word: they get hues that are near to each other. Handlers have one color.
function makeColor(f) {
  if (f.suspended) return theme.idle;
  if (f.handler) return theme.handler;
  return nameColor(f.name, f.module);
}

export function nameColor(name, more) {
  const word = name.replace(/^[_\W]+/, '').split(/[_:.<(]/, 1)[0];
  const hue = (hashOf(word) % 360 + hashOf(name) % 24) % 360;
  const shade = hashOf(name + more) % 8;
  return theme.dark ? `hsl(${hue} ${32 + shade}% ${38 + shade}%)` : `hsl(${hue} ${48 + shade}% ${72 + shade}%)`;
}

export function colorOf(index) {
  let color = colors.get(index);
  if (!color) {
    const f = functionOf(index);
    color = makeColor(f);
    if (f.index >= 0) colors.set(index, color);
  }
  return color;
}

// Of a change from -1, which is green, over 0, which is grey, to 1, which is red.
export function differenceColor(change) {
  const size = Math.abs(change), hue = change > 0 ? 2 : 135;
  return theme.dark ? `hsl(${hue} ${60 * size}% ${32 + 8 * size}%)` : `hsl(${hue} ${70 * size}% ${88 - 20 * size}%)`;
}

export const FONT = '11px system-ui, sans-serif';

const widths = new Map();

// As much of a text as fits, "" where that is little. Widths are of characters, measured once each.
export function fitText(context, text, room) {
  let width = 0;
  const end = Math.min(text.length, 400);
  for (let i = 0; i < end; i++) {
    let w = widths.get(text[i]);
    if (w === undefined) {
      w = context.measureText(text[i]).width;
      widths.set(text[i], w);
    }
    if (width + w > room) return i > 3 ? `${text.slice(0, i - 1)}…` : '';
    width += w;
  }
  return text.length > end ? `${text.slice(0, end)}…` : text;
}

// A text in as many lines as it needs, the last one at `bottom`.
export function drawMessage(context, text, x, bottom, room) {
  const lines = [''];
  for (const word of text.split(' ')) {
    const longer = lines[lines.length - 1] ? `${lines[lines.length - 1]} ${word}` : word;
    if (context.measureText(longer).width <= room || !lines[lines.length - 1]) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  lines.forEach((line, i) => context.fillText(line, x, bottom - 15 * (lines.length - 1 - i)));
}
