// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The gaps of the result, and how it was made.

import { grouped } from '../format.js';
import { useRun } from '../parts.jsx';

const WORDS = { data_loss: 'Data loss', warning: 'Warning', note: 'Note' };

export function Coverage() {
  const { run } = useRun();
  const { losses: l, run: one } = run.tables;
  return (
    <>
      <h2>What this result does not cover</h2>
      <ul class="losses">
        {run.head.violations.map((words) => <li key={words} class="alarm">Error: {words}</li>)}
        {Array.from({ length: l.rows }, (_, i) => {
          const severity = run.names[l.severity[i]];
          return <li key={i} class={severity}>{WORDS[severity] ?? severity}: {run.names[l.advice[i]]} ({run.names[l.name[i]]}:
            {' '}{grouped(l.count[i])})</li>;
        })}
        {run.head.notes.map((words) => <li key={words}>Note: {words}</li>)}
        {l.rows + run.head.notes.length + run.head.violations.length === 0 && <li>No known gaps.</li>}
      </ul>
      <h2>How it was made</h2>
      <dl>
        <dt>command</dt><dd>{run.command}</dd>
        <dt>date</dt><dd>{run.facts.date || 'unknown'}</dd>
        <dt>MPI</dt><dd>{run.facts.mpi || 'none'}</dd>
        <dt>OpenMP</dt><dd>{run.facts.openmp || 'none'}</dd>
        <dt>events</dt><dd>{grouped(one.events[0])}</dd>
        <dt>measurement overhead</dt>
        <dd>{run.overhead < 0 ? 'unknown' : run.overhead < 0.05 ? 'less than 0.1 % of the run time (estimate)'
          : `about ${run.overhead.toFixed(1)} % of the run time (estimate)`}</dd>
      </dl>
    </>
  );
}
