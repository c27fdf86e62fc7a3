// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Lanes of locations: what each did, hatched where it waited, with an arrow from the location that ended the wait,
// messages, the critical path; above them phases and iterations. The visible part is the selection: the wheel zooms,
// dragging pans, dragging with Shift selects an interval, and tables follow.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { colourOf, hatch, inkOn, warmText } from '../colours.js';
import { grouped, single as lengthOf } from '../format.js';
import { Canvas, Empty, ink, useRun, useSelection } from '../parts.jsx';
import { named, part, served } from '../data.js';
import { ranksText, select } from '../select.js';
import { filters } from '../sums.js';

const LEFT = 120, AXIS = 20, STAGE = 16, MOST_STAGES = 3, MOST_LANES = 96, MOST_LINES = 3000, FAINT = 0.15;

function lanesOf(run, selection) {
  const chosen = selection.ranks ? new Set(selection.ranks) : null;
  const all = run.locations.filter((l) => l.life > 0 && (!chosen || chosen.has(l.rank)))
    .sort((a, b) => a.rank - b.rank || (a.stream ? 1 : 0) - (b.stream ? 1 : 0) || a.thread - b.thread);
  return { shown: all.slice(0, MOST_LANES), more: Math.max(0, all.length - MOST_LANES) };
}

/** Phases and iterations, one below the other where they overlap: rows of the table, from outer to inner. */
function stageLanes(run) {
  const { stages: s } = run.tables;
  const order = Array.from({ length: s.rows }, (_, i) => i).sort((a, b) => s.begin_s[a] - s.begin_s[b] || s.end_s[b] - s.end_s[a]);
  const lanes = [];
  for (const i of order) {
    const slack = 0.02 * (s.end_s[i] - s.begin_s[i]);  // ranks come to an end at slightly different times
    let at = lanes.findIndex((lane) => s.end_s[lane.at(-1)] <= s.begin_s[i] + slack);
    if (at < 0) at = lanes.push([]) - 1;
    lanes[at].push(i);
  }
  return lanes.slice(0, MOST_STAGES);
}

function stageName(run, i) {
  const { stages: s } = run.tables;
  return run.names[s.kind[i]] === 'iteration' ? `${run.names[s.name[i]]} ${s.number[i]}` : run.names[s.name[i]];
}

/** Rows of a table by location, in order of begin. */
function indexByLocation(run, name) {
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
function within(list, t, t0, t1) {
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

/** Where the page is served, missing events of the visible part are fetched; counts the received parts. */
function usePart(run, selection) {
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

export function Timeline() {
  const { run, time, moment } = useRun();
  const selected = useSelection();
  const stages = useMemo(() => stageLanes(run), [run]);
  const TOP = AXIS + STAGE * stages.length;
  const keep = filters(run, selected);
  const t = selected.t ?? [0, run.wall];
  const { shown, more } = useMemo(() => lanesOf(run, selected), [run, selected.ranks]);
  const { count: parts, problem } = usePart(run, selected);
  const single = useMemo(() => indexByLocation(run, 'activities'), [run, parts]);
  const waits = useMemo(() => indexByLocation(run, 'single_waits'), [run, parts]);
  const lane = Math.max(9, Math.min(26, Math.floor(620 / Math.max(shown.length, 1))));
  const height = TOP + shown.length * lane + 20;
  const canvas = useRef();
  const gesture = useRef(null);
  const [mark, setMark] = useState(null);
  const [hover, setHover] = useState('');
  const place = new Map(shown.map((l, i) => [l.id, i]));

  const xOf = (s, width) => LEFT + ((s - t[0]) / (t[1] - t[0])) * (width - LEFT);
  const secondsAt = (clientX) => {
    const box = canvas.current.getBoundingClientRect();
    return t[0] + ((clientX - box.left - LEFT) / (box.width - LEFT)) * (t[1] - t[0]);
  };
  const move = (from, to, quick = true) => {
    const length = Math.min(run.wall, Math.max(to - from, run.wall * 1e-7));
    const begin = Math.max(0, Math.min(run.wall - length, from));
    select({ t: [begin, begin + length] }, quick);
  };
  const zoom = (factor, at = (t[0] + t[1]) / 2, quick = true) => move(at - (at - t[0]) * factor, at + (t[1] - at) * factor, quick);

  useLayoutEffect(() => canvas.current?.focus({ preventScroll: true }), []);  // keys work at once
  useEffect(() => {
    const wheel = (event) => {
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        const by = ((event.deltaX || event.deltaY) / 800) * (t[1] - t[0]);
        move(t[0] + by, t[1] + by);
      } else {
        zoom(Math.exp(event.deltaY / 400), secondsAt(event.clientX));
      }
    };
    canvas.current.addEventListener('wheel', wheel, { passive: false });
    return () => canvas.current?.removeEventListener('wheel', wheel);
  });

  const drawIntervals = (context, width) => {
    const { location_times: cells } = run.tables;
    const step = run.wall / run.intervals;
    const lanes = new Int32Array(run.locations.length).fill(-1);
    shown.forEach((l, i) => { lanes[l.id] = i; });
    for (let i = 0; i < cells.rows; ++i) {
      const at = lanes[cells.location[i]];
      if (at < 0) continue;
      const begin = cells.interval[i] * step;
      if (begin > t[1] || begin + step < t[0]) continue;
      const x0 = Math.max(LEFT, xOf(begin, width)), x1 = xOf(begin + step, width);
      const y = TOP + at * lane;
      context.fillStyle = colourOf(run.paths[cells.callpath[i]]);
      context.globalAlpha = keep.path(cells.callpath[i]) ? 0.55 : FAINT;
      context.fillRect(x0, y + 1, Math.max(0.6, x1 - x0), lane - 3);
      const share = cells.waiting_s[i] / (cells.time_s[i] || 1);
      if (share > 0.02) {
        context.fillStyle = warmText(share);
        context.fillRect(x0, y + 1 + (lane - 3) * (1 - share), Math.max(0.6, x1 - x0), (lane - 3) * share);
      }
      context.globalAlpha = 1;
    }
  };
  /** Returns the labels, which want to lie over waits. */
  const drawSingles = (context, width) => {
    const { activities: a } = run.tables;
    const labels = [], paper = ink('paper');
    const pixel = (t[1] - t[0]) / (width - LEFT);
    for (const l of shown) {
      const y = TOP + place.get(l.id) * lane;
      for (const i of within(single.get(l.id) ?? [], a, t[0], t[1])) {
        if (a.end_s[i] - a.begin_s[i] < 0.4 * pixel) continue;
        const x0 = Math.max(LEFT, xOf(a.begin_s[i], width)), x1 = Math.min(width, xOf(a.end_s[i], width));
        const path = run.paths[a.callpath[i]];
        const wanted = keep.path(a.callpath[i]);
        if (!wanted) {  // keeps faint layers from showing those below
          context.fillStyle = paper;
          context.fillRect(x0, y + 1, Math.max(0.6, x1 - x0), lane - 3);
        }
        context.globalAlpha = wanted ? 1 : FAINT;
        context.fillStyle = colourOf(path);
        context.fillRect(x0, y + 1, Math.max(0.6, x1 - x0), lane - 3);
        context.globalAlpha = 1;
        if (wanted && x1 - x0 > 44 && lane >= 14) labels.push({ path, l, x0, x1, y: y + lane - 7, s: Math.max(t[0], a.begin_s[i]) });
      }
    }
    return labels;
  };
  /** White or black on colours; over a wait's stripes, on a ground of its own. */
  const drawLabels = (context, width, labels) => {
    const { single_waits: w } = run.tables;
    const pixel = (t[1] - t[0]) / (width - LEFT);
    context.font = '10px system-ui';
    for (const { path, l, x0, x1, y, s } of labels) {
      const words = clip(named(path.region), x1 - x0 - 6), across = Math.min(x1 - x0, context.measureText(words).width + 4);
      const striped = waits && within(waits.get(l.id) ?? [], w, s, s + across * pixel).some((i) => keep.pattern(run.names[w.pattern[i]]));
      if (striped && words) {
        context.fillStyle = 'rgb(255 247 236 / 92%)';
        context.fillRect(x0 + 1, y - 9, across, 12);
      }
      context.fillStyle = striped ? '#222' : inkOn(colourOf(path));
      context.fillText(words, x0 + 3, y);
    }
  };
  const drawStages = (context, width) => {
    const { stages: s } = run.tables;
    context.font = '11px system-ui';
    stages.forEach((list, at) => list.forEach((i, k) => {
      if (s.begin_s[i] > t[1] || s.end_s[i] < t[0]) return;
      const x0 = Math.max(LEFT, xOf(s.begin_s[i], width)), x1 = Math.min(width, xOf(s.end_s[i], width));
      context.fillStyle = ink(k % 2 ? 'line' : 'stage');
      context.fillRect(x0, AXIS + at * STAGE, Math.max(1, x1 - x0 - 1), STAGE - 2);
      context.fillStyle = ink('ink');
      context.fillText(clip(stageName(run, i), x1 - x0 - 6), x0 + 3, AXIS + at * STAGE + 11);
    }));
  };
  const drawWaits = (context, width) => {
    const { single_waits: w } = run.tables;
    const pattern = hatch(context);
    const pixel = (t[1] - t[0]) / (width - LEFT);
    const arrows = [];
    for (const l of shown) {
      const y = TOP + place.get(l.id) * lane;
      for (const i of within(waits.get(l.id) ?? [], w, t[0], t[1])) {
        if (w.end_s[i] - w.begin_s[i] < 0.4 * pixel) continue;
        if (!keep.pattern(run.names[w.pattern[i]]) || !keep.path(w.callpath[i])) continue;
        const x0 = Math.max(LEFT, xOf(w.begin_s[i], width)), x1 = Math.min(width, xOf(w.end_s[i], width));
        context.fillStyle = 'rgba(255, 240, 225, 0.75)';
        context.fillRect(x0, y + 1, Math.max(0.6, x1 - x0), lane - 3);
        context.fillStyle = pattern;
        context.fillRect(x0, y + 1, Math.max(0.6, x1 - x0), lane - 3);
        if (w.end_s[i] <= t[1] && place.has(w.cause_location[i])) arrows.push(i);
      }
    }
    if (arrows.length > MOST_LINES) return;
    context.strokeStyle = '#a33c00';
    context.lineWidth = 1;
    for (const i of arrows) {
      const x = xOf(w.end_s[i], width);
      const from = TOP + (place.get(w.cause_location[i]) + 0.5) * lane, to = TOP + (place.get(w.location[i]) + 0.5) * lane;
      const tip = Math.sign(from - to) * 4;
      context.beginPath();
      context.moveTo(x, from);
      context.lineTo(x, to);
      context.moveTo(x - 3, to + tip);
      context.lineTo(x, to);
      context.lineTo(x + 3, to + tip);
      context.stroke();
    }
  };
  const drawMessages = (context, width) => {
    const { messages: m } = run.tables;
    const visible = [];
    for (let i = 0; i < m.rows && visible.length <= MOST_LINES; ++i) {
      if (m.received_s[i] < t[0] || m.sent_s[i] > t[1]) continue;
      if (place.has(m.sender[i]) && place.has(m.receiver[i])) visible.push(i);
    }
    if (visible.length > MOST_LINES) return;
    context.strokeStyle = ink('message');
    context.lineWidth = 1;
    context.beginPath();
    for (const i of visible) {
      context.moveTo(xOf(m.sent_s[i], width), TOP + (place.get(m.sender[i]) + 0.5) * lane);
      context.lineTo(xOf(m.received_s[i], width), TOP + (place.get(m.receiver[i]) + 0.5) * lane);
    }
    context.stroke();
  };
  const drawCritical = (context, width) => {
    const { segments: s } = run.tables;
    context.strokeStyle = ink('critical');
    context.lineWidth = 2.5;
    context.beginPath();
    let before = false;
    for (let i = 0; i < s.rows; ++i) {
      const at = place.get(s.location[i]);
      if (s.end_s[i] < t[0] || s.begin_s[i] > t[1] || at === undefined) {
        before = false;
        continue;
      }
      const y = TOP + (at + 1) * lane - 2;
      const x0 = xOf(Math.max(s.begin_s[i], t[0]), width), x1 = xOf(Math.min(s.end_s[i], t[1]), width);
      if (before) context.lineTo(x0, y);
      else context.moveTo(x0, y);
      context.lineTo(x1, y);
      before = true;
    }
    context.stroke();
  };
  const drawFrame = (context, width) => {
    context.fillStyle = ink('paper');
    context.fillRect(0, 0, LEFT, height);
    context.fillStyle = ink('ink');
    context.font = '11px system-ui';
    if (stages.length > 0) context.fillText(run.tables.stages.kind.some((kind) => run.names[kind] === 'phase') ? 'phases' : 'iterations', 2, AXIS + 11);
    const every = Math.ceil(13 / lane);
    shown.forEach((l, i) => {
      if (i % every === 0) context.fillText(clip(run.locationName(l.id), LEFT - 8), 2, TOP + i * lane + lane / 2 + 3);
    });
    context.fillStyle = ink('faint');
    for (let i = 0; i <= 4; ++i) {
      const s = t[0] + (i * (t[1] - t[0])) / 4;
      context.textAlign = i === 0 ? 'left' : i === 4 ? 'right' : 'center';
      context.fillText(moment(s, t[1] - t[0]), xOf(s, width), 12);
      context.fillRect(xOf(s, width), 15, 1, 4);
    }
    context.textAlign = 'left';
    if (mark) {
      context.fillStyle = ink('veil');
      context.fillRect(xOf(mark[0], width), TOP, xOf(mark[1], width) - xOf(mark[0], width), height);
    }
  };
  const draw = (context, width) => {
    drawIntervals(context, width);
    const labels = single ? drawSingles(context, width) : [];
    if (waits) drawWaits(context, width);
    if (run.tables.messages) drawMessages(context, width);
    drawCritical(context, width);
    drawLabels(context, width, labels);
    drawStages(context, width);
    drawFrame(context, width);
  };

  const hit = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const s = secondsAt(event.clientX);
    const l = shown[Math.floor((event.clientY - box.top - TOP) / lane)];
    if (!l || event.clientX - box.left < LEFT) return null;
    const { single_waits: w, activities: a } = run.tables;
    const wait = waits && within(waits.get(l.id) ?? [], w, s, s)[0];
    const activity = single && within(single.get(l.id) ?? [], a, s, s).at(-1);
    return { l, s, wait, activity };
  };
  const stageAt = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const { stages: g } = run.tables, s = secondsAt(event.clientX);
    if (event.clientX - box.left < LEFT) return undefined;
    return stages[Math.floor((event.clientY - box.top - AXIS) / STAGE)]?.find((i) => g.begin_s[i] <= s && s <= g.end_s[i]);
  };
  const tell = (event) => {
    if (gesture.current) {
      const { x, from, mode } = gesture.current;
      if (mode === 'mark') return setMark([gesture.current.s, secondsAt(event.clientX)].sort((p, q) => p - q));
      const box = canvas.current.getBoundingClientRect();
      const by = ((x - event.clientX) / (box.width - LEFT)) * (from[1] - from[0]);
      return move(from[0] + by, from[1] + by);
    }
    const at = hit(event), stage = stageAt(event);
    if (stage !== undefined) {
      const { stages: g } = run.tables;
      return setHover(`${stageName(run, stage)}: ${moment(g.begin_s[stage], run.wall / 10)} to ${moment(g.end_s[stage], run.wall / 10)}; click to see its time`);
    }
    if (!at) return setHover('');
    const { single_waits: w, activities: a } = run.tables;
    let words = `${run.locationName(at.l.id)}, ${moment(at.s, t[1] - t[0])}`;
    if (at.activity !== undefined && at.activity !== null) {
      words += `: ${run.paths[a.callpath[at.activity]].name || '(unnamed)'}, ${lengthOf(a.end_s[at.activity] - a.begin_s[at.activity])}`;
    }
    if (at.wait !== undefined && at.wait !== null) {
      words += `; waits ${lengthOf(w.end_s[at.wait] - w.begin_s[at.wait])} for ${run.locationName(w.cause_location[at.wait])} `
        + `[${run.patterns.get(run.names[w.pattern[at.wait]])?.name}]`;
    }
    setHover(words);
    return undefined;
  };
  const begin = (event) => {
    canvas.current.setPointerCapture(event.pointerId);
    gesture.current = { x: event.clientX, s: secondsAt(event.clientX), from: t, mode: event.shiftKey ? 'mark' : 'pan' };
  };
  const end = (event) => {
    const done = gesture.current;
    gesture.current = null;
    if (done?.mode === 'mark' && mark && mark[1] > mark[0]) select({ t: mark });
    setMark(null);
    if (!done || done.mode === 'mark' || Math.abs(event.clientX - done.x) > 3) return;
    const at = hit(event), stage = stageAt(event);
    if (stage !== undefined) select({ t: [run.tables.stages.begin_s[stage], run.tables.stages.end_s[stage]] });
    if (at?.activity !== undefined && at?.activity !== null) select({ path: run.tables.activities.callpath[at.activity] });
  };
  const keys = (event) => {
    const width = t[1] - t[0];
    const acts = { ArrowLeft: () => move(t[0] - width / 5, t[1] - width / 5), ArrowRight: () => move(t[0] + width / 5, t[1] + width / 5),
                   ArrowUp: () => zoom(0.7), ArrowDown: () => zoom(1 / 0.7), '+': () => zoom(0.7), '-': () => zoom(1 / 0.7),
                   0: () => select({ t: null }) };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  };
  if (shown.length === 0) return <Empty>No location is selected.</Empty>;
  return (
    <section class="timeline">
      <div class="tools">
        <button onClick={() => zoom(0.5, undefined, false)}>zoom in</button>
        <button onClick={() => zoom(2, undefined, false)}>zoom out</button>
        <button onClick={() => select({ t: null })}>whole run</button>
        <Windows />
        <span class="hover">{hover || 'wheel: zoom; drag: pan; Shift and drag: select; arrow keys'}</span>
      </div>
      <div><Canvas canvasRef={canvas} height={height} draw={draw} watch={[selected, mark, shown, single]} tabindex="0"
        role="application" aria-label="Time line: arrow keys pan and zoom" onKeyDown={keys} onPointerDown={begin}
        onPointerMove={tell} onPointerUp={end} onPointerLeave={() => setHover('')} /></div>
      {selected.path !== null && <p class="hint">Everything outside {run.code(selected.path)} is dimmed.</p>}
      {selected.pattern && <p class="hint">Of the waits, those of the pattern are hatched{!single && '; in the intervals waiting is of all patterns'}.</p>}
      <p class="hint">{legend(run, more, problem)}</p>
    </section>
  );

  /** The worst waits, to go there. */
  function Windows() {
    const { instances: w } = run.tables;
    if (w.rows === 0) return null;
    const go = (i) => {
      const length = w.end_s[i] - w.begin_s[i];
      move(w.begin_s[i] - length / 2, w.end_s[i] + length / 2, false);
    };
    const rows = [...Array(w.rows).keys()].sort((a, b) => w.time_s[b] - w.time_s[a]).slice(0, 15);
    return (
      <select aria-label="Go to one of the longest waits" value="" onChange={(e) => e.currentTarget.value && go(Number(e.currentTarget.value))}>
        <option value="">longest waits…</option>
        {rows.map((i) => <option key={i} value={i}>{`${time(w.time_s[i])} on ${run.locationName(w.location[i])}: `
          + `${run.patterns.get(run.names[w.pattern[i]])?.name} at ${moment(w.begin_s[i], run.wall)}`}</option>)}
      </select>
    );
  }
}

function clip(text, width) {
  const most = Math.floor(width / 5.6);
  return text.length <= most ? text : most > 3 ? `${text.slice(0, most - 1)}…` : '';
}

function legend(run, more, problem) {
  const words = ['Hatched: waiting, with an arrow from who ended it; thick line: critical path; thin lines: messages.'];
  if (run.intervals === 0 && !run.tables.activities) {
    words.push('This result has no timeline.');
  } else if (!run.tables.activities) {
    words.push(`Single activities are not in this page: each of ${run.intervals} intervals shows what took most of it, `
      + 'and how much was waiting.');
  } else if ((run.head.missing ?? run.head.left_out) > 0) {
    words.push(`${grouped(run.head.missing ?? run.head.left_out)} short activities, waits and messages away from the longest waits are not in `
      + 'this page; there the intervals show what took most of the time.');
  }
  if (problem) words.push(`What is short in this part could not be fetched (${problem}): is culprit view --serve still running?`);
  if (more > 0) words.push(`${more} further locations: select ranks to see them.`);
  return words.join(' ');
}
