// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The tree of efficiencies, and phases and iterations.

import { warmText } from '../colours.js';
import { change, cut, percent } from '../format.js';
import { Empty, Pick, useRun, useSelection } from '../parts.jsx';

/** What the text report calls the factors, and what each is. */
const FACTORS = {
  parallel: ['parallel efficiency', 'useful time, of the allocated time'],
  mpi: ['MPI', 'what processes do not lose to each other'],
  'mpi.load_balance': ['load balance', 'mean useful time of processes, of the largest'],
  'mpi.communication': ['communication', 'largest useful time, of the run time'],
  'mpi.serialisation': ['serialization', 'what is not lost waiting for others that depend on each other'],
  'mpi.transfer': ['transfer', 'what is not lost in MPI without waiting'],
  omp: ['OpenMP', 'what threads do not lose within processes'],
  'omp.serial': ['serial regions', 'what is not lost by threads that idle while one works'],
  'omp.load_balance': ['load balance', 'what is not lost by threads that wait at barriers'],
  'omp.runtime': ['runtime', 'what is not lost in the OpenMP runtime'],
  offload: ['offload', 'host time that is not spent waiting for devices'], device: ['devices', 'useful time of devices'],
  'device.load_balance': ['load balance', 'mean busy time of devices, of the largest'],
  'device.communication': ['communication', 'kernels, of the busy time'],
  'device.orchestration': ['orchestration', 'busy time, of the run time'],
};

export function Efficiency() {
  const { run, time } = useRun();
  const { efficiencies: e, stages: s } = run.tables;
  const rows = Array.from({ length: e.rows }, (_, i) => ({
    name: run.names[e.name[i]], parent: run.names[e.parent[i]], value: e.value[i] }));
  const list = [];
  const visit = (parent, depth) => rows.filter((r) => r.parent === parent)
    .forEach((r) => (list.push({ ...r, depth }), visit(r.name, depth + 1)));
  visit('', 0);
  const { t, ranks, path, pattern } = useSelection();
  const stages = Array.from({ length: s.rows }, (_, i) => i).filter((i) => !t || (s.begin_s[i] < t[1] && s.end_s[i] > t[0]));
  return (
    <>
      {(t || ranks || path !== null || pattern) && (
        <p class="hint whole-run">Efficiencies are known of the whole run and all ranks alone.{t ? ' The stretch of time narrows the list of phases and '
          + 'iterations; the rest of the selection narrows nothing here.' : ' What is selected narrows nothing here.'}</p>
      )}
      <h2>{run.isDifference ? 'Change of efficiencies, in percentage points' : 'Efficiency: each factor is the product of those below it'}</h2>
      {list.length === 0 && <Empty>Efficiencies were not computed.</Empty>}
      <table class="efficiency"><tbody>
        {list.map((r) => (
          <tr key={r.name}><td style={{ paddingLeft: `${r.depth * 1.4}em` }}>{FACTORS[r.name]?.[0] ?? r.name}</td>
            <td class="number"><i class="shade" style={{ background: warmText(run.isDifference ? -r.value : 1 - r.value) }} />
              {run.isDifference ? change(r.value, (100 * r.value).toFixed(1)) : percent(r.value, 1)}</td>
            <td class="hint">{FACTORS[r.name]?.[1] ?? ''}</td></tr>
        ))}
      </tbody></table>
      {s.rows > 0 && (
        <>
          <h2>Phases and iterations</h2>
          <table><thead><tr><th>name</th>{['number', 'visits', 'time', 'waiting', 'longest', 'load balance'].map((words) => (
            <th key={words} class="number">{words}</th>))}</tr></thead>
            <tbody>{stages.slice(0, 200).map((i) => (
              <tr key={i}><td><Pick change={{ t: [s.begin_s[i], s.end_s[i]] }} title={`${run.names[s.name[i]]}: select its time`}>
                {cut(run.names[s.name[i]], 72)}</Pick></td>
                <td class="number">{run.names[s.kind[i]] === 'iteration' ? s.number[i] : ''}</td>
                <td class="number">{s.visits[i]}</td><td class="number">{time(s.time_s[i])}</td>
                <td class="number">{percent(s.waiting_s[i], s.time_s[i])}</td><td class="number">{time(s.longest_s[i])}</td>
                <td class="number">{percent(s.load_balance[i], 1)}</td></tr>
            ))}</tbody></table>
          {stages.length > 200 && <p class="hint">and {stages.length - 200} more: select a stretch of time to see them</p>}
        </>
      )}
    </>
  );
}
