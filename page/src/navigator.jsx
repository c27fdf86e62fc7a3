// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A thin bar of the whole run above each view: how much of each part was waiting. Dragging selects a part for all views.

import { useMemo, useRef, useState } from 'preact/hooks';
import { warmText } from './colours.js';
import { Canvas, ink, useRun, useSelection } from './parts.jsx';
import { select } from './select.js';

const HEIGHT = 24, LEAST = 3;

export function Navigator() {
  const { run, moment } = useRun();
  const { t } = useSelection();
  const canvas = useRef();
  const [drag, setDrag] = useState(null);
  const shares = useMemo(() => {
    const { location_times: l } = run.tables, time = new Float64Array(run.intervals), waiting = new Float64Array(run.intervals);
    for (let i = 0; i < l.rows; ++i) {
      time[l.interval[i]] += l.time_s[i];
      waiting[l.interval[i]] += l.waiting_s[i];
    }
    return time.map((s, k) => (s > 0 ? waiting[k] / s : 0));
  }, [run]);
  if (run.intervals === 0) return null;
  const secondsAt = (event) => {
    const box = canvas.current.getBoundingClientRect();
    return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * run.wall;
  };
  const chosen = drag ? [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)] : t;
  const draw = (context, width) => {
    shares.forEach((share, k) => {
      context.fillStyle = warmText(share);
      context.fillRect((k * width) / shares.length, HEIGHT * (1 - share), width / shares.length + 0.5, HEIGHT * share);
    });
    if (!chosen) return;
    const [from, to] = chosen.map((s) => (s / run.wall) * width);
    context.fillStyle = ink('veil');
    context.fillRect(0, 0, from, HEIGHT);
    context.fillRect(to, 0, width - to, HEIGHT);
    context.strokeStyle = ink('link');
    context.lineWidth = 2;
    context.strokeRect(from, 1, Math.max(2, to - from), HEIGHT - 2);
  };
  const end = (event) => {
    if (!drag) return;
    setDrag(null);
    const width = (LEAST / canvas.current.clientWidth) * run.wall, to = secondsAt(event), length = t ? t[1] - t[0] : 0;
    if (Math.abs(to - drag.from) >= width) return select({ t: [Math.min(drag.from, to), Math.max(drag.from, to)] });
    const begin = Math.max(0, Math.min(run.wall - length, to - length / 2));
    if (t) select({ t: [begin, begin + length] });  // a click moves what is selected
  };
  const title = `waiting over the run, 0 to ${moment(run.wall, run.wall)}: drag to select a part, double click for all`;
  return (
    <section class="navigator" aria-label="The whole run"><Canvas canvasRef={canvas} height={HEIGHT} draw={draw} watch={[chosen?.[0], chosen?.[1], shares]} role="img" aria-label={title} title={title}
      onPointerDown={(e) => (canvas.current.setPointerCapture(e.pointerId), setDrag({ from: secondsAt(e), to: secondsAt(e) }))}
      onPointerMove={(e) => drag && setDrag({ ...drag, to: secondsAt(e) })} onPointerUp={end} onDblClick={() => select({ t: null })} /></section>
  );
}
