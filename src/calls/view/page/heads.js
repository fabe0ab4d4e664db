/* SPDX-License-Identifier: GPL-2.0-or-later */
// The column with the names of tracks: their order, and how wide it is.
import { element, clamp, rowsOf } from './base.js';
import { source } from './source.js';
import { state, setState, onState } from './state.js';
import { trackTimes } from './tracks.js';
import { HEAD, setHead, redraw, view } from './plot.js';

const ORDERS = { '': 'Order: as created', name: 'Order: name', ran: 'Order: time that ran', first: 'Order: first call' };
const LEAST_WIDTH = 120, MOST_WIDTH = 800, STEP = 16, USUAL = 200;

// How long each task ran: of the whole recording.
async function loadTimes() {
  if (trackTimes.asked) return;
  trackTimes.asked = true;
  try {
    const got = await source.get('groups', { by: 'tasks' });
    trackTimes.ran = new Map(rowsOf(got.rows, 7).map(row => [row[0], row[3]]));
    redraw();
  } catch { trackTimes.asked = false; /* it is tried again */ }
}

export function makeOrder() {
  const select = element('select', { class: 'order', 'aria-label': 'Order of tracks', title: 'Order of tracks', onchange: () => { setState({ order: select.value }); view.canvas.focus(); } },
    ...Object.entries(ORDERS).map(([value, text]) => element('option', { value }, text)));
  const update = () => {
    if (select.value !== state.order) select.value = state.order;
    if (state.order === 'ran') loadTimes();
  };
  onState(update);
  update();
  return select;
}

// ---- width ---------------------------------------------------------------------------------

function keepWidth(names) {
  setState({ names });
  try { localStorage.setItem('guesttrace-names', String(names)); } catch { /* not allowed: it is not kept */ }
}

function keptWidth() {
  try { return Number(localStorage.getItem('guesttrace-names')) || USUAL; } catch { return USUAL; }
}

// A separator that is dragged, or moved by arrows, Home, End; a double click gives the usual width.
export function makeDivider() {
  const usual = keptWidth();
  const most = () => Math.max(LEAST_WIDTH, Math.min(MOST_WIDTH, view.canvas.clientWidth / 2 || MOST_WIDTH));
  const to = width => keepWidth(Math.round(clamp(width, LEAST_WIDTH, most())));
  const divider = element('div', { class: 'divider', role: 'separator', tabindex: '0', 'aria-orientation': 'vertical', 'aria-label': 'Width of the names of tracks', 'aria-valuemin': LEAST_WIDTH, 'aria-valuemax': MOST_WIDTH,
    onpointerdown: event => {
      const end = new AbortController(), { signal } = end;
      event.preventDefault();
      window.addEventListener('pointermove', moved => to(moved.clientX - view.canvas.getBoundingClientRect().left), { signal });
      for (const kind of ['pointerup', 'pointercancel']) window.addEventListener(kind, () => end.abort(), { signal });
    },
    ondblclick: () => to(USUAL),
    onkeydown: event => {
      const width = { ArrowLeft: HEAD - STEP, ArrowRight: HEAD + STEP, Home: LEAST_WIDTH, End: MOST_WIDTH }[event.key];
      if (width === undefined) return;
      to(width);
      event.preventDefault();
      event.stopPropagation();
    } });
  const update = () => {
    setHead(clamp(state.names || usual, LEAST_WIDTH, MOST_WIDTH));
    divider.setAttribute('aria-valuenow', String(HEAD));
    divider.parentElement?.style.setProperty('--head', `${HEAD}px`);
  };
  onState(update);
  update();
  return divider;
}
