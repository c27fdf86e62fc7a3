// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The single activities, waits and messages of the page: found by location and time, and by what they are called.

import { useEffect, useState } from 'preact/hooks';
import { named, part, served } from '../../data.js';
import { ranksText } from '../../select.js';

/** Rows of a table by location, in order of begin; null if the page has no such table. */
export function byLocation(run, name) {
  const t = run.tables[name];
  if (!t) return null;
  const rows = new Map();
  for (let i = 0; i < t.rows; ++i) {
    const list = rows.get(t.location[i]);
    if (list) list.push(i);
    else rows.set(t.location[i], [i]);
  }
  return rows;
}

/** The rows of a location that touch [t0, t1]; `begin` ascends. */
export function within(list, t, t0, t1) {
  let low = 0, high = list.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (t.end_s[list[mid]] < t0) low = mid + 1;
    else high = mid;
  }
  let end = low;
  while (end < list.length && t.begin_s[list[end]] <= t1) ++end;
  return list.slice(low, end);
}

/** What a location did at a moment: rows of activities and of single_waits, null where the page has none. */
export function eventsAt(run, singles, waits, location, s) {
  return {
    activity: within(singles?.get(location) ?? [], run.tables.activities, s, s).at(-1) ?? null,
    wait: within(waits?.get(location) ?? [], run.tables.single_waits, s, s)[0] ?? null,
  };
}

/** A moment at a location, as the address keeps it: "12@0.25". */
export function parseAt(run, text) {
  const match = /^(\d+)@([\d.e+-]+)$/.exec(text ?? '');
  const location = match && Number(match[1]), s = match && Number(match[2]);
  return match && location < run.locations.length && s >= 0 && s <= run.wall ? { location, s } : null;
}

export function atText(location, s) {
  return `${location}@${Number(s.toPrecision(12))}`;
}

/** The moment inside an activity that finds it again. */
export function momentOf(t, row) {
  return t.begin_s[row] + (t.end_s[row] - t.begin_s[row]) / 2;
}

/** Activities whose function has `words` in its name, in order of begin. */
export function instancesOf(run, words) {
  const wanted = words.trim().toLowerCase(), { activities: a } = run.tables;
  if (!wanted || !a) return [];
  const isWanted = run.paths.map((path) => named(path.region).toLowerCase().includes(wanted));
  const rows = [];
  for (let i = 0; i < a.rows; ++i) if (isWanted[a.callpath[i]]) rows.push(i);
  return rows.sort((x, y) => a.begin_s[x] - a.begin_s[y] || a.location[x] - a.location[y]);
}

/** The place in `instances` that follows the one at a moment (or precedes it), around the ends. */
export function nextOf(run, instances, at, back) {
  const { activities: a } = run.tables, count = instances.length;
  const here = instances.findIndex((i) => a.location[i] === at.location && a.begin_s[i] <= at.s && at.s <= a.end_s[i]);
  if (here >= 0) return (here + (back ? count - 1 : 1)) % count;
  const after = instances.findIndex((i) => a.begin_s[i] > at.s);
  return ((after < 0 ? count : after) + (back ? count - 1 : 0)) % count;
}

/** Messages that a location sent or received in [t0, t1]: { row, partner, s, sent }. */
export function messagesOf(run, location, t0, t1, most) {
  const { messages: m } = run.tables, found = [];
  for (let i = 0; m && i < m.rows && found.length < most; ++i) {
    if (m.sender[i] === location && m.sent_s[i] >= t0 && m.sent_s[i] <= t1) {
      found.push({ row: i, partner: m.receiver[i], s: m.received_s[i], sent: true });
    } else if (m.receiver[i] === location && m.received_s[i] >= t0 && m.received_s[i] <= t1) {
      found.push({ row: i, partner: m.sender[i], s: m.sent_s[i], sent: false });
    }
  }
  return found;
}

/** Where the page is served, missing events of the visible part are fetched; counts the received parts. */
export function usePart(run, selection) {
  const [state, setState] = useState({ count: 0, problem: null });
  useEffect(() => {
    if (!served || !(run.head.left_out > 0)) return undefined;
    const [from, to] = selection.t ?? [0, run.wall];
    let isWanted = true;  // answers may overtake each other: the last part that was asked for counts
    const timer = setTimeout(() => {
      part(from, to, selection.ranks && ranksText(selection.ranks, run.ranks)).then(({ tables, head }) => {
        if (!isWanted) return;
        Object.assign(run.tables, tables);
        run.head.missing = head.left_out;
        setState(({ count }) => ({ count: count + 1, problem: null }));
      }).catch((problem) => {  // the server may be gone: the loaded data stay
        if (isWanted) setState(({ count }) => ({ count, problem: problem.message }));
      });
    }, 200);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [selection.t, selection.ranks]);
  return state;
}
