// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The selection: a view, an interval of time, ranks, a call path with its callees, a pattern.
// It is kept in the URL's fragment alone, so that a link shows what its sender saw, and the
// browser's back button undoes. Every view obeys it, none has a selection of its own.

/** What views keep as plain words: how they are arranged, and the moment whose details are open. */
const WORDS = ['metric', 'arrangement', 'order', 'lanes', 'open', 'at', 'find', 'file'];
const EMPTY = { view: 'overview', t: null, ranks: null, path: null, pattern: null, ...Object.fromEntries(WORDS.map((key) => [key, null])) };
/** A selection that lacks less of the run than this is all of it. */
const ALMOST_ALL = 0.999;
const listeners = new Set();
let current = EMPTY;
let run = null;

/** "0,4-7" as a sorted list of the run's ranks; null if it has none of them. */
export function parseRanks(text, known) {
  const wanted = new Set();
  for (const part of text.split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part.trim());
    if (!match) return null;
    const from = Number(match[1]), to = match[2] === undefined ? from : Number(match[2]);
    for (const rank of known) if (rank >= from && rank <= to) wanted.add(rank);
  }
  return wanted.size > 0 ? [...wanted].sort((a, b) => a - b) : null;
}

const places = new WeakMap();  // of the run's ranks, and what else is asked for

function placesOf(known) {
  if (!places.has(known)) places.set(known, new Map(known.map((rank, i) => [rank, i])));
  return places.get(known);
}

/** The other way round; `known` are all ranks in order. */
export function ranksText(ranks, known) {
  const parts = [];
  const place = placesOf(known);
  for (let i = 0; i < ranks.length;) {
    let end = i;
    while (end + 1 < ranks.length && place.get(ranks[end + 1]) === place.get(ranks[end]) + 1) ++end;
    parts.push(end > i ? `${ranks[i]}-${ranks[end]}` : `${ranks[i]}`);
    i = end + 1;
  }
  return parts.join(',');
}

/** "0.5-1e-3" within the run; null if it is none, lies past the run's end, or is all of it. */
function parseTime(text) {
  const match = /^([\d.]+(?:e[+-]?\d+)?)-([\d.]+(?:e[+-]?\d+)?)$/.exec(text);
  if (!match) return null;
  const [from, to] = [Number(match[1]), Math.min(run.wall, Number(match[2]))];
  return from < to && (from > 0 || to < run.wall) ? [from, to] : null;
}

function parse(fragment) {
  const given = new URLSearchParams(fragment.replace(/^#/, ''));
  const selection = { ...EMPTY, view: given.get('view') ?? EMPTY.view };
  for (const key of WORDS) selection[key] = given.get(key);
  selection.t = parseTime(given.get('t') ?? '');
  if (given.get('ranks')) selection.ranks = parseRanks(given.get('ranks'), run.ranks);
  const path = run.paths.find((p) => p.name === given.get('path'));
  if (path) selection.path = path.id;
  if (run.patterns.has(given.get('pattern'))) selection.pattern = given.get('pattern');
  return selection;
}

export function fragmentOf(selection) {
  const given = new URLSearchParams();
  if (selection.view !== EMPTY.view) given.set('view', selection.view);
  if (selection.t) given.set('t', selection.t.map((s) => Number(s.toPrecision(9))).join('-'));
  if (selection.ranks) given.set('ranks', ranksText(selection.ranks, run.ranks));
  if (selection.path !== null) given.set('path', run.paths[selection.path].name);
  if (selection.pattern) given.set('pattern', selection.pattern);
  for (const key of WORDS) if (selection[key]) given.set(key, selection[key]);
  return `#${given}`;
}

/** The link that changes the selection by `change`. */
export function linkTo(change) {
  return fragmentOf({ ...current, ...change });
}

function publish() {
  for (const listener of listeners) listener(current);
}

/** `quick`: in the middle of a gesture; it leaves no trace in the history. */
export function select(change, quick = false) {
  current = { ...current, ...change };
  if (current.t && current.t[1] - current.t[0] >= ALMOST_ALL * run.wall) current.t = null;
  const fragment = fragmentOf(current);
  if (fragment !== location.hash && !(fragment === '#' && location.hash === '')) {
    history[quick ? 'replaceState' : 'pushState'](null, '', fragment);
  }
  publish();
}

export function selection() {
  return current;
}

export function start(data) {
  run = data;
  current = parse(location.hash);
  const reread = () => {
    current = parse(location.hash);
    publish();
  };
  addEventListener('hashchange', reread);
  addEventListener('popstate', reread);
}

export function subscribe(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
