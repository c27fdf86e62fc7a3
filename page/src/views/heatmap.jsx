// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The picture that people remember: ranks by time, coloured by waiting, and the critical path as a dark foot of lanes.
// Dragging selects an interval of time and ranks. Of a call path that is selected it shows the time in it, cold, and
// where most of that is waiting, the waiting, warm. It fills its place: few lanes are tall, and many stand in bands of
// those that behave alike.

import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { warm } from '../colours.js';
import { cut, percent } from '../format.js';
import { ORDERS, bandsOf, criticalColumns, eachStretch, intervalsOfLanes, isClustered, placesOf, MOST_PLAIN } from '../lanes.js';
import { Canvas, Empty, ink, useRun, useSelection } from '../parts.jsx';
import { select } from '../select.js';
import { filters } from '../sums.js';

const BOTTOM = 30, LEAST_HEIGHT = 120, MOST_HEIGHT = 420, LEAST_LANE = 11, APART = 6;

/** The colour of cells without data. */
const NOTHING = NaN;

/** Share of waiting by lane and interval; lanes of several locations have means. */
function cellsOf(run, lanes) {
  const { time, waiting } = intervalsOfLanes(run, lanes, { withCode: false });
  return time.map((s, i) => (s > 0 ? waiting[i] / s : NOTHING));
}

/** The same of a call path and what it calls, known by process: share of time, negative, or of waiting. */
function cellsOfPath(run, selection, lanes) {
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
  const cells = new Float64Array(lanes.length * run.intervals).fill(NOTHING);
  lanes.forEach(({ members }, lane) => {
    const groups = [...new Set(members.map((l) => run.groupOf(l.rank)))];
    for (let k = 0; k < run.intervals; ++k) {
      const sum = (of) => groups.reduce((s, group) => s + of[group * run.intervals + k], 0);
      const [s, w] = [sum(time), sum(waiting)];
      if (s > 0) cells[lane * run.intervals + k] = (2 * w > s ? w : -s) / sum(all);
    }
  });
  return cells;
}

function drawCells(context, cells, rows, intervals, x, width) {
  const image = new ImageData(intervals, rows.length);
  for (let i = 0; i < cells.length; ++i) {
    const [r, g, b] = warm(cells[i] || 0);
    image.data.set(Number.isNaN(cells[i]) ? [0, 0, 0, 0] : [r, g, b, 255], 4 * i);
  }
  const small = document.createElement('canvas');
  small.width = intervals;
  small.height = rows.length;
  small.getContext('2d').putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  rows.forEach(({ y, height }, at) => context.drawImage(small, 0, at, intervals, 1, x, y, width, height - (height > APART ? 1 : 0)));
}

/** A foot of each row, darker where the path spends more of a pixel column there; strokes where they are apart. */
function drawCritical(context, run, rows, x, width) {
  const { shares, strokes } = criticalColumns(run, placesOf(run, rows), rows.length, [0, run.wall], Math.max(1, Math.ceil(width)));
  const foot = ({ height }) => Math.max(1, Math.min(5, height / 3)), end = (row) => row.y + row.height;
  context.fillStyle = context.strokeStyle = ink('ink');
  shares.forEach((of, at) => eachStretch(of, (from, to, share) => {
    context.globalAlpha = 0.15 + 0.85 * share;
    context.fillRect(x + from, end(rows[at]) - foot(rows[at]), to - from, foot(rows[at]));
  }));
  context.globalAlpha = 1;
  context.lineWidth = 1.25;
  context.beginPath();
  for (const stroke of strokes) {
    for (const row of [rows[stroke.from], rows[stroke.to]]) {
      context[row === rows[stroke.from] ? 'moveTo' : 'lineTo'](x + stroke.x, end(row) - foot(row) / 2);
    }
  }
  context.stroke();
}

/** Names on the left: of bands where there are several, else of as many rows as there is room for. */
function drawNames(context, bands, rows, left) {
  context.fillStyle = ink('faint');
  context.font = '11px system-ui';
  context.textAlign = 'right';
  const named = bands.length > 1 ? bands.map(({ name, y, height }) => ({ name, y, height }))
    : rows.filter((_, at) => at % Math.max(1, Math.ceil(LEAST_LANE / rows[0].height)) === 0);
  for (const { name, y, height } of named) {
    context.fillText(fitting(context, name, left - 8), left - 6, Math.max(y + 9, y + height / 2 + 4));
  }
  for (const { y } of bands.slice(1)) context.fillRect(0, Math.round(y) - 0.5, left, 0.5);
}

function fitting(context, text, width) {
  let most = Math.min(text.length, Math.ceil(width / 4));
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

/** A mean of runs that are cut into different numbers of intervals has none. `fills`: to the bottom of the window. */
export function HeatMap({ fills = false }) {
  const { run } = useRun();
  const isKnown = run.intervals > 0 && run.locations.some((l) => l.life > 0);
  return isKnown ? <KnownHeatMap fills={fills} /> : <Empty>This result has no timeline.</Empty>;
}

/** The height from a place down to the bottom of the window. */
function useRest(place, fills) {
  const [rest, setRest] = useState(MOST_HEIGHT);
  useLayoutEffect(() => {
    if (!fills) return undefined;
    const measure = () => {
      const y = place.current.getBoundingClientRect().top + scrollY;
      if (y > 0) setRest(innerHeight - y - 16);
    };
    measure();
    addEventListener('resize', measure);
    return () => removeEventListener('resize', measure);
  }, []);
  return Math.max(LEAST_HEIGHT, rest - BOTTOM);
}

function KnownHeatMap({ fills }) {
  const { run, moment } = useRun();
  const selected = useSelection();
  const frame = useRef(), canvas = useRef();
  const height = useRest(frame, fills);
  const whole = { ...selected, ranks: null, t: null, path: null };
  const { bands, rows } = useMemo(() => bandsOf(run, whole, height), [run, selected.order, selected.lanes, height]);
  const { path } = selected, count = rows.length;
  const cells = useMemo(() => (path === null ? cellsOf(run, rows) : cellsOfPath(run, selected, rows)), [run, rows, path]);
  const threads = run.locations.length > run.ranks.length;
  const [drag, setDrag] = useState(null);
  const [hover, setHover] = useState(null);
  const [across, setAcross] = useState(600);
  const LEFT = across < 420 ? 84 : bands.length > 1 ? 150 : threads ? 116 : 64;

  const place = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const width = box.width - LEFT, y = Math.max(0, Math.min(height - 0.01, event.clientY - box.top));
    const s = Math.max(0, Math.min(1, (event.clientX - box.left - LEFT) / width)) * run.wall;
    const at = Math.max(0, rows.findLastIndex((row) => row.y <= y));
    return { s, row: at, band: bands.findLast((each) => each.y <= y), inNames: event.clientX - box.left < LEFT };
  };
  const ranksOf = (members) => [...new Set(members.map((l) => l.rank))].sort((a, b) => a - b);
  const finish = (event) => {
    if (!drag) return;
    const end = place(event);
    setDrag(null);
    const t = [Math.min(drag.s, end.s), Math.max(drag.s, end.s)];
    if (t[1] - t[0] < run.wall / 500) {
      if (drag.inNames && end.inNames) select({ ranks: ranksOf(bands.length > 1 ? end.band.members : rows[end.row].members) });
      return;
    }
    const chosen = rows.slice(Math.min(drag.row, end.row), Math.max(drag.row, end.row) + 1);
    const ranks = ranksOf(chosen.flatMap(({ members }) => members));
    select({ t, ranks: chosen.length === 1 && count > 1 ? ranks : ranks.length < run.ranks.length ? ranks : null });
  };
  const draw = (context, width, all) => {
    setAcross(width);
    drawCells(context, cells, rows, run.intervals, LEFT, width - LEFT);
    drawCritical(context, run, rows, LEFT, width - LEFT);
    drawNames(context, bands, rows, LEFT);
    const x = (s) => LEFT + (s / run.wall) * (width - LEFT);
    drawIterations(context, run, x, height);
    const marks = width > 500 ? 5 : 2;
    for (let i = 0; i <= marks; ++i) {
      const s = (i * run.wall) / marks;
      context.textAlign = i === 0 ? 'left' : i === marks ? 'right' : 'center';
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
      for (const row of rows) {
        if (!row.members.some((l) => ranks.has(l.rank))) context.fillRect(LEFT, row.y, width - LEFT, row.height);
      }
    }
  };
  const tell = (event) => {
    const at = place(event);
    if (drag) setDrag({ ...drag, to: at });
    if (at.inNames && bands.length > 1) return setHover(`${at.band.name}; click to select them`);
    const interval = Math.min(run.intervals - 1, Math.floor((at.s / run.wall) * run.intervals));
    const share = cells[at.row * run.intervals + interval];
    return setHover(Number.isNaN(share) ? null : `${rows[at.row].name}, ${moment(at.s, run.wall / 10)}: ${percent(Math.abs(share), 1)} `
      + `${path === null ? 'waiting' : share < 0 ? 'in it' : 'waiting in it'}`);
  };
  return (
    <figure class="heatmap">
      <figcaption>
        {path === null ? 'Waiting by rank and time' : `Time in ${run.code(path)} by rank and time`}
        {path !== null && <span class="key"><i class="ramp cold" /> none to all</span>}
        <span class="key"><i class="ramp" /> {path !== null && 'waiting, '}none to all</span>
        <span class="key"><i class="path" /> critical path</span>
        {run.locations.length > 2 && <label class="key">sort by <select value={selected.order ?? 'rank'} onChange={(e) => select({ order: e.currentTarget.value })}>
          {Object.entries(ORDERS).map(([id, words]) => <option key={id} value={id}>{words}</option>)}</select></label>}
        {run.locations.length > MOST_PLAIN && (
          <label class="key"><input type="checkbox" checked={isClustered(run, whole)} onChange={(e) => select({ lanes: e.currentTarget.checked ? null : 'each' })} /> alike together</label>)}
      </figcaption>
      <p class="hover">{hover ?? 'drag to select'}</p>
      {selected.pattern && <p class="hint whole-run">Patterns are not known over time: this is of all waiting.</p>}
      {path !== null && (threads || !run.groupsAreRanks) && (
        <p class="hint">Over time, call paths are known by {run.groupsAreRanks ? 'process' : 'groups of ranks'}: their lanes look alike.</p>)}
      <div ref={frame}>
        <Canvas canvasRef={canvas} height={height + BOTTOM} draw={draw} watch={[cells, selected, drag, LEFT]} tabindex="0"
          role="img" aria-label="Waiting by rank and time; the same figures stand in the tree of the system"
          onPointerDown={(e) => setDrag({ ...place(e), to: place(e) })} onPointerMove={tell} onPointerUp={finish}
          onPointerLeave={() => setHover(null)} onDblClick={() => select({ t: null, ranks: null })} />
      </div>
    </figure>
  );
}
