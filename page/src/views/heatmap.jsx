// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The picture that people remember: ranks by time, coloured by waiting, and the critical path drawn
// over it. Dragging selects a stretch of time and ranks.

import { useMemo, useRef, useState } from 'preact/hooks';
import { warm } from '../colours.js';
import { moment, percent } from '../format.js';
import { Canvas, ink, useRun, useSelection } from '../parts.jsx';
import { select } from '../select.js';

const LEFT = 64, BOTTOM = 30, MOST_HEIGHT = 380;

/** Share of waiting by lane and interval, -1 where nothing was; lanes of several ranks have means. */
function cellsOf(run, lanes, count) {
  const time = new Float64Array(count * run.intervals), waiting = new Float64Array(time.length);
  const { location_times: t } = run.tables;
  for (let i = 0; i < t.rows; ++i) {
    const lane = lanes[t.location[i]];
    if (lane < 0) continue;
    time[lane * run.intervals + t.interval[i]] += t.time_s[i];
    waiting[lane * run.intervals + t.interval[i]] += t.waiting_s[i];
  }
  return time.map((s, i) => (s > 0 ? waiting[i] / s : -1));
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
    const [r, g, b] = warm(cells[i]);
    image.data.set(cells[i] < 0 ? [0, 0, 0, 0] : [r, g, b, 255], 4 * i);
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

/** Where iterations begin, as ticks; phases with their names as far as there is room. */
function drawIterations(context, run, x, height) {
  const { stages: s } = run.tables;
  context.textAlign = 'left';
  for (let i = 0, end = -1; i < s.rows; ++i) {
    const at = x(s.begin_s[i]);
    context.fillRect(at, height, 1, 5);
    if (run.names[s.kind[i]] === 'iteration' || at < end) continue;
    const words = run.names[s.name[i]];
    context.fillText(words, at + 3, height + 9);
    end = at + 6 * words.length;
  }
}

export function HeatMap() {
  const { run } = useRun();
  const selected = useSelection();
  const { lanes, members, count } = useMemo(() => lanesOf(run), [run]);
  const cells = useMemo(() => cellsOf(run, lanes, count), [run, lanes, count]);
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
    const every = Math.max(1, Math.ceil((count * 13) / height));
    for (let lane = 0; lane < count; lane += every) {
      const l = members[lane][0];
      const words = run.locations.length === run.ranks.length ? `rank ${l.rank}` : l.name;
      context.fillText(words, LEFT - 6, ((lane + 0.5) * height) / count + 4);
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
    setHover(share < 0 ? null : `${who}, ${moment(at.s, run.wall)}: ${percent(share, 1)} waiting`);
  };
  return (
    <figure class="heatmap">
      <figcaption>
        Waiting by rank and time <span class="key"><i class="ramp" /> none to all</span>
        <span class="key"><i class="path" /> critical path</span>
        <span class="hover">{hover ?? 'drag to select'}</span>
      </figcaption>
      <div>
        <Canvas canvasRef={canvas} height={height + BOTTOM} draw={draw} watch={[cells, selected, drag]} tabindex="0"
          role="img" aria-label="Waiting by rank and time; the same figures stand in the tree of the system"
          onPointerDown={(e) => setDrag({ ...place(e), to: place(e) })} onPointerMove={tell} onPointerUp={finish}
          onPointerLeave={() => setHover(null)} onDblClick={() => select({ t: null, ranks: null })} />
      </div>
    </figure>
  );
}
