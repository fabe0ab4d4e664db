/* SPDX-License-Identifier: GPL-2.0-or-later */
// The strip above the time line: all of the time, in which tasks, and what of it is in sight.
import { element, fitCanvas, timeText } from './base.js';
import { recording, functionOf } from './source.js';
import { state, setSight } from './state.js';
import { theme, colorOf, FONT } from './colors.js';
import { levelFor, tileAt, standIn, needTiles } from './tiles.js';
import { tracks } from './tracks.js';
import { HEAD, PALE, spanOf, view } from './plot.js';

const OVERVIEW = 40;
let overview;

function drawOverview() {
  const { context: c, width, height } = fitCanvas(overview);
  const per = recording.duration / Math.max(1, width - HEAD);
  c.fillStyle = theme.panel;
  c.fillRect(0, 0, width, height);
  const exp = levelFor(per * 2), span = spanOf(exp), last = Math.floor(recording.duration / span);
  const busy = tracks().slice(0, 24);
  needTiles(exp, 0, last, busy.map(track => track.task), true);
  const rowHeight = Math.max(1.5, (height - 4) / Math.max(busy.length, 6));
  busy.forEach((track, row) => {
    for (let n = 0; n <= last; n++) {
      const tile = tileAt(exp, n, track.task) || standIn(exp, n, track.task);
      if (tile) drawBusy(c, tile, track, 2 + row * rowHeight, Math.max(1, rowHeight - 0.5), per);
    }
  });
  const x0 = HEAD + state.from / per, x1 = HEAD + state.to / per;
  c.globalAlpha = 0.55;
  c.fillStyle = theme.back;
  c.fillRect(HEAD, 0, x0 - HEAD, height);
  c.fillRect(x1, 0, width - x1, height);
  c.globalAlpha = 1;
  drawFound(c, width, height);
  c.strokeStyle = theme.accent;
  c.lineWidth = 1;
  c.strokeRect(x0 + 0.5, 0.5, Math.max(2, x1 - x0 - 1), height - 1);
  c.font = FONT;
  c.textBaseline = 'middle';
  c.fillStyle = theme.dim;
  c.fillText(timeText(recording.duration), 9, height / 2);
}

// Where the calls are that the search finds.
function drawFound(c, width, height) {
  const marks = view.found || [], most = Math.max(1, ...marks), each = (width - HEAD) / Math.max(1, marks.length);
  c.fillStyle = theme.select;
  marks.forEach((n, i) => {
    if (!n) return;
    c.globalAlpha = 0.5 + 0.5 * n / most;
    c.fillRect(HEAD + i * each, height - 8, Math.max(1.5, each), 8);
  });
  c.globalAlpha = 1;
}

// The outermost calls last as long as their task, and say little: those inside of them are drawn.
function drawBusy(c, tile, track, y, height, per) {
  const least = Math.min(3, track.deepest - 1);
  for (let i = 0; i < tile.slices.length; i += 5) {
    if (tile.slices[i + 2] > 12 || functionOf(tile.slices[i + 3]).suspended) continue;
    if (tile.slices[i + 2] < least) continue;
    c.fillStyle = colorOf(tile.slices[i + 3]);
    c.fillRect(HEAD + tile.slices[i] / per, y, Math.max(0.7, tile.slices[i + 1] / per), height);
  }
  c.fillStyle = theme.panel;
  c.globalAlpha = PALE;
  for (let i = 0; i < tile.slices.length; i += 5)
    if (functionOf(tile.slices[i + 3]).suspended) c.fillRect(HEAD + tile.slices[i] / per, y, tile.slices[i + 1] / per, height);
  c.globalAlpha = 1;
  const width = 2 ** tile.exp;
  for (let i = 0; i < tile.cells.length; i += 5) {
    if (tile.cells[i + 2] > 12) continue;
    c.fillStyle = colorOf(tile.cells[i + 3]);
    c.fillRect(HEAD + tile.cells[i] * width / per, y, Math.max(0.7, width / per), height);
  }
}

function dragOverview(event) {
  if (!(event.buttons & 1) && event.type !== 'pointerdown') return;
  overview.setPointerCapture(event.pointerId);
  const time = (event.offsetX - HEAD) * recording.duration / (overview.clientWidth - HEAD), half = (state.to - state.from) / 2;
  setSight(time - half, time + half);
}

export function makeOverview() {
  overview = element('canvas', { class: 'overview', role: 'img', 'aria-label': 'All of the time', onpointerdown: dragOverview, onpointermove: dragOverview });
  overview.style.height = `${OVERVIEW}px`;
  view.after = drawOverview;
  return overview;
}
