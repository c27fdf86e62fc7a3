// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Devices: busy and idle time series, the activity of hosts meanwhile, and the costliest operations.

import { useEffect, useMemo, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { percent } from '../format.js';
import { CodeName, Empty, ink, useRun, useSelection } from '../parts.jsx';
import { filters } from '../sums.js';
import { select } from '../select.js';

const SERIES = [['kernels_s', 'kernels', '#009e73'], ['busy_s', 'busy', '#56b4e9'], ['late_s', 'idle: host late', '#d55e00'],
                ['latency_s', 'idle: launch latency', '#e69f00'], ['unknown_s', 'idle: unknown', '#8a8a8a']];

function DeviceChart({ device }) {
  const { run, moment } = useRun();
  const place = useRef();
  const selected = useSelection();
  const rows = useMemo(() => {
    const t = run.tables.device_times;
    return [...Array(t.rows).keys()].filter((i) => t.device[i] === device);
  }, [run, device]);
  useEffect(() => {
    const t = run.tables.device_times;
    if (rows.length === 0) return undefined;
    const data = [rows.map((i) => (t.begin_s[i] + t.end_s[i]) / 2),
                  ...SERIES.map(([column]) => rows.map((i) => (100 * t[column][i]) / (t.end_s[i] - t.begin_s[i] || 1)))];
    const [from, to] = selected.t ?? [0, run.wall];
    const axis = { stroke: ink('faint'), grid: { stroke: ink('line'), width: 1 }, ticks: { show: false } };
    const chart = new uPlot({
      width: place.current.clientWidth, height: 200, legend: { live: true },
      cursor: { drag: { x: true, y: false, setScale: false } },
      scales: { x: { time: false, min: from, max: to }, y: { range: [0, 100] } },
      axes: [{ ...axis, values: (_, v) => v.map((s) => moment(s, to - from)) },
             { ...axis, values: (_, v) => v.map((s) => `${s} %`) }],
      series: [{ label: 'time', value: (_, s) => (s === null ? '' : moment(s, (to - from) / 10)) },
               ...SERIES.map(([, label, stroke]) => ({ label, stroke, width: 1.5,
                                                       value: (_, v) => (v === null ? '' : `${v.toFixed(1)} %`) }))],
      hooks: { setSelect: [(u) => {
        if (u.select.width < 4) return;
        select({ t: [u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x')] });
        u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
      }] },
    }, data, place.current);
    return () => chart.destroy();
  }, [rows, selected.view, selected.t]);
  return <div class="chart" ref={place} />;
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
