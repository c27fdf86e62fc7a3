// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Lanes of locations over time, with what each did (layers.js), and the details of what was clicked (detail.jsx). The
// visible part is the selection: the wheel zooms, dragging pans, dragging with Shift selects an interval, and tables
// follow. What moves with the pointer is drawn on a second canvas above the first.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { grouped, single as lengthOf } from '../../format.js';
import { ORDERS, criticalColumns, intervalsOfLanes, isClustered, lanesOf, openedOf, placesOf, MOST_PLAIN } from '../../lanes.js';
import { Canvas, Empty, ink, useRun, useSelection } from '../../parts.jsx';
import { select } from '../../select.js';
import { filters } from '../../sums.js';
import { FunctionTable } from '../functions.jsx';
import { Detail } from './detail.jsx';
import { atText, byLocation, eventsAt, instancesOf, momentOf, nextOf, parseAt, usePart } from './events.js';
import { AXIS, STAGE, drawArrows, drawCritical, drawEvents, drawFrame, drawIntervals, drawLabels, drawMessages, fewMessages,
         leftOf, longestWaits, stageLanes, stageName, xOf, yOf } from './layers.js';

const MOST_HEIGHT = 600, LEAST_LANE = 14, MOST_LANE = 44, ARROWS = 20, MOST_MESSAGES = 60, BOTTOM = 4;

/** All that is drawn, of one selection; the visible part is put in by the time line. */
function useScene(run, selected, parts) {
  const lanes = useMemo(() => lanesOf(run, selected), [run, selected.ranks, selected.order, selected.lanes, selected.open,
    selected.order ? selected.t : null, selected.order ? selected.path : null]);
  const places = useMemo(() => placesOf(run, lanes), [lanes]);
  const cells = useMemo(() => intervalsOfLanes(run, lanes), [lanes]);
  const singles = useMemo(() => byLocation(run, 'activities'), [run, parts]);
  const waits = useMemo(() => byLocation(run, 'single_waits'), [run, parts]);
  const stages = useMemo(() => stageLanes(run), [run]);
  return { lanes, places, cells, singles, waits, stages };
}

export function Timeline() {
  const { run, moment } = useRun();
  const selected = useSelection();
  const { count: parts, problem } = usePart(run, selected);
  const { cells, ...given } = useScene(run, selected, parts);
  const { lanes, places, stages } = given;
  const t = selected.t ?? [0, run.wall], at = parseAt(run, selected.at);
  const top = AXIS + STAGE * stages.length;
  const lane = Math.max(LEAST_LANE, Math.min(MOST_LANE, Math.floor(MOST_HEIGHT / Math.max(lanes.length, 1))));
  const visible = Math.min(MOST_HEIGHT, lanes.length * lane), height = top + visible + BOTTOM;
  const [offset, setOffset] = useState(0);
  const [pointer, setPointer] = useState(null);  // { x, y, location, s, stage, from }: from: where a drag with Shift began
  const [mark, setMark] = useState(null);
  const canvas = useRef(), scroller = useRef(), gesture = useRef(null), scene = useRef(null);

  const sceneFor = (width) => (scene.current = {
    run, t, width, height, left: leftOf(width), top, lane, offset, ...given, moment, keep: filters(run, selected),
    first: Math.floor(offset / lane), last: Math.min(lanes.length, Math.ceil((offset + visible) / lane)),
  });
  const scrollTo = (y) => { scroller.current.scrollTop = y; };
  const move = (from, to, quick = true) => {
    const length = Math.min(run.wall, Math.max(to - from, run.wall * 1e-7));
    const begin = Math.max(0, Math.min(run.wall - length, from));
    select({ t: [begin, begin + length] }, quick);
  };
  const zoom = (factor, around = (t[0] + t[1]) / 2, quick = true) =>
    move(around - (around - t[0]) * factor, around + (t[1] - around) * factor, quick);
  const found = useMemo(() => instancesOf(run, selected.find ?? ''), [run, selected.find, parts]);
  const goNext = (back) => {
    if (found.length === 0) return;
    const { activities: a } = run.tables, i = found[nextOf(run, found, at ?? { s: t[0], location: -1 }, back)];
    const length = a.end_s[i] - a.begin_s[i], width = Math.min(run.wall, Math.max(length * 4, Math.min(t[1] - t[0], length * 400)));
    const begin = Math.max(0, Math.min(run.wall - width, momentOf(a, i) - width / 2));
    select({ at: atText(a.location[i], momentOf(a, i)), t: [begin, begin + width] });
  };

  useLayoutEffect(() => canvas.current?.focus({ preventScroll: true }), []);  // keys work at once
  useEffect(() => {  // what is looked at is not outside of what scrolls
    const y = at && places[at.location] * lane;
    if (at && places[at.location] >= 0 && (y < offset || y + lane > offset + visible)) scrollTo(y - visible / 2);
  }, [selected.at]);
  useEffect(() => {
    const wheel = (event) => {
      event.preventDefault();
      if (event.ctrlKey) return scrollTo(scroller.current.scrollTop + event.deltaY);
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        const by = ((event.deltaX || event.deltaY) / 800) * (t[1] - t[0]);
        return move(t[0] + by, t[1] + by);
      }
      return zoom(Math.exp(event.deltaY / 400), place(event).s);
    };
    canvas.current?.addEventListener('wheel', wheel, { passive: false });
    return () => canvas.current?.removeEventListener('wheel', wheel);
  });
  useLayoutEffect(() => {
    const width = t[1] - t[0], detail = at && eventsAt(run, given.singles, given.waits, at.location, at.s).activity;
    const left = () => move(t[0] - width / 5, t[1] - width / 5), right = () => move(t[0] + width / 5, t[1] + width / 5);
    const closer = () => zoom(0.7, pointer?.s), further = () => zoom(1 / 0.7, pointer?.s);
    const acts = {
      ArrowLeft: left, a: left, ArrowRight: right, d: right, ArrowUp: closer, w: closer, '+': closer, ArrowDown: further, s: further, '-': further,
      0: () => select({ t: null }), n: () => goNext(false), N: () => goNext(true),
      PageDown: () => scrollTo(offset + visible), PageUp: () => scrollTo(offset - visible),
      m: () => setMark(mark || !pointer ? null : pointer.s),
      f: () => detail !== null && move(run.tables.activities.begin_s[detail], run.tables.activities.end_s[detail], false),
      '/': () => document.querySelector('.timeline input[type=search]').focus(),
    };
    const press = (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, dialog')) return;
      if (!Object.hasOwn(acts, event.key)) return;
      event.preventDefault();
      acts[event.key]();
    };
    addEventListener('keydown', press, true);  // before keys of the whole page: 0 is no view here
    return () => removeEventListener('keydown', press, true);
  });

  const draw = (context, width) => {
    const now = sceneFor(width);
    drawIntervals(context, now, cells);
    const labels = now.singles ? drawEvents(context, now) : [];
    if (now.waits) drawArrows(context, now, longestWaits(now, ARROWS));
    drawMessages(context, now, fewMessages(now, MOST_MESSAGES));
    drawCritical(context, now, criticalColumns(run, places, lanes.length, t, Math.max(1, Math.ceil(width - now.left))));
    drawLabels(context, now, labels);
    drawFrame(context, now);
  };
  /** What is pointed at, was clicked, is searched for, and is being measured. */
  const drawAbove = (context, width) => {
    const now = scene.current?.width === width ? scene.current : sceneFor(width);
    context.beginPath();
    context.rect(now.left, 0, width - now.left, height);
    context.clip();
    drawFound(context, now, found);
    for (const [moments, colour] of [[pointer && !gesture.current && pointer, 'faint'], [at, 'link']]) {
      if (moments?.location !== undefined) drawOutlined(context, now, moments, colour);
    }
    const stretch = pointer?.from !== undefined ? [pointer.from, pointer.s] : mark !== null && pointer ? [mark, pointer.s] : null;
    if (stretch) drawStretch(context, now, stretch.sort((p, q) => p - q));
  };

  const place = (event) => {
    const box = canvas.current.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top, left = leftOf(box.width);
    const s = Math.max(0, Math.min(run.wall, t[0] + ((x - left) / (box.width - left)) * (t[1] - t[0])));
    const row = y >= top ? Math.floor((y - top + offset) / lane) : -1;
    const of = lanes[row];
    const location = x >= left && of?.members.length === 1 ? of.members[0].id : undefined;
    const { stages: g } = run.tables;
    const stage = x < left ? undefined : stages[Math.floor((y - AXIS) / STAGE)]?.find((i) => g.begin_s[i] <= s && s <= g.end_s[i]);
    return { x, y, s, row, location, stage, inNames: x < left };
  };
  const tell = (event) => {
    const now = place(event), { s, x, y, from, mode, offset: begun } = gesture.current ?? {};
    if (mode === 'mark') return setPointer({ ...now, from: s });
    if (mode === 'pan') {
      const by = ((x - now.x) / (canvas.current.clientWidth - leftOf(canvas.current.clientWidth))) * (from[1] - from[0]);
      if (lanes.length * lane > visible) scrollTo(begun + y - now.y);
      return move(from[0] + by, from[1] + by);
    }
    return setPointer(now);
  };
  const begin = (event) => {
    canvas.current.setPointerCapture(event.pointerId);
    const now = place(event);
    gesture.current = { ...now, from: t, offset, mode: event.shiftKey ? 'mark' : 'pan' };
  };
  const end = (event) => {
    const done = gesture.current, now = place(event);
    gesture.current = null;
    setPointer(now);
    if (!done) return;
    if (done.mode === 'mark') return now.s !== done.s && select({ t: [done.s, now.s].sort((p, q) => p - q) });
    if (Math.abs(now.x - done.x) > 3 || Math.abs(now.y - done.y) > 3) return;
    const { stages: g } = run.tables, of = lanes[now.row];
    if (now.stage !== undefined) return select({ t: [g.begin_s[now.stage], g.end_s[now.stage]] });
    if (of && of.cluster !== null) return toggle(of.cluster);
    if (now.location !== undefined && !now.inNames) select({ at: atText(now.location, now.s) });
  };
  const toggle = (cluster) => {
    const opened = openedOf(selected);
    if (!opened.delete(cluster)) opened.add(cluster);
    select({ open: [...opened].join(',') || null });
  };
  if (lanes.length === 0) return <Empty>No location is selected.</Empty>;
  return (
    <section class="timeline">
      <Tools zoom={zoom} move={move} found={found} next={goNext} at={at} />
      <p class="hover" aria-live="off">{wordsOf(run, moment, given, pointer, t) || 'wheel: zoom; drag: move; click: details; Shift and drag: select; ?: all keys'}</p>
      <div class={at ? 'with-detail' : ''}>
        <div class="lanes">
          <div class="picture"><Canvas canvasRef={canvas} height={height} draw={draw}
            watch={[selected.t, selected.path, selected.pattern, lanes, offset, given.singles]} tabindex="0" role="application"
            aria-label="Time line: arrow keys move and zoom; the tables below have the same figures" onPointerDown={begin}
            onPointerMove={tell} onPointerUp={end} onPointerLeave={() => !gesture.current && setPointer(null)} />
            <Canvas height={height} draw={drawAbove} watch={[selected, pointer, mark, found, offset, lanes]} class="above" aria-hidden="true" /></div>
          {lanes.length * lane > visible && (
            <div class="scroller" ref={scroller} style={{ marginTop: `${top}px`, height: `${visible}px` }} tabindex="0" role="region"
              aria-label="Scroll lanes" onScroll={(e) => setOffset(e.currentTarget.scrollTop)}><div style={{ height: `${lanes.length * lane}px` }} /></div>)}
        </div>
        {at && <Detail at={at} singles={given.singles} waits={given.waits} />}
      </div>
      {selected.path !== null && <p class="hint">Everything outside {run.code(selected.path)} is dimmed.</p>}
      {selected.pattern && <p class="hint">Of the waits, those of the pattern are hatched{!given.singles && '; in the intervals waiting is of all patterns'}.</p>}
      <p class="hint">{legend(run, selected, problem)}</p>
      <h2>{selected.t ? `By function, from ${moment(t[0], t[1] - t[0])} to ${moment(t[1], t[1] - t[0])}` : 'By function'}</h2>
      <FunctionTable most={10} />
    </section>
  );
}

function drawFound(context, scene, rows) {
  const { activities: a } = scene.run.tables;
  context.fillStyle = ink('link');
  for (const i of rows) {
    const lane = scene.places[a.location[i]];
    if (a.end_s[i] < scene.t[0] || a.begin_s[i] > scene.t[1] || lane < scene.first || lane >= scene.last) continue;
    const x = xOf(scene, a.begin_s[i]);
    context.fillRect(x, yOf(scene, lane), Math.max(1, xOf(scene, a.end_s[i]) - x), 2);
  }
}

/** The activity there has a frame, and its wait an arrow, whatever else has one. */
function drawOutlined(context, scene, { location, s }, colour) {
  const { run, singles, waits, places } = scene, lane = places[location];
  const { activity, wait } = eventsAt(run, singles, waits, location, s);
  const { activities: a, single_waits: w } = run.tables;
  if (lane < 0) return;
  if (activity !== null) {
    const x = xOf(scene, a.begin_s[activity]);
    context.strokeStyle = ink(colour);
    context.lineWidth = 2;
    context.strokeRect(x, yOf(scene, lane), Math.max(2, xOf(scene, a.end_s[activity]) - x), scene.lane - 1);
  }
  if (wait !== null && (places[w.cause_location[wait]] ?? -1) >= 0) drawArrows(context, scene, [wait], 2);
}

function drawStretch(context, scene, [from, to]) {
  const x0 = xOf(scene, from), x1 = xOf(scene, to), words = lengthOf(to - from);
  context.fillStyle = ink('veil');
  context.fillRect(scene.left, scene.top, x0 - scene.left, scene.height);
  context.fillRect(x1, scene.top, scene.width - x1, scene.height);
  context.font = 'bold 12px system-ui';
  context.fillStyle = ink('paper');
  context.fillRect(x0 + 2, scene.top + 2, context.measureText(words).width + 8, 17);
  context.fillStyle = ink('ink');
  context.fillText(words, x0 + 6, scene.top + 15);
}

/** The line above the lanes: what is pointed at. */
function wordsOf(run, moment, { lanes, singles, waits }, pointer, t) {
  if (!pointer) return '';
  const { stages: g, single_waits: w, activities: a } = run.tables;
  if (pointer.stage !== undefined) {
    return `${stageName(run, pointer.stage)}: ${moment(g.begin_s[pointer.stage], run.wall / 10)} to ${moment(g.end_s[pointer.stage], run.wall / 10)}; click to see its time`;
  }
  const of = lanes[pointer.row];
  if (!of) return '';
  if (of.cluster !== null) return `${of.name}; click to ${of.isOpen ? 'close' : 'see each'}`;
  let words = `${run.locationName(of.members[0].id)}, ${moment(pointer.s, t[1] - t[0])}`;
  const { activity, wait } = eventsAt(run, singles, waits, of.members[0].id, pointer.s);
  if (activity !== null) words += `: ${run.paths[a.callpath[activity]].name || '(unnamed)'}, ${lengthOf(a.end_s[activity] - a.begin_s[activity])}`;
  if (wait !== null) {
    words += `; waits ${lengthOf(w.end_s[wait] - w.begin_s[wait])} for ${run.locationName(w.cause_location[wait])} `
      + `[${run.patterns.get(run.names[w.pattern[wait]])?.name}]`;
  }
  return words;
}

function Tools({ zoom, move, found, next, at }) {
  const { run } = useRun();
  const selected = useSelection();
  const { activities: a } = run.tables;
  const place = at && a ? found.findIndex((i) => a.location[i] === at.location && a.begin_s[i] <= at.s && at.s <= a.end_s[i]) : -1;
  const many = run.locations.length > MOST_PLAIN;
  return (
    <div class="tools">
      <button onClick={() => zoom(0.5, undefined, false)}>zoom in</button>
      <button onClick={() => zoom(2, undefined, false)}>zoom out</button>
      <button onClick={() => select({ t: null })}>whole run</button>
      <Windows move={move} />
      <label>sort by <select value={selected.order ?? 'rank'} onChange={(e) => select({ order: e.currentTarget.value })}>
        {Object.entries(ORDERS).map(([id, words]) => <option key={id} value={id}>{words}</option>)}</select></label>
      {many && <label><input type="checkbox" checked={isClustered(run, selected)} onChange={(e) => select({ lanes: e.currentTarget.checked ? null : 'each' })} />
        {' '}one lane for those that are alike</label>}
      <label>find <input type="search" value={selected.find ?? ''} onInput={(e) => select({ find: e.currentTarget.value || null }, true)}
        onKeyDown={(e) => {
          if (e.key === 'Enter') next(e.shiftKey);
          if (e.key === 'Escape') (e.stopPropagation(), select({ find: null }), e.currentTarget.blur());
        }} /></label>
      {selected.find && (a ? (
        <span class="found">{place >= 0 ? `${grouped(place + 1)} of ` : ''}{found.length === 0 ? 'none' : grouped(found.length)}
          {' '}<button onClick={() => next(true)} aria-label="previous one">‹</button><button onClick={() => next(false)} aria-label="next one">›</button></span>
      ) : <span class="hint">single activities are not in this page</span>)}
    </div>
  );
}

/** The worst waits, to go there. */
function Windows({ move }) {
  const { run, time, moment } = useRun();
  const { instances: w } = run.tables;
  if (w.rows === 0) return null;
  const go = (i) => {
    const length = w.end_s[i] - w.begin_s[i];
    move(w.begin_s[i] - length / 2, w.end_s[i] + length / 2, false);
  };
  const rows = [...Array(w.rows).keys()].sort((a, b) => w.time_s[b] - w.time_s[a]).slice(0, 15);
  return (
    <select class="windows" aria-label="Go to one of the longest waits" value="" onChange={(e) => e.currentTarget.value && go(Number(e.currentTarget.value))}>
      <option value="">longest waits…</option>
      {rows.map((i) => <option key={i} value={i}>{`${time(w.time_s[i])} on ${run.locationName(w.location[i])}: `
        + `${run.patterns.get(run.names[w.pattern[i]])?.name} at ${moment(w.begin_s[i], run.wall)}`}</option>)}
    </select>
  );
}

function legend(run, selected, problem) {
  const words = ['Hatched: waiting; arrows: who ended the longest waits; dark foot of lanes: critical path; thin lines: messages, if few. '
    + 'What is narrower than pixels is stacked by share.'];
  if (isClustered(run, selected)) words.push('Lanes that wait alike share one: click to see each.');
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
  return words.join(' ');
}
