// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The selection by function: what each took, waited, caused, on how many locations. Call paths of the same function
// are one row, so what is called from many places is seen whole.

import { useMemo } from 'preact/hooks';
import { colourOf } from '../colours.js';
import { named } from '../data.js';
import { cut, grouped, percent, tailOf } from '../format.js';
import { Bar, BasisHint, Empty, Pick, useRun, useSelection } from '../parts.jsx';
import { Table } from '../table.jsx';
import { sumsOf } from '../sums.js';

/** Sums by function of the selected part of the run. */
function functionsOf(run, selection) {
  const sums = sumsOf(run, selection), functions = new Map();
  const { function_gains: gains } = run.tables;
  for (const path of run.paths) {
    const time = sums.timeByPath[path.id], waiting = sums.waitingByPath[path.id];
    const caused = sums.delayByPath[path.id], critical = sums.criticalByPath[path.id], visits = sums.visitsByPath[path.id];
    if (time === 0 && waiting === 0 && caused === 0 && critical === 0) continue;
    const key = `${path.region} ${path.file} ${path.line}`;
    const row = functions.get(key) ?? { key, path: path.id, largest: -1, time: 0, waiting: 0, caused: 0, critical: 0, visits: 0, places: 0, gain: null };
    if (time > row.largest) [row.path, row.largest] = [path.id, time];
    row.time += time;
    row.waiting += waiting;
    row.caused += caused;
    row.critical += critical;
    row.visits += visits;
    row.places += 1;
    functions.set(key, row);
  }
  for (let i = 0; i < gains.rows; ++i) {
    const { region, file, line } = run.paths[gains.callpath[i]], row = functions.get(`${region} ${file} ${line}`);
    if (row) row.gain = Math.max(row.gain ?? 0, gains.gain_s[i], gains.halved_s[i]);
  }
  return [...functions.values()].sort((a, b) => b.time - a.time);
}

export function FunctionTable({ most }) {
  const { run, time } = useRun();
  const selected = useSelection();
  const rows = useMemo(() => functionsOf(run, selected), [run, selected]);
  if (rows.length === 0) return <Empty>Nothing was executed in this selection. Take a chip away above to widen it.</Empty>;
  const largest = rows[0].time, whole = rows.reduce((sum, r) => sum + r.time, 0);
  const seconds = (id, head, title) => ({ id, head, title, number: true, value: (r) => r[id], cell: (r) => (r[id] > 0 ? time(r[id]) : '') });
  const columns = [
    { id: 'code', head: 'function', wide: true, value: (r) => run.region(r.path), cell: (r) => {
      const { file, line, region, name } = run.paths[r.path];
      return (
        <><Pick change={{ path: r.path }} title={name} class="code"><i class="dot" style={{ background: colourOf(run.paths[r.path]) }} aria-hidden="true" />
          {cut(named(region), 72)}</Pick>{file && !region.includes(file) && <small> {tailOf(file, 40)}{line ? `:${line}` : ''}</small>}</>
      );
    } },
    { id: 'time', head: 'time', number: true, title: 'in the function itself, waiting included, over all threads', value: (r) => r.time,
      cell: (r) => <Bar value={r.time} whole={largest} text={time(r.time)} /> },
    { id: 'share', head: 'share', number: true, title: 'of the selected time', cell: (r) => percent(r.time, whole) },
    seconds('waiting', 'waiting', 'part of the time spent waiting'),
    seconds('caused', 'waiting caused', 'the waiting time of others that it causes, directly and through further waits'),
    ...(run.tables.function_gains.rows > 0 ? [seconds('gain', 'gain', 'how much shorter the run would be after the best change that was tried')] : []),
    seconds('critical', 'critical path', 'time on the critical path'),
    ...(selected.t ? [] : [{ id: 'visits', head: 'visits', number: true, title: 'how often it was entered, as far as that is recorded', value: (r) => r.visits,
      cell: (r) => (r.visits > 0 ? grouped(Math.round(r.visits)) : '') }]),
    { id: 'places', head: 'call paths', number: true, value: (r) => r.places, cell: (r) => r.places },
  ];
  return <Table class="functions" columns={columns} rows={rows} most={most} sorted="time" rowKey={(r) => r.key} words={(r) => run.paths[r.path].name}
    rowClass={(r) => (selected.path === r.path ? 'selected' : '')} />;
}

export function Functions() {
  const selected = useSelection();
  return (
    <section>
      <h2>By function</h2>
      {selected.t && <BasisHint figure="delay" />}
      <FunctionTable most={60} />
    </section>
  );
}
