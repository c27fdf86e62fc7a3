// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The first screen of a difference: the changes, their amounts, and which are within noise.

import { useState } from 'preact/hooks';
import { warmText } from '../colours.js';
import { named } from '../data.js';
import { change, cut, percent } from '../format.js';
import { Pick, useRun, useSelection } from '../parts.jsx';

const FIGURES = { wall: 'run time', time: 'allocated time', waiting: 'waiting', delay: 'waiting caused',
                  critical: 'critical path' };

const HEADERS = ['before', 'after', 'change', 'of before', ''].map((words) => <th key={words} class="number">{words}</th>);

export function Changes() {
  const { run, time } = useRun();
  const [figure, setFigure] = useState('delay');
  const { changes: c, inputs } = run.tables;
  const rows = Array.from({ length: c.rows }, (_, i) => ({
    figure: run.names[c.figure[i]], region: run.names[c.region[i]], before: c.before_s[i], after: c.after_s[i],
    noise: c.noise_s[i], exceeds: c.exceeds_noise[i] === 1 }));
  const whole = rows.filter((r) => r.region === '');
  const shown = rows.filter((r) => r.region !== '' && r.figure === figure).slice(0, 60);
  const most = Math.max(...shown.map((r) => Math.abs(r.after - r.before)), 1e-12);
  const cells = (r) => (
    <>
      <td class="number">{time(r.before)}</td><td class="number">{time(r.after)}</td>
      <td class="number">{change(r.after - r.before, time(r.after - r.before))}</td>
      <td class="number">{r.before > 0 ? change(r.after - r.before, percent(r.after - r.before, r.before)) : ''}</td>
      <td class="hint">{r.noise < 0 ? '' : r.exceeds ? 'more than noise' : 'within noise'}</td>
    </>
  );
  const selected = useSelection();
  const chosen = selected.path === null ? null : run.paths[selected.path].region;
  const pathOf = (region) => run.paths.find((p) => p.region === region)?.id;
  return (
    <>
      {(selected.ranks || selected.pattern) && <p class="hint whole-run">Functions are compared over all ranks and patterns; what is selected narrows
        the other views.</p>}
      <h2>Compared</h2>
      <table><thead><tr><th>experiment</th><th>role</th><th class="number">ranks</th><th class="number">run time</th><th class="number">waiting</th></tr></thead>
        <tbody>{Array.from({ length: inputs.rows }, (_, i) => (
          <tr key={i}><td>{run.names[inputs.name[i]]}</td><td>{run.names[inputs.role[i]]}</td>
            <td class="number">{inputs.ranks[i]}</td><td class="number">{time(inputs.wall_s[i])}</td>
            <td class="number">{time(inputs.waiting_s[i])}</td></tr>
        ))}</tbody></table>
      <h2>The whole run</h2>
      <table><thead><tr><th>figure</th>{HEADERS}</tr></thead>
        <tbody>{whole.map((r) => <tr key={r.figure}><td>{FIGURES[r.figure]}</td>{cells(r)}</tr>)}</tbody></table>
      <h2>By function</h2>
      <div class="tools">{['delay', 'critical', 'waiting', 'time'].map((id) => (
        <label key={id}><input type="radio" name="changed" checked={figure === id} onChange={() => setFigure(id)} /> {FIGURES[id]}</label>
      ))}</div>
      <table><thead><tr><th>function</th>{HEADERS}</tr></thead>
        <tbody>{shown.map((r) => (
          <tr key={r.region} class={r.region === chosen ? 'selected' : ''}><td><i class="shade" style={{ background: warmText((r.after - r.before) / most) }} />
            <Pick change={{ path: pathOf(r.region) ?? null }} title={r.region}>{cut(named(r.region), 72)}</Pick></td>{cells(r)}</tr>
        ))}</tbody></table>
    </>
  );
}
