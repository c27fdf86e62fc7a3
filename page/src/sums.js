// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sums over the selected part of a run. Without an interval of time, sums are those of findings.
// With one, time and waiting come from the equal intervals, whole ones; values without
// time series (delay costs, the patterns of waits) remain those of the whole run, and views say so.

/** The part of the selection that applies to a figure; without the time interval where there is no time series. */
export function basisOf(selection, figure) {
  const known = figure === 'time' || (figure === 'waiting' && !selection.pattern);
  return selection.t && !known ? { ...selection, t: null } : selection;
}

export function filters(run, selection) {
  const ranks = selection.ranks ? new Set(selection.ranks) : null;
  const groups = ranks && new Set(selection.ranks.map((rank) => run.groups[run.groupOf(rank)]));
  const path = selection.path === null ? null : run.paths[selection.path];
  return {
    location: (id) => ranks === null || ranks.has(run.locations[id].rank),
    group: (id) => ranks === null || groups.has(run.locations[id].rank),
    path: (id) => path === null || (run.paths[id].from >= path.from && run.paths[id].from < path.to),
    pattern: (id) => !selection.pattern || run.inFamily(id, selection.pattern),
  };
}

/** The intervals that the selected time touches: [first, last). */
export function intervalsOf(run, selection) {
  if (!selection.t) return [0, run.intervals];
  const scale = run.intervals / run.wall;
  const first = Math.floor(selection.t[0] * scale + 1e-6);
  return [first, Math.min(run.intervals, Math.max(first + 1, Math.ceil(selection.t[1] * scale - 1e-6)))];
}

function zeros(count) {
  return new Float64Array(count);
}

function addUp(to, value, path, location, sums) {
  sums[to] += value;
  sums[`${to}ByPath`][path] += value;
  sums[`${to}ByLocation`][location] += value;
}

function emptySums(run) {
  const sums = {};
  for (const figure of ['time', 'waiting', 'delay', 'critical', 'visits']) {
    sums[figure] = 0;
    sums[`${figure}ByPath`] = zeros(run.paths.length);
    sums[`${figure}ByLocation`] = zeros(run.locations.length);
  }
  return sums;
}

function addTimesOfWholeRun(run, selection, keep, sums) {
  const { profile, waits: found, user_waits: own } = run.tables;
  const waits = run.isOwn(selection.pattern) ? own : found;
  for (let i = 0; i < profile.rows; ++i) {
    const path = profile.callpath[i], location = profile.location[i];
    if (!keep.location(location) || !keep.path(path)) continue;
    addUp('time', profile.time_s[i], path, location, sums);
    addUp('visits', profile.visits[i], path, location, sums);
  }
  for (let i = 0; i < waits.rows; ++i) {
    const path = waits.callpath[i], location = waits.location[i];
    if (!keep.location(location) || !keep.path(path) || !keep.pattern(run.names[waits.pattern[i]])) continue;
    addUp('waiting', waits.time_s[i], path, location, sums);
  }
}

/** Of a group of ranks, known at its first one: an equal part to each that is selected, thread by thread. */
function shareOut(run, keep, figures, sums) {
  if (run.groupsAreRanks) return;
  const members = new Map();
  for (const { id, rank, thread, stream } of run.locations) {
    if (stream || !keep.location(id)) continue;
    const key = `${run.groupOf(rank)} ${thread}`;
    if (members.has(key)) members.get(key).push(id);
    else members.set(key, [id]);
  }
  for (const figure of figures) {
    const of = sums[`${figure}ByLocation`], before = Float64Array.from(of);
    of.fill(0);
    before.forEach((value, id) => {
      const { rank, thread } = run.locations[id];
      const all = value > 0 ? members.get(`${run.groupOf(rank)} ${thread}`) ?? [id] : [];
      for (const member of all) of[member] += value / all.length;
    });
  }
}

/** Locations get their sums from their own table if no call path is chosen, else from their group. */
function addTimesOfIntervals(run, selection, keep, sums) {
  const [first, last] = intervalsOf(run, selection);
  const { callpath_times: cube, location_times: lives } = run.tables;
  for (let i = 0; i < cube.rows; ++i) {
    const path = cube.callpath[i];
    if (cube.interval[i] < first || cube.interval[i] >= last || !keep.path(path)) continue;
    if (!keep.group(cube.location[i])) continue;
    sums.time += cube.time_s[i];
    sums.waiting += cube.waiting_s[i];
    sums.timeByPath[path] += cube.time_s[i];
    sums.waitingByPath[path] += cube.waiting_s[i];
    if (selection.path !== null) {
      sums.timeByLocation[cube.location[i]] += cube.time_s[i];
      sums.waitingByLocation[cube.location[i]] += cube.waiting_s[i];
    }
  }
  if (selection.path !== null) return shareOut(run, keep, ['time', 'waiting'], sums);
  for (let i = 0; i < lives.rows; ++i) {
    if (lives.interval[i] < first || lives.interval[i] >= last || !keep.location(lives.location[i])) continue;
    sums.timeByLocation[lives.location[i]] += lives.time_s[i];
    sums.waitingByLocation[lives.location[i]] += lives.waiting_s[i];
  }
}

function addCosts(run, keep, sums) {
  const { delays, critical_path: critical } = run.tables;
  for (let i = 0; i < delays.rows; ++i) {
    const path = delays.callpath[i], location = delays.location[i];
    if (!keep.location(location) || !keep.path(path) || !keep.pattern(run.names[delays.pattern[i]])) continue;
    addUp('delay', delays.short_s[i] + delays.long_s[i], path, location, sums);
  }
  for (let i = 0; i < critical.rows; ++i) {
    const path = critical.callpath[i], location = critical.location[i];
    if (keep.location(location) && keep.path(path)) addUp('critical', critical.time_s[i], path, location, sums);
  }
}

const kept = new Map();  // the last few: views ask for the same, and people go back

export function sumsOf(run, selection) {
  const key = JSON.stringify([selection.t && intervalsOf(run, selection), selection.ranks, selection.path,
                              selection.pattern]);
  if (kept.has(key)) return kept.get(key);
  const keep = filters(run, selection);
  const sums = emptySums(run);
  if (selection.t) {
    addTimesOfIntervals(run, selection, keep, sums);
  } else {
    addTimesOfWholeRun(run, selection, keep, sums);
  }
  addCosts(run, keep, sums);
  if (kept.size > 20) kept.delete(kept.keys().next().value);
  kept.set(key, sums);
  return sums;
}

/** Exclusive sums along the call tree, made inclusive. Parents have smaller numbers. */
export function inclusive(run, byPath) {
  const sums = Float64Array.from(byPath);
  for (let i = sums.length - 1; i >= 0; --i) {
    if (run.paths[i].parent !== null) sums[run.paths[i].parent] += sums[i];
  }
  return sums;
}

/** The sums of each rank, in the order of run.ranks. */
export function byRank(run, byLocation) {
  const place = new Map(run.ranks.map((rank, i) => [rank, i]));
  const sums = zeros(run.ranks.length);
  byLocation.forEach((value, id) => {
    sums[place.get(run.locations[id].rank)] += value;
  });
  return sums;
}

/** The largest of their sizes; differences have both signs. */
export function sizeOf(values) {
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

/** The largest, and the coefficient of variation; null where it has no meaning: of values of both signs. */
export function spread(values) {
  let sum = 0, squares = 0, largest = 0, least = Infinity, most = -Infinity;
  values.forEach((value, i) => {
    sum += value;
    squares += value * value;
    least = Math.min(least, value);
    most = Math.max(most, value);
    if (Math.abs(value) > Math.abs(values[largest])) largest = i;
  });
  const mean = Math.abs(sum / values.length);
  const known = mean > 0 && !(least < 0 && most > 0);
  return { largest, variation: known ? Math.sqrt(Math.max(0, squares / values.length - mean * mean)) / mean : null };
}

/** Delays joined by call path, the costliest first. */
export function causesOf(run, selection) {
  const causes = [];
  sumsOf(run, selection).delayByPath.forEach((cost, path) => {
    if (cost > 0 && !run.paths[path].startUp) causes.push({ path, cost });
  });
  return causes.sort((a, b) => b.cost - a.cost);
}
