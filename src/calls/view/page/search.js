/* SPDX-License-Identifier: GPL-2.0-or-later */
// The functions that the search finds, and which of their calls are listed.
import { matcher } from './base.js';
import { recording, source } from './source.js';
import { state, setState } from './state.js';

const MOST_SOUGHT = 6000; // functions that fit into a question

// `regex`: the answer for an expression, as far as it has come.
const searching = { key: '', all: null, exact: null, regex: { text: '', found: null, error: '', asked: 0 } };

// "/text/" or "/text": a regular expression.
export const expressionOf = text => (/^\/./.test(text) ? text.slice(1).replace(/(.)\/$/, '$1') : '');

async function askRegex(text) {
  const r = searching.regex, known = recording.functions.length;
  if (r.text === text && r.asked >= known) return;
  Object.assign(r, { text, asked: known });
  let found = null, error = '';
  try {
    if (!source.isRemote) throw new Error('Regular expressions need guesttrace view.');
    const got = await source.get('match', { pattern: text });
    found = new Set(got.functions);
    if (got.error) error = `Regular expression, ${got.error}`;
    else if (got.undecided) error = `Of ${got.undecided} names it is not known whether they match.`;
  } catch (problem) {
    error = problem.message;
  }
  if (r.text !== text) return;
  Object.assign(r, { found, error });
  setState({});
}

function namesOf(text) {
  const matches = matcher(text), all = new Set(), exact = new Set();
  for (const f of recording.functions) {
    if (f.name === text || `${f.module}:${f.name}` === text) exact.add(f.index);
    if (matches(f.name, f.module)) all.add(f.index);
  }
  return { all, exact };
}

// All functions that match, and those that have this very name; null: nothing is sought.
export function searched() {
  const text = state.search.trim(), expression = expressionOf(text);
  if (!text) return null;
  if (expression) {
    askRegex(expression);
    const { found } = searching.regex;
    return { all: found || new Set(), exact: new Set() };
  }
  const key = `${text}/${recording.functions.length}`;
  if (key !== searching.key) Object.assign(searching, { key, ...namesOf(text) });
  return { all: searching.all, exact: searching.exact };
}

// Why an expression finds nothing.
export const searchError = () => (expressionOf(state.search.trim()) ? searching.regex.error : '');

// The functions whose calls are shown: where one has this very name, the others are left out until they are asked for.
export function wantedFunctions() {
  const found = searched();
  if (!found) return null;
  return found.exact.size && !state.others ? found.exact : found.all;
}

// What a question about their calls says; null: nothing is sought, or too much.
export function wantedParameters() {
  const wanted = wantedFunctions();
  if (!wanted || !wanted.size || wanted.size > MOST_SOUGHT) return null;
  const p = { functions: [...wanted].join(',') };
  if (state.tasks.length) p.tasks = state.tasks.join(',');
  if (state.durations) [p.least, p.most] = state.durations;
  return p;
}

export const wantsTooMuch = () => (wantedFunctions() || new Set()).size > MOST_SOUGHT;

// A test of names; null: nothing is sought. Expressions are for functions: `only` has no other names.
export function textMatcher(only = true) {
  const text = state.search.trim();
  if (!text || (expressionOf(text) && !only)) return null;
  if (!expressionOf(text)) return matcher(text);
  const names = new Set([...searched().all].map(index => (recording.functions[index] || {}).name));
  return name => names.has(name);
}
