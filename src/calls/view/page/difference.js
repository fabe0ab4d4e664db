/* SPDX-License-Identifier: GPL-2.0-or-later */
// The table of what differs between two recordings: a function a row, parts of all of each.
import { timeText, countText, percentText, rowsOf } from './base.js';
import { source, recording, both, addNames } from './source.js';
import { textMatcher } from './search.js';
import { state, setState, onState, wallParameters } from './state.js';
import { Table, wholeOf } from './tables.js';
import { pointsText } from './flame.js';

let changes, asked = '';

// Rows of an answer.
function changesOf(got) {
  const rows = [];
  addNames(got.names);
  for (const [id, calls0, total0, self0, open0, calls1, total1, self1, open1] of rowsOf(got.rows, 9)) {
    const { name, module } = both.names.get(id);
    rows.push({ id, name, module, calls0, total0, self0, open0, calls1, total1, self1, open1, suspended: !module && /^linux:schedule/.test(name) });
  }
  const all = [wholeOf(rows.map(row => ({ ...row, self: row.self0 }))), wholeOf(rows.map(row => ({ ...row, self: row.self1 })))];
  for (const row of rows) {
    row.selfs = [row.self0 / all[0].self, row.self1 / all[1].self];
    row.totals = [row.total0 / all[0].total, row.total1 / all[1].total];
    row.change = row.selfs[1] - row.selfs[0];
    row.reach = row.totals[1] - row.totals[0];
  }
  return rows;
}

async function updateChanges(changed) {
  const key = JSON.stringify(wallParameters());
  if ('search' in changed || !asked) {
    const matches = textMatcher();
    changes.filter = matches && (row => matches(row.name, row.module));
    changes.arrange();
  }
  if (state.tab !== 'difference' || asked === key) return;
  asked = key;
  changes.set([], 'Reading the calls…');
  try {
    const got = await source.get('changes', wallParameters());
    if (asked === key) changes.set(changesOf(got), 'There are no calls.');
  } catch (error) {
    changes.set([], error.message);
  }
}

export function makeDifference() {
  const { other, title } = recording.info;
  if (!other) return {};
  const size = key => row => Math.abs(row[key]);
  const column = (head, key, text, help, number = true) => ({ title: head, key, text, help, number, width: '92px' });
  const open = (head, key, of) => ({ ...column(head, key, row => (row[key] ? countText(row[key]) : ''), `${of}: calls that have not returned`), width: '64px', ifAny: true });
  changes = new Table([
    column('Self', 'change', row => pointsText(row.change), 'Change of its part of the time, without what it called, in percentage points', size('change')),
    column('Total', 'reach', row => pointsText(row.reach), 'The same with what it called', size('reach')),
    column('Self A', 'self0', row => percentText(row.selfs[0], 1), `${title}: its part of the time`),
    column('Self B', 'self1', row => percentText(row.selfs[1], 1), `${other.title}: its part of the time`),
    column('Time A', 'self0', row => timeText(row.self0), title), column('Time B', 'self1', row => timeText(row.self1), other.title),
    column('Calls A', 'calls0', row => countText(row.calls0), title), column('Calls B', 'calls1', row => countText(row.calls1), other.title),
    open('Open A', 'open0', title), open('Open B', 'open1', other.title),
    { title: 'Function', key: 'name', width: 'minmax(170px, 2fr)' }, { title: 'Module', key: 'module', width: 'minmax(70px, 1fr)' },
  ], { label: 'Difference', sort: 'change', open: row => setState({ tab: 'flame', difference: true, search: row.name, path: [] }) });
  onState(updateChanges);
  return { difference: changes.box };
}
