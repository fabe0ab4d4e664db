/* SPDX-License-Identifier: GPL-2.0-or-later */
// A strip above the time line: named ranges, from one line of the console, or mark, to the next; and bookmarks. A boot's ranges
// begin where its stages announce themselves; where one of them fills the strip, its lines are ranges.
import { element, clamp, eachFrame, timeText, exactTime, countText, shownName } from './base.js';
import { recording } from './source.js';
import { state, setState, setSight, onState } from './state.js';
import { view } from './plot.js';
import { bookmarks, showBookmark } from './bookmarks.js';

// What a stage prints first; the name of its range, or '': the line.
const STAGES = [[/^SeaBIOS \(version/, 'SeaBIOS'], [/^NOTICE: +(BL\d+\w*): v/, ''], [/^OpenSBI v/, ''], [/^U-Boot (SPL )?\d/, ''], [/^UEFI firmware/, 'UEFI'],
  [/^EFI stub: Booting/, 'EFI stub'], [/^Booting Linux|^Linux version /, 'Linux'], [/^Run \/\S+ as init process/, 'init'], [/^Kernel panic - not syncing/, ''],
  [/^reboot: |^sysrq: Resetting/, '']];
const NARROWEST = 34, MOST_RANGES = 200; // pixels of a range; ranges
const TIME = /^(<\d+>)?\[ *\d+\.\d+\](\[ *[TC]\d+\])? */;

let strip, buttons = new Map();

// [{ begin, end, text, name }] of all lines; of stages alone.
const ranges = { of: null, lines: [], stages: [] };

function stageOf(text) {
  const said = text.replace(TIME, ''), stage = STAGES.find(([pattern]) => pattern.test(said));
  return stage ? stage[1] || said : '';
}

const untilNext = list => list.map((range, i) => ({ ...range, end: i + 1 < list.length ? list[i + 1].begin : recording.duration }));

function makeRanges() {
  if (ranges.of === view.marks.console) return;
  const lines = view.marks.console.map(({ time, text }) => ({ begin: time, text, name: stageOf(text), n: 1 }));
  // A stage that announces itself twice, as Linux does, is one.
  const stages = lines.filter(line => line.name).filter((line, i, all) => i === 0 || line.name !== all[i - 1].name);
  Object.assign(ranges, { of: view.marks.console, lines: untilNext(lines), stages: stages.length > 1 ? untilNext(stages) : [] });
}

const inSight = list => list.filter(range => range.begin < state.to && range.end > state.from);

// Those that are shown: ranges too narrow for a text are one with the next ones.
export function shownRanges() {
  makeRanges();
  const stages = inSight(ranges.stages), per = (state.to - state.from) / Math.max(1, strip.clientWidth), list = [];
  for (const range of stages.length > 1 ? stages : inSight(ranges.lines).map(line => ({ ...line, name: '' }))) {
    const last = list[list.length - 1];
    if (last && (last.end - Math.max(last.begin, state.from)) / per < NARROWEST) Object.assign(last, { end: range.end, n: last.n + 1, lastText: range.text });
    else list.push({ ...range });
  }
  return list.slice(0, MOST_RANGES);
}

function show({ begin, end }) {
  setState({ range: [begin, end], path: [] });
  setSight(begin, end);
}

function place(button, begin, end) {
  const per = (state.to - state.from) / Math.max(1, strip.clientWidth);
  const left = clamp((begin - state.from) / per, 0, strip.clientWidth), right = clamp((end - state.from) / per, 0, strip.clientWidth);
  button.style.left = `${left}px`;
  button.style.width = `${Math.max(2, right - left - 1)}px`;
}

// A button for each, which stays the same one as long as its range is shown: it may have the focus.
function put(key, used, make) {
  const button = buttons.get(key) || make();
  if (!button.isConnected) strip.append(button);
  used.set(key, button);
  return button;
}

function drawStages() {
  if (state.tab !== 'timeline' || !strip.clientWidth) return;
  const used = new Map();
  for (const range of shownRanges()) {
    const text = shownName(range.name || range.text), more = range.n > 1 ? ` and ${countText(range.n - 1)} more` : '';
    const button = put(`range ${range.begin} ${range.name}`, used, () => element('button', { class: 'phase' }));
    button.textContent = text.replace(TIME, '') || '…';
    button.title = `${shownName(range.text)}${range.lastText ? `\n… ${shownName(range.lastText)}` : ''}\n${timeText(range.end - range.begin)} from ${exactTime(range.begin)}`;
    button.setAttribute('aria-label', `${button.textContent}${more}: ${timeText(range.end - range.begin)}`);
    button.onclick = () => show(range);
    place(button, range.begin, range.end);
  }
  bookmarks().forEach((mark, i) => {
    if (mark.begin > state.to || mark.begin < state.from) return;
    const button = put(`mark ${i}`, used, () => element('button', { class: 'flag' }, '⚑'));
    button.title = `${mark.note ? `${shownName(mark.note)}\n` : ''}bookmark at ${exactTime(mark.begin)}`;
    button.setAttribute('aria-label', `Bookmark: ${shownName(mark.note) || exactTime(mark.begin)}`);
    button.onclick = () => showBookmark(mark);
    place(button, mark.begin, mark.begin);
    button.style.width = '';
  });
  for (const [key, button] of buttons) if (!used.has(key)) button.remove();
  buttons = used;
}

// `heads`: what stands left of it, above the names of the tracks.
export function makePhases(heads) {
  strip = element('div', { class: 'phases', role: 'group', 'aria-label': 'Ranges of time: stages of the boot, lines of the console, marks' });
  const redraw = eachFrame(drawStages);
  onState(redraw);
  new ResizeObserver(redraw).observe(strip);
  return element('div', { class: 'strip' }, heads, strip);
}
