// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The lanes of pictures over time: one for each location, or where they are many, one for all locations that behave
// alike, which can be opened. Alike are those that wait for similar shares of the same parts of the run, at the same
// code, and cause as much waiting; who is alike is decided in one pass over the locations, so ten thousand of them take no noticeable time.

import { ranksText } from './select.js';
import { basisOf, sumsOf } from './sums.js';

/** From more locations on, those that are alike share a lane unless one lane each is asked for. */
export const MOST_PLAIN = 96;
const MOST_CLUSTERS = 24, PARTS = 24, FIRST_DISTANCE = 0.01, WIDER = 1.5, OTHER_CODE = 0.5, CAUSES = 0.3;

/** By what lanes can be sorted: the figure whose largest values come first. */
export const ORDERS = {
  rank: 'rank', waiting: 'waiting', delay: 'waiting caused', critical: 'critical path', time: 'time',
};

/** What each location did in equal parts of the run: its share of waiting, and the call path it was at most. */
function behaviourOf(run, shown) {
  const parts = Math.min(PARTS, run.intervals), place = new Int32Array(run.locations.length).fill(-1);
  shown.forEach((l, i) => { place[l.id] = i; });
  const time = new Float64Array(shown.length * parts), waiting = new Float64Array(time.length);
  const code = new Int32Array(time.length).fill(-1), longest = new Float64Array(time.length);
  const { location_times: t } = run.tables;
  for (let i = 0; i < t.rows; ++i) {
    if (place[t.location[i]] < 0) continue;
    const at = place[t.location[i]] * parts + Math.floor((t.interval[i] * parts) / run.intervals);
    time[at] += t.time_s[i];
    waiting[at] += t.waiting_s[i];
    if (t.time_s[i] > longest[at]) [longest[at], code[at]] = [t.time_s[i], t.callpath[i]];
  }
  const { delayByLocation } = sumsOf(run, { t: null, ranks: null, path: null, pattern: null });
  const most = delayByLocation.reduce((x, y) => Math.max(x, y), 0) || 1;
  return { parts, waits: time.map((s, i) => (s > 0 ? waiting[i] / s : 0)), code, causes: shown.map((l) => delayByLocation[l.id] / most) };
}

function distance({ parts, waits, code, causes }, a, b) {
  let sum = CAUSES * parts * Math.abs(causes[a] - causes[b]);
  for (let k = 0; k < parts; ++k) {
    sum += Math.abs(waits[a * parts + k] - waits[b * parts + k]) + (code[a * parts + k] === code[b * parts + k] ? 0 : OTHER_CODE);
  }
  return sum / parts;
}

/** Groups by the first member to which all others are near, or null if that makes too many groups. */
function groupsWithin(behaviour, count, most) {
  const leaders = [], groups = [];
  for (let i = 0; i < count; ++i) {
    let best = -1, least = most;
    leaders.forEach((leader, g) => {
      const d = distance(behaviour, leader, i);
      if (d <= least) [best, least] = [g, d];
    });
    if (best < 0) {
      if (leaders.length === MOST_CLUSTERS) return null;
      best = leaders.push(i) - 1;
      groups.push([]);
    }
    groups[best].push(i);
  }
  return groups;
}

const kept = new WeakMap();  // by run: the groups of all locations, which depend on no selection

/** All locations with a life, in the order of ranks, in groups that behave alike. */
function clustersOf(run) {
  if (kept.has(run)) return kept.get(run);
  const shown = livingOf(run);
  const behaviour = behaviourOf(run, shown);
  let groups = null;
  for (let within = FIRST_DISTANCE; groups === null; within *= WIDER) groups = groupsWithin(behaviour, shown.length, within);
  const clusters = groups.map((group) => group.map((i) => shown[i]));
  kept.set(run, clusters);
  return clusters;
}

function livingOf(run) {
  return run.locations.filter((l) => l.life > 0)
    .sort((a, b) => a.rank - b.rank || (a.stream ? 1 : 0) - (b.stream ? 1 : 0) || a.thread - b.thread);
}

/** Whether the lanes of this selection are clusters. */
export function isClustered(run, selection) {
  if (run.intervals === 0 || selection.lanes === 'each') return false;
  return chosenOf(run, selection, livingOf(run)).length > MOST_PLAIN;
}

function chosenOf(run, selection, locations) {
  const chosen = selection.ranks && new Set(selection.ranks);
  return chosen ? locations.filter((l) => chosen.has(l.rank)) : locations;
}

export function openedOf(selection) {
  return new Set((selection.open ?? '').split(',').filter(Boolean).map(Number));
}

/** The value to sort by of each location; null for the order of ranks. */
function valuesOf(run, selection) {
  const figure = selection.order;
  return figure && figure !== 'rank' && ORDERS[figure] ? sumsOf(run, basisOf(selection, figure))[`${figure}ByLocation`] : null;
}

/**
 * The lanes, from top to bottom: { name, members, cluster, isOpen }. A cluster has a number; if it is open, its members
 * follow it, each with a lane.
 */
export function lanesOf(run, selection) {
  const values = valuesOf(run, selection);
  const down = (of) => (a, b) => of(b) - of(a);
  const each = (locations) => (values ? [...locations].sort(down((l) => values[l.id])) : locations)
    .map((l) => ({ name: run.locationName(l.id), members: [l], cluster: null, isOpen: false }));
  if (!isClustered(run, selection)) return each(chosenOf(run, selection, livingOf(run)));
  const opened = openedOf(selection);
  const clusters = clustersOf(run).map((members, cluster) => ({ cluster, members: chosenOf(run, selection, members) }))
    .filter(({ members }) => members.length > 0);
  if (values) {
    const mean = ({ members }) => members.reduce((sum, l) => sum + values[l.id], 0) / members.length;
    clusters.sort(down(mean));
  }
  return clusters.flatMap(({ cluster, members }) => {
    if (members.length === 1) return each(members);
    const head = { name: clusterName(run, members), members, cluster, isOpen: opened.has(cluster) };
    return head.isOpen ? [head, ...each(members)] : [head];
  });
}

/**
 * The rows of a picture that is so high: bands of locations that are alike (or one band of all), and in them rows of at
 * least a pixel, each of one location or of neighbors in the order of the band. A band: { name, members, y, height };
 * a row: { members, y, height, name }.
 */
export function bandsOf(run, selection, height) {
  const LEAST_BAND = 13;
  const closed = lanesOf(run, { ...selection, open: null });
  const blocks = isClustered(run, selection) ? closed : [{ name: null, members: closed.flatMap(({ members }) => members) }];
  const count = blocks.reduce((sum, { members }) => sum + members.length, 0);
  const spare = Math.max(0, height - LEAST_BAND * blocks.length), values = valuesOf(run, selection);
  const bands = [], rows = [];
  let y = 0;
  for (const { name, members } of blocks) {
    const of = blocks.length > 1 ? LEAST_BAND + (spare * members.length) / count : height;
    const sorted = values ? [...members].sort((a, b) => values[b.id] - values[a.id]) : members;
    const many = Math.max(1, Math.min(members.length, Math.floor(of)));
    bands.push({ name, members, y, height: of });
    for (let k = 0; k < many; ++k) {
      const part = sorted.slice(Math.floor((k * sorted.length) / many), Math.floor(((k + 1) * sorted.length) / many));
      const words = part.length > 1 ? `${run.locationName(part[0].id)} and ${part.length - 1} more` : run.locationName(part[0].id);
      rows.push({ name: words, members: part, y: y + (k * of) / many, height: of / many, isOpen: false });
    }
    y += of;
  }
  return { bands, rows };
}

function clusterName(run, members) {
  const ranks = [...new Set(members.map((l) => l.rank))];
  const what = members.length === ranks.length ? 'ranks' : 'locations';
  return `${members.length} ${what} alike: ${ranksText(ranks, run.ranks)}`;
}

/** The lane of each location, -1 for none: its own, else that of its cluster. */
export function placesOf(run, lanes) {
  const places = new Int32Array(run.locations.length).fill(-1);
  lanes.forEach(({ members, isOpen }, i) => {
    if (!isOpen) for (const l of members) places[l.id] = i;
  });
  return places;
}

/** For lanes by interval: time, waiting and, if that is wanted, the call path at which most members were. */
export function intervalsOfLanes(run, lanes, { withCode = true } = {}) {
  const places = placesOf(run, lanes), size = lanes.length * run.intervals;
  const time = new Float64Array(size), waiting = new Float64Array(size), code = new Int32Array(size).fill(-1);
  const votes = lanes.map(({ members, isOpen }) => (members.length > 1 && !isOpen ? new Map() : null));
  const { location_times: t } = run.tables;
  for (let i = 0; i < t.rows; ++i) {
    const lane = places[t.location[i]];
    if (lane < 0) continue;
    const at = lane * run.intervals + t.interval[i];
    time[at] += t.time_s[i];
    waiting[at] += t.waiting_s[i];
    if (!withCode) continue;
    if (votes[lane] === null) {
      code[at] = t.callpath[i];
      continue;
    }
    const key = t.interval[i] * run.paths.length + t.callpath[i];
    votes[lane].set(key, (votes[lane].get(key) ?? 0) + 1);
  }
  votes.forEach((found, lane) => {
    const most = new Int32Array(run.intervals);
    found?.forEach((count, key) => {
      const k = Math.floor(key / run.paths.length);
      if (count <= most[k]) return;
      most[k] = count;
      code[lane * run.intervals + k] = key % run.paths.length;
    });
  });
  return { time, waiting, code };
}

/**
 * The critical path in lanes by pixel column: for each lane, the share of each column of [t0, t1] that the path spends
 * there, or undefined where it never is; and where it goes from lane to lane, as far as strokes would be apart.
 */
export function criticalColumns(run, places, count, [t0, t1], columns) {
  const APART = 4;
  const { segments: s } = run.tables, scale = columns / (t1 - t0);
  const shares = new Array(count), moves = [];
  let before = -1;
  for (let i = 0; i < s.rows; ++i) {
    if (s.end_s[i] < t0 || s.begin_s[i] > t1) continue;
    const lane = places[s.location[i]];
    const from = Math.max(0, (s.begin_s[i] - t0) * scale), to = Math.min(columns, (s.end_s[i] - t0) * scale);
    if (lane >= 0 && before >= 0 && lane !== before && s.begin_s[i] >= t0) moves.push({ x: from, from: before, to: lane });
    before = lane;
    if (lane < 0) continue;
    const of = shares[lane] ??= new Float32Array(columns);
    for (let x = Math.floor(from); x < to; ++x) of[x] += Math.min(to, x + 1) - Math.max(from, x);
  }
  const strokes = moves.filter(({ x }, i) => (i === 0 || x - moves[i - 1].x > APART)
    && (i + 1 === moves.length || moves[i + 1].x - x > APART));
  return { shares, strokes };
}

/** Calls `fill(from, to, share)` for stretches of columns whose shares are about the same. */
export function eachStretch(shares, fill) {
  const LEVELS = 5;
  const level = (x) => (shares[x] > 0 ? Math.max(1, Math.round(Math.min(1, shares[x]) * LEVELS)) : 0);
  for (let from = 0; from < shares.length;) {
    let to = from + 1;
    const of = level(from);
    while (to < shares.length && level(to) === of) ++to;
    if (of > 0) fill(from, to, of / LEVELS);
    from = to;
  }
}
