// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Devices: busy and idle time series, the activity of hosts meanwhile, and the costliest operations.

import { useMemo, useRef, useState } from 'preact/hooks';
import { percent } from '../format.js';
import { Canvas, CodeName, Empty, ink, useRun, useSelection } from '../parts.jsx';
import { filters } from '../sums.js';
import { select } from '../select.js';

const SERIES = [['kernels_s', 'kernels', '#009e73'], ['busy_s', 'busy', '#56b4e9'], ['late_s', 'idle: host late', '#d55e00'],
                ['latency_s', 'idle: launch latency', '#e69f00'], ['unknown_s', 'idle: unknown', '#8a8a8a']];

const LEFT = 44, FOOT = 20, HEIGHT = 200;

/** Shares of each part of the run as lines; dragging selects a part. */
function DeviceChart({ device }) {
  const { run, moment } = useRun();
  const selected = useSelection();
  const canvas = useRef();
  const [pointer, setPointer] = useState(null);  // { s, from }: from: where a drag began
  const t = run.tables.device_times, [begin, end] = selected.t ?? [0, run.wall];
  const rows = useMemo(() => [...Array(t.rows).keys()].filter((i) => t.device[i] === device), [run, device]);
  const shareOf = (column, i) => Math.min(1, t[column][i] / (t.end_s[i] - t.begin_s[i] || 1));
  const here = pointer && rows.find((i) => t.begin_s[i] <= pointer.s && pointer.s <= t.end_s[i]);
  const secondsAt = (event) => {
    const box = canvas.current.getBoundingClientRect();
    return begin + Math.max(0, Math.min(1, (event.clientX - box.left - LEFT) / (box.width - LEFT))) * (end - begin);
  };
  const draw = (context, width) => {
    const x = (s) => LEFT + ((s - begin) / (end - begin)) * (width - LEFT), y = (share) => 6 + (1 - share) * (HEIGHT - FOOT - 6);
    context.font = '11px system-ui';
    for (const share of [0, 0.5, 1]) {
      context.fillStyle = ink('line');
      context.fillRect(LEFT, y(share), width - LEFT, 1);
      context.fillStyle = ink('faint');
      context.fillText(`${100 * share} %`, 2, y(share) + 4);
    }
    [begin, (begin + end) / 2, end].forEach((s, i) => {
      context.textAlign = ['left', 'center', 'right'][i];
      context.fillText(moment(s, end - begin), x(s), HEIGHT - 4);
    });
    context.save();
    context.rect(LEFT, 0, width - LEFT, HEIGHT);
    context.clip();
    context.lineWidth = 1.75;
    for (const [column, , colour] of SERIES) {
      context.strokeStyle = colour;
      context.beginPath();
      for (const i of rows) context.lineTo(x((t.begin_s[i] + t.end_s[i]) / 2), y(shareOf(column, i)));
      context.stroke();
    }
    if (pointer) {
      context.fillStyle = ink('veil');
      const [from, to] = [x(pointer.from ?? pointer.s), x(pointer.s)];
      context.fillRect(Math.min(from, to), 0, Math.max(1, Math.abs(to - from)), HEIGHT - FOOT);
    }
    context.restore();
  };
  const finish = (event) => {
    const s = secondsAt(event), from = pointer?.from;
    setPointer({ s });
    if (from !== undefined && Math.abs(s - from) > (end - begin) / 200) select({ t: [Math.min(s, from), Math.max(s, from)] });
  };
  return (
    <figure class="chart">
      <figcaption>{SERIES.map(([column, words, colour]) => (
        <span key={column}><i class="dot" style={{ background: colour }} />{words}{here !== undefined && here !== null && ` ${percent(shareOf(column, here), 1)}`}</span>))}</figcaption>
      <div><Canvas canvasRef={canvas} height={HEIGHT} draw={draw} watch={[rows, selected.t, pointer]} role="img" aria-label="What the device did, over time: drag to select"
        onPointerDown={(e) => (canvas.current.setPointerCapture(e.pointerId), setPointer({ s: secondsAt(e), from: secondsAt(e) }))}
        onPointerMove={(e) => setPointer({ ...pointer, s: secondsAt(e) })} onPointerUp={finish} onPointerLeave={() => setPointer(null)} /></div>
    </figure>
  );
}

function Blame({ kind, head }) {
  const { run, time } = useRun();
  const selected = useSelection();
  const { device_blame: b } = run.tables;
  const keep = filters(run, selected);
  const sums = new Map();
  for (let i = 0; i < b.rows; ++i) {
    if (run.names[b.kind[i]] === kind && keep.location(b.location[i]) && keep.path(b.callpath[i])) sums.set(b.callpath[i], (sums.get(b.callpath[i]) ?? 0) + b.time_s[i]);
  }
  const whole = [...sums.values()].reduce((x, y) => x + y, 0);
  if (!(whole > 0)) return null;
  return (
    <section><h2>{head}</h2><table><tbody>
      {[...sums].sort((x, y) => y[1] - x[1]).slice(0, 10).map(([path, s]) => (
        <tr key={path}><td><CodeName path={path} /></td><td class="number">{time(s)}</td>
          <td class="number">{percent(s, whole)}</td></tr>
      ))}
    </tbody></table></section>
  );
}

export function Devices() {
  const { run, time } = useRun();
  const { devices: d } = run.tables;
  const { t, ranks, path, pattern } = useSelection();
  if (d.rows === 0) return <Empty>No device was measured in this run.</Empty>;
  return (
    <>
      {(t || ranks || path !== null || pattern) && (
        <p class="hint whole-run">The stretch of time narrows the charts, ranks and call paths narrow the tables below them; the
          sums of a device are of the whole run, and patterns are not known of devices.</p>
      )}
      {Array.from({ length: d.rows }, (_, i) => (
        <section key={i}>
          <h2>{run.name('devices', 'name', i)} {run.name('devices', 'node', i) && `on ${run.name('devices', 'node', i)}`}</h2>
          <p>{time(d.busy_s[i])} busy ({percent(d.busy_s[i], d.busy_s[i] + d.idle_s[i])}): kernels {time(d.kernels_s[i])}, copies
            and others {time(d.copies_s[i])}, of which {time(d.overlapped_s[i])} while kernels ran. Idle {time(d.idle_s[i])}: the host
            was late {time(d.late_s[i])}, launch latency {time(d.latency_s[i])}, unknown {time(d.unknown_s[i])}.</p>
          <DeviceChart device={i} />
        </section>
      ))}
      <div class="columns">
        <Blame kind="idle device" head="What hosts did while devices had nothing to do" />
        <Blame kind="waiting host" head="What devices executed while hosts waited" />
      </div>
    </>
  );
}
