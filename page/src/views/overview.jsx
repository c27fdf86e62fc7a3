// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The first screen: is there a problem, how big is it, who causes it, where and when.

import { useMemo } from 'preact/hooks';
import { FAMILY, familyOf } from '../colours.js';
import { counted, percent } from '../format.js';
import { Pick, groupWords, useRun, useSelection } from '../parts.jsx';
import { sumsOf } from '../sums.js';
import { CauseTable } from './causes.jsx';
import { HeatMap } from './heatmap.jsx';

const KINDS = [
  ['useful', 'useful work'], ['mpi', 'MPI without waiting'], ['openmp', 'OpenMP without waiting'],
  ['device', 'devices'], ['unknown', 'code without samples'], ['startUp', 'start-up, shutdown'], ['idle', 'idle threads and devices'],
  ['waiting', 'waiting'], ['other', 'waiting of other patterns'],
];

const HATCHED = { waiting: 'hatched', other: 'hatched' };

/** Time of the selection by kind; waiting by itself, and by the pattern, if one is selected that is known by it. */
function kindsOf(run, sums, ofPattern) {
  const kinds = Object.fromEntries(KINDS.map(([kind]) => [kind, 0]));
  run.paths.forEach((path) => {
    kinds[familyOf(path)] += Math.max(0, sums.timeByPath[path.id] - sums.waitingByPath[path.id]);
    kinds.waiting += sums.waitingByPath[path.id];
  });
  if (ofPattern !== null) {
    kinds.other = Math.max(0, kinds.waiting - ofPattern);
    kinds.waiting = ofPattern;
  }
  return kinds;
}

export function TimeBar() {
  const { run, time } = useRun();
  const selected = useSelection();
  const all = useMemo(() => sumsOf(run, { ...selected, pattern: null }), [run, selected]);
  const narrowed = selected.pattern && !selected.t && !run.isOwn(selected.pattern);
  const kinds = useMemo(() => kindsOf(run, all, narrowed ? sumsOf(run, selected).waiting : null), [all, selected]);
  if (!(all.time > 0)) return null;
  const name = (kind, words) => (kind === 'waiting' && narrowed ? `${words}: ${run.patterns.get(selected.pattern).name}` : words);
  return (
    <section class="timebar" aria-label="Where the time went">
      <div class="stack">
        {KINDS.map(([kind, words]) => kinds[kind] > 0.001 * all.time && (
          <Pick key={kind} change={{ view: 'trees', metric: HATCHED[kind] ? 'waiting' : 'time' }}
            class={HATCHED[kind]} title={`${name(kind, words)}: ${time(kinds[kind])}`}
            style={{ width: `${(100 * kinds[kind]) / all.time}%`, background: FAMILY[kind] }}
            aria-label={`${name(kind, words)}: ${time(kinds[kind])}, ${percent(kinds[kind], all.time)}`} />
        ))}
      </div>
      <ul>
        {KINDS.map(([kind, words]) => kinds[kind] > 0.001 * all.time && (
          <li key={kind}><i class={`dot ${HATCHED[kind] ?? ''}`} style={{ background: FAMILY[kind] }} />
            {name(kind, words)} <b>{time(kinds[kind])}</b> {percent(kinds[kind], all.time)}</li>
        ))}
      </ul>
      {run.isOwn(selected.pattern) && <p class="hint">What a pattern of your own found is in no other sum: here waiting is that of all others.</p>}
      {selected.t && selected.pattern && <p class="hint whole-run">Patterns are not known over time: here waiting is of all of them.</p>}
      {selected.t && groupWords(run, selected).map((words) => <p key={words} class="hint whole-run">{words}</p>)}
    </section>
  );
}

function changeOf(wall, time) {
  const size = time(Math.abs(wall));
  return size === time(0) ? 'as long as before' : `${size} ${wall > 0 ? 'longer' : 'shorter'} than before`;
}

function facts(run, time) {
  const processes = run.facts.mpi || run.ranks.length > 1 ? counted(run.ranks.length, 'rank') : 'one process';
  const length = run.isDifference ? changeOf(run.wall, time) : time(run.wall);
  const words = [processes, counted(run.locations.length, 'location'), length];
  if (run.facts.date) words.push(run.facts.date.slice(0, 16).replace('T', ' '));
  for (const library of [run.facts.mpi, run.facts.openmp]) if (library) words.push(library.split(',')[0]);
  if (run.exitStatus !== 0) words.push(`exit status ${run.exitStatus}`);
  return words.join(' · ');
}

export function Head() {
  const { run, time } = useRun();
  return (
    <header>
      <h1 title={run.command}>{run.command}</h1>
      <p class="facts">{facts(run, time)}</p>
      {run.head.violations.length > 0 && (
        <p class="alarm">The sums in this result do not add up. Do not rely on it: see Coverage.</p>
      )}
      <p class="verdict">{run.verdict.text || 'There is nothing to say: nobody waited.'}</p>
      {run.verdict.warning && <p class="hint">Warning: {run.verdict.warning}</p>}
      {run.verdict.more.length > 0 && <p class="hint">{run.verdict.more.join(' ')}</p>}
    </header>
  );
}

export function Overview() {
  return (
    <>
      <TimeBar />
      <div class="columns">
        <section><h2>Who made others wait</h2><CauseTable most={8} /></section>
        <section><h2>Where and when</h2><HeatMap /></section>
      </div>
    </>
  );
}
