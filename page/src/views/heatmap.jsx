// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The picture that people remember: ranks by time, coloured by waiting, and the critical path drawn
// over it. Dragging selects an interval of time and ranks. Of a call path that is selected it shows the
// time in it, cold, and where most of that is waiting, the waiting, warm.

import { useMemo, useRef, useState } from 'preact/hooks';
import { warm } from '../colours.js';
import { cut, percent } from '../format.js';
import { Canvas, Empty, ink, useRun, useSelection } from '../parts.jsx';
import { select } from '../select.js';
import { filters } from '../sums.js';

const BOTTOM = 30, MOST_HEIGHT = 380;

/** The colour of cells without data. */
const NOTHING = NaN;

/** Share of waiting by lane and interval; lanes of several ranks have means. */
function cellsOf(run, lanes, count) {
  const time = new Float64Array(count * run.intervals), waiting = new Float64Array(time.length);
  const { location_times: t } = run.tables;
  for (let i = 0; i < t.rows; ++i) {
    const lane = lanes[t.location[i]];
    if (lane < 0) continue;
    time[lane * run.intervals + t.interval[i]] += t.time_s[i];
    waiting[lane * run.intervals + t.interval[i]] += t.waiting_s[i];
  }
  return time.map((s, i) => (s > 0 ? waiting[i] / s : NOTHING));
}

/** The same of a call path and what it calls, known by process: share of time, negative, or of waiting. */
function cellsOfPath(run, selection, members, count) {
  const size = run.groups.length * run.intervals;
  const all = new Float64Array(size), time = new Float64Array(size), waiting = new Float64Array(size);
  const { callpath_times: cube } = run.tables;
  const keep = filters(run, { ...selection, ranks: null });
  for (let i = 0; i < cube.rows; ++i) {
    const at = run.groupOf(run.locations[cube.location[i]].rank) * run.intervals + cube.interval[i];
    all[at] += cube.time_s[i];
    if (!keep.path(cube.callpath[i])) continue;
    time[at] += cube.time_s[i];
    waiting[at] += cube.waiting_s[i];
  }
  const cells = new Float64Array(count * run.intervals).fill(NOTHING);
  members.forEach(([first], lane) => {
    for (let k = 0; k < run.intervals; ++k) {
      const at = run.groupOf(first.rank) * run.intervals + k;
      if (time[at] > 0) cells[lane * run.intervals + k] = (2 * waiting[at] > time[at] ? waiting[at] : -time[at]) / all[at];
    }
  });
  return cells;
}

/** A lane for each location, or where there are many for each so many of them. */
function lanesOf(run) {
  const shown = run.locations.filter((l) => l.life > 0)
    .sort((a, b) => a.rank - b.rank || a.thread - b.thread);
  const count = Math.min(shown.length, MOST_HEIGHT);
  const lanes = new Int32Array(run.locations.length).fill(-1);
  const members = Array.from({ length: count }, () => []);
  shown.forEach((l, i) => {
    lanes[l.id] = Math.floor((i * count) / shown.length);
    members[lanes[l.id]].push(l);
  });
  return { lanes, members, count };
}

function drawCells(context, cells, count, intervals, x, width, height) {
  const image = new ImageData(intervals, count);
  for (let i = 0; i < cells.length; ++i) {
    const [r, g, b] = warm(cells[i] || 0);
    image.data.set(Number.isNaN(cells[i]) ? [0, 0, 0, 0] : [r, g, b, 255], 4 * i);
  }
  const small = document.createElement('canvas');
  small.width = intervals;
  small.height = count;
  small.getContext('2d').putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, x, 0, width, height);
}

function drawCritical(context, run, lanes, count, x, width, height) {
  const { segments: s } = run.tables;
  context.strokeStyle = ink('ink');
  context.lineWidth = count > 100 ? 1 : 1.75;
  context.beginPath();
  for (let i = 0; i < s.rows; ++i) {
    const lane = lanes[s.location[i]];
    if (lane < 0) continue;
    const y = ((lane + 0.5) * height) / count;
    context.lineTo(x + (s.begin_s[i] / run.wall) * width, y);
    context.lineTo(x + (s.end_s[i] / run.wall) * width, y);
  }
  context.stroke();
}

function fitting(context, text, width) {
  let most = text.length;
  while (most > 1 && context.measureText(cut(text, most)).width > width) --most;
  return cut(text, most);
}

/** Where iterations begin, as ticks; phases with their names as far as there is room. */
function drawIterations(context, run, x, height) {
  const { stages: s } = run.tables;
  context.textAlign = 'left';
  let end = -1;
  for (const i of Array.from({ length: s.rows }, (_, k) => k).sort((a, b) => s.begin_s[a] - s.begin_s[b])) {
    const at = x(s.begin_s[i]);
    context.fillRect(at, height, 1, 5);
    if (run.names[s.kind[i]] === 'iteration' || at < end) continue;
    const words = cut(run.names[s.name[i]], 40);
    context.fillText(words, at + 3, height + 11);
    end = at + 8 + context.measureText(words).width;
  }
}

/** A mean of runs that are cut into different numbers of intervals has none. */
export function HeatMap() {
  const { run } = useRun();
  const isKnown = run.intervals > 0 && run.locations.some((l) => l.life > 0);
  return isKnown ? <KnownHeatMap /> : <Empty>This result has no timeline.</Empty>;
}

function KnownHeatMap() {
  const { run, moment } = useRun();
  const selected = useSelection();
  const { lanes, members, count } = useMemo(() => lanesOf(run), [run]);
  const { path } = selected;
  const cells = useMemo(() => (path === null ? cellsOf(run, lanes, count) : cellsOfPath(run, selected, members, count)),
    [run, lanes, count, path]);
  const threads = run.locations.length > run.ranks.length;
  const LEFT = threads ? 116 : 64;
  const height = Math.min(MOST_HEIGHT, Math.max(count * 22, 90));
  const canvas = useRef();
  const [drag, setDrag] = useState(null);
  const [hover, setHover] = useState(null);

  const place = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const width = box.width - LEFT;
    const s = Math.max(0, Math.min(1, (event.clientX - box.left - LEFT) / width)) * run.wall;
    const lane = Math.max(0, Math.min(count - 1, Math.floor(((event.clientY - box.top) / height) * count)));
    return { s, lane };
  };
  const finish = (event) => {
    if (!drag) return;
    const end = place(event);
    setDrag(null);
    const t = [Math.min(drag.s, end.s), Math.max(drag.s, end.s)];
    if (t[1] - t[0] < run.wall / 500) return;
    const rows = [Math.min(drag.lane, end.lane), Math.max(drag.lane, end.lane)];
    const ranks = [...new Set(members.slice(rows[0], rows[1] + 1).flat().map((l) => l.rank))].sort((a, b) => a - b);
    select({ t, ranks: rows[0] === rows[1] && count > 1 ? ranks : ranks.length < run.ranks.length ? ranks : null });
  };
  const draw = (context, width, all) => {
    drawCells(context, cells, count, run.intervals, LEFT, width - LEFT, height);
    drawCritical(context, run, lanes, count, LEFT, width - LEFT, height);
    const x = (s) => LEFT + (s / run.wall) * (width - LEFT);
    context.fillStyle = ink('faint');
    context.font = '11px system-ui';
    context.textAlign = 'right';
    const every = Math.max(1, Math.ceil((count * 15) / height));
    for (let lane = 0; lane < count; lane += every) {
      const l = members[lane][0];
      context.fillText(fitting(context, run.locationName(l.id), LEFT - 8), LEFT - 6, Math.max(9, ((lane + 0.5) * height) / count + 4));
    }
    drawIterations(context, run, x, height);
    context.textAlign = 'center';
    for (let i = 0; i <= 5; ++i) {
      const s = (i * run.wall) / 5;
      context.textAlign = i === 0 ? 'left' : i === 5 ? 'right' : 'center';
      context.fillText(moment(s, run.wall), x(s), all - 6);
    }
    const t = drag ? [Math.min(drag.s, drag.to.s), Math.max(drag.s, drag.to.s)] : selected.t;
    const ranks = selected.ranks ? new Set(selected.ranks) : null;
    context.fillStyle = ink('veil');
    if (t) {
      context.fillRect(LEFT, 0, x(t[0]) - LEFT, height);
      context.fillRect(x(t[1]), 0, width - x(t[1]), height);
    }
    if (ranks && !drag) {
      members.forEach((all, lane) => {
        if (all.some((l) => ranks.has(l.rank))) return;
        context.fillRect(LEFT, (lane * height) / count, width - LEFT, height / count);
      });
    }
  };
  const tell = (event) => {
    const at = place(event);
    if (drag) setDrag({ ...drag, to: at });
    const interval = Math.min(run.intervals - 1, Math.floor((at.s / run.wall) * run.intervals));
    const share = cells[at.lane * run.intervals + interval];
    const l = members[at.lane][0];
    const who = members[at.lane].length > 1 ? `${run.locationName(l.id)} and ${members[at.lane].length - 1} more`
      : run.locationName(l.id);
    setHover(Number.isNaN(share) ? null : `${who}, ${moment(at.s, run.wall / 10)}: ${percent(Math.abs(share), 1)} `
      + `${path === null ? 'waiting' : share < 0 ? 'in it' : 'waiting in it'}`);
  };
  return (
    <figure class="heatmap">
      <figcaption>
        {path === null ? 'Waiting by rank and time' : `Time in ${run.code(path)} by rank and time`}
        {path !== null && <span class="key"><i class="ramp cold" /> none to all</span>}
        <span class="key"><i class="ramp" /> {path !== null && 'waiting, '}none to all</span>
        <span class="key"><i class="path" /> critical path</span>
        <span class="hover">{hover ?? 'drag to select'}</span>
      </figcaption>
      {selected.pattern && <p class="hint whole-run">Patterns are not known over time: this is of all waiting.</p>}
      {path !== null && (threads || !run.groupsAreRanks) && (
        <p class="hint">Over time, call paths are known by {run.groupsAreRanks ? 'process' : 'groups of ranks'}: their lanes look alike.</p>)}
      <div>
        <Canvas canvasRef={canvas} height={height + BOTTOM} draw={draw} watch={[cells, selected, drag]} tabindex="0"
          role="img" aria-label="Waiting by rank and time; the same figures stand in the tree of the system"
          onPointerDown={(e) => setDrag({ ...place(e), to: place(e) })} onPointerMove={tell} onPointerUp={finish}
          onPointerLeave={() => setHover(null)} onDblClick={() => select({ t: null, ranks: null })} />
      </div>
    </figure>
  );
}
