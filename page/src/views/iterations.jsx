// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which iteration is slow? One bar for each iteration that the program marks; where it marks none, for the time from one
// call of a function to its next call on the same thread: a loop shows as a call path that returns.

import { useMemo, useRef, useState } from 'preact/hooks';
import { FAMILY } from '../colours.js';
import { counted, cut, grouped, percent, single as lengthOf } from '../format.js';
import { Canvas, Empty, Pick, ink, useRun, useSelection } from '../parts.jsx';
import { select } from '../select.js';
import { Table } from '../table.jsx';

const HEIGHT = 190, FOOT = 18, LEAST_CALLS = 4, MOST_CHOICES = 12;

/** Waiting of all locations by moment, added up from the begin of the run: a function of time. */
function waitingUntil(run) {
  const { location_times: t } = run.tables, sums = new Float64Array(run.intervals + 1);
  for (let i = 0; i < t.rows; ++i) sums[t.interval[i] + 1] += t.waiting_s[i];
  for (let k = 0; k < run.intervals; ++k) sums[k + 1] += sums[k];
  return (s) => {
    const at = Math.max(0, Math.min(run.intervals, (s / run.wall) * run.intervals)), k = Math.min(run.intervals - 1, Math.floor(at));
    return run.intervals > 0 ? sums[k] + (at - k) * (sums[k + 1] - sums[k]) : 0;
  };
}

/** Calls of each call path on the location that has most of them, where they return: the longest-lasting loops first. */
function loopsOf(run) {
  const { activities: a } = run.tables, calls = new Map();
  for (let i = 0; a && i < a.rows; ++i) {
    const key = a.callpath[i] * run.locations.length + a.location[i], list = calls.get(key);
    const before = list?.at(-1);
    // Samples and what is called cut a call into pieces: they are one as long as nothing of its callers is between.
    if (before !== undefined && a.begin_s[i] - a.end_s[before] < 1e-9) continue;
    if (list) list.push(i);
    else calls.set(key, [i]);
  }
  const loops = new Map();
  for (const [key, rows] of calls) {
    const path = Math.floor(key / run.locations.length);
    if (rows.length < LEAST_CALLS || run.paths[path].startUp || (loops.get(path)?.rows.length ?? 0) >= rows.length) continue;
    loops.set(path, { path, rows, location: key % run.locations.length, span: a.begin_s[rows.at(-1)] - a.begin_s[rows[0]] });
  }
  return [...loops.values()].sort((x, y) => y.span - x.span).slice(0, MOST_CHOICES);
}

/** What can be divided: { id, name, items: [{ name, begin, end, time, waiting, longest, balance }] }. */
function divisionsOf(run) {
  const { stages: s, activities: a } = run.tables, marked = new Map();
  for (let i = 0; i < s.rows; ++i) {
    const isIteration = run.names[s.kind[i]] === 'iteration', name = run.names[s.name[i]];
    const id = isIteration ? `iterations of ${name}` : 'phases';
    if (!marked.has(id)) marked.set(id, []);
    marked.get(id).push({ name: isIteration ? `${s.number[i]}` : name, begin: s.begin_s[i], end: s.end_s[i], length: s.end_s[i] - s.begin_s[i],
                          share: s.waiting_s[i] / s.time_s[i], balance: s.load_balance[i] });
  }
  const until = waitingUntil(run);
  const alive = run.locations.filter((l) => l.life > 0).length;
  const found = loopsOf(run).map(({ path, rows, location }) => ({
    id: `calls of ${run.code(path)} on ${run.locationName(location)}`,
    items: rows.slice(1).map((row, k) => {
      const [begin, end] = [a.begin_s[rows[k]], a.begin_s[row]];
      return { name: `${k}`, begin, end, length: end - begin, share: (until(end) - until(begin)) / ((end - begin) * alive), balance: null };
    }),
  }));
  const known = [...marked].map(([id, items]) => ({ id, items: items.sort((x, y) => x.begin - y.begin) }));
  return [...known.filter(({ items }) => items.length > 1).sort((x, y) => y.items.length - x.items.length), ...found];
}

function Bars({ items }) {
  const { run, moment } = useRun();
  const { t } = useSelection();
  const canvas = useRef();
  const [hover, setHover] = useState('');
  const longest = items.reduce((most, { length }) => Math.max(most, length), 0);
  const placeOf = (event) => {
    const box = canvas.current.getBoundingClientRect();
    return items[Math.floor(((event.clientX - box.left) / box.width) * items.length)];
  };
  const draw = (context, width) => {
    const across = width / items.length, tall = HEIGHT - FOOT;
    // Where bars are narrower than pixels, each column shows the longest of its iterations: none is lost.
    const columns = Math.min(items.length, Math.floor(width));
    for (let c = 0; c < columns; ++c) {
      const part = items.slice(Math.floor((c * items.length) / columns), Math.floor(((c + 1) * items.length) / columns));
      const most = part.reduce((x, y) => (y.length > x.length ? y : x));
      const h = (tall * most.length) / longest, x = (c * width) / columns, w = Math.max(1, width / columns - (across > 4 ? 1 : 0));
      const isIn = !t || (most.begin < t[1] && most.end > t[0]);
      context.globalAlpha = isIn ? 1 : 0.35;
      context.fillStyle = FAMILY.useful;
      context.fillRect(x, tall - h, w, h);
      context.fillStyle = FAMILY.waiting;
      context.fillRect(x, tall - h, w, h * Math.min(1, Math.max(0, most.share)));
    }
    context.globalAlpha = 1;
    context.fillStyle = ink('faint');
    context.font = '11px system-ui';
    for (let at = 0; at < items.length; at += Math.ceil(Math.max(1, 60 / across))) context.fillText(cut(items[at].name, 12), at * across + 1, HEIGHT - 4);
  };
  const tell = (event) => {
    const item = placeOf(event);
    setHover(item ? `${item.name}: ${lengthOf(item.length)}, ${percent(item.share, 1)} waiting, from ${moment(item.begin, run.wall / 1000)}` : '');
  };
  return (
    <>
      <p class="hover">{hover || 'height: length; orange: waiting in it; click: its time line'}</p>
      <div><Canvas canvasRef={canvas} height={HEIGHT} draw={draw} watch={[items, t]} role="img" aria-label="Length of each iteration; the table below has the same figures"
        onPointerMove={tell} onPointerLeave={() => setHover('')} onClick={(e) => placeOf(e) && select({ t: [placeOf(e).begin, placeOf(e).end], view: 'timeline' })} /></div>
    </>
  );
}

/** Median, and those that take much longer. */
function summaryOf(items) {
  const MUCH = 1.5;
  const lengths = items.map(({ length }) => length).sort((a, b) => a - b), median = lengths[lengths.length >> 1];
  const slow = items.filter(({ length }) => length > MUCH * median);
  return `${counted(items.length, 'part')}; half of them take ${lengthOf(median)} or less, the longest ${lengthOf(lengths.at(-1))}. `
    + (slow.length > 0 ? `${grouped(slow.length)} took more than ${MUCH} times as long as that, together `
      + `${lengthOf(slow.reduce((sum, { length }) => sum + length - median, 0))} more.` : 'None took much longer than that.');
}

export function Iterations() {
  const { run, moment } = useRun();
  const selected = useSelection();
  const divisions = useMemo(() => divisionsOf(run), [run, run.tables.activities]);
  if (divisions.length === 0) {
    return (
      <Empty>No iterations were marked in this run, and no call path that returns is in this page. Mark them with culprit_iteration_begin and
        culprit_iteration_end of culprit.h, or analyze a run with its records.</Empty>
    );
  }
  const division = divisions.find(({ id }) => id === selected.arrangement) ?? divisions[0], { items } = division;
  const columns = [
    { id: 'name', head: 'iteration', value: (r) => items.indexOf(r), cell: (r) => <Pick change={{ t: [r.begin, r.end], view: 'timeline' }} title="its time line">{cut(r.name, 60)}</Pick> },
    { id: 'begin', head: 'from', number: true, value: (r) => r.begin, cell: (r) => moment(r.begin, run.wall / 1000) },
    { id: 'length', head: 'length', number: true, value: (r) => r.length, cell: (r) => lengthOf(r.length) },
    { id: 'share', head: 'waiting', number: true, title: 'of the time of all threads in it', value: (r) => r.share, cell: (r) => percent(r.share, 1) },
    ...(items.some(({ balance }) => balance !== null) ? [{ id: 'balance', head: 'load balance', number: true, value: (r) => r.balance,
      cell: (r) => (r.balance === null ? '' : percent(r.balance, 1)) }] : []),
  ];
  return (
    <section class="iterations">
      <div class="tools"><label>from one to the next of <select value={division.id} onChange={(e) => select({ arrangement: e.currentTarget.value })}>
        {divisions.map(({ id, items: of }) => <option key={id} value={id}>{`${cut(id, 90)} (${of.length})`}</option>)}</select></label></div>
      <p>{summaryOf(items)}</p>
      <Bars items={items} />
      <Table columns={columns} rows={items} most={30} sorted="name" rowKey={(r) => `${r.name} ${r.begin}`} words={(r) => r.name}
        rowClass={(r) => (selected.t && r.begin === selected.t[0] ? 'selected' : '')} />
    </section>
  );
}
