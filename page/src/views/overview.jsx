// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The first screen: is there a problem, how big is it, who causes it, where and when.

import { useMemo } from 'preact/hooks';
import { FAMILY, familyOf } from '../colours.js';
import { counted, cut, percent } from '../format.js';
import { Pick, groupWords, useRun, useSelection } from '../parts.jsx';
import { filters, sumsOf } from '../sums.js';
import { CauseTable } from './causes.jsx';
import { HeatMap } from './heatmap.jsx';

/** Classes of allocated time as in the tree of efficiencies (words.def), and what they are called. */
const TILES = [
  ['useful', 'useful work', FAMILY.useful], ['io', 'file operations', '#e69f00'], ['mpi', 'MPI without waiting', FAMILY.mpi],
  ['overhead', 'OpenMP runtime', FAMILY.openmp], ['polling', 'unsuccessful tests', '#8ab4d8'], ['spinning', 'spinning', '#b58ac2'],
  ['blocked', 'blocked, cause unknown', '#777'], ['start_up', 'start-up, shutdown', FAMILY.startUp], ['absent', 'not started, or ended', FAMILY.idle],
  ['waiting', 'waiting', FAMILY.waiting],
];
/** The same as far as call paths tell, for a selection of which no classes are known. */
const KINDS = [
  ['useful', 'useful work', FAMILY.useful], ['mpi', 'MPI without waiting', FAMILY.mpi], ['openmp', 'OpenMP runtime', FAMILY.openmp],
  ['device', 'devices', FAMILY.device], ['unknown', 'code without samples', FAMILY.unknown], ['startUp', 'start-up, shutdown', FAMILY.startUp],
  ['idle', 'idle threads and devices', FAMILY.idle], ['waiting', 'waiting', FAMILY.waiting], ['other', 'waiting of other patterns', FAMILY.other],
];

const HATCHED = { waiting: 'hatched', other: 'hatched' };

/** Constructs of OpenMP whose own time is that of the program's code in them. */
const WITH_CODE = /^!\$omp (parallel|for|do|loop|sections?|single|masked|master|task|taskloop|target|teams|workshare|distribute)\b/;

/** Time of the selection by kind; waiting by itself, and by the pattern, if one is selected that is known by it. */
function kindsOf(run, sums, ofPattern) {
  const kinds = Object.fromEntries(KINDS.map(([kind]) => [kind, 0]));
  run.paths.forEach((path) => {
    const family = familyOf(path), kind = family === 'openmp' && WITH_CODE.test(path.region) ? 'useful' : family;
    kinds[kind] += Math.max(0, sums.timeByPath[path.id] - sums.waitingByPath[path.id]);
    kinds.waiting += sums.waitingByPath[path.id];
  });
  if (ofPattern !== null) {
    kinds.other = Math.max(0, kinds.waiting - ofPattern);
    kinds.waiting = ofPattern;
  }
  return kinds;
}

/** The classes of the selected ranks' time; null where the selection is narrower than what classes are known of. */
function tilesOf(run, selection) {
  const { tiles } = run.tables;
  if (tiles.rows === 0 || selection.t || selection.path !== null || selection.pattern) return null;
  const kinds = Object.fromEntries(TILES.map(([kind]) => [kind, 0])), keep = filters(run, selection);
  for (let i = 0; i < tiles.rows; ++i) {
    const kind = run.names[tiles.tile[i]];
    if (keep.location(tiles.location[i]) && kind in kinds) kinds[kind] += tiles.time_s[i];
  }
  return kinds;
}

export function TimeBar() {
  const { run, time } = useRun();
  const selected = useSelection();
  const all = useMemo(() => sumsOf(run, { ...selected, pattern: null }), [run, selected]);
  const tiles = useMemo(() => tilesOf(run, selected), [run, selected]);
  const narrowed = selected.pattern && !selected.t && !run.isOwn(selected.pattern);
  const kinds = useMemo(() => tiles ?? kindsOf(run, all, narrowed ? sumsOf(run, selected).waiting : null), [all, selected]);
  const whole = Object.values(kinds).reduce((sum, s) => sum + s, 0);
  if (!(whole > 0)) return null;
  const name = (kind, words) => (kind === 'waiting' && narrowed ? `${words}: ${run.patterns.get(selected.pattern).name}` : words);
  const shown = (tiles ? TILES : KINDS).filter(([kind]) => kinds[kind] > 0.001 * whole);
  return (
    <section class="timebar" aria-label="Where the time went">
      <div class="stack">
        {shown.map(([kind, words, colour]) => (
          <Pick key={kind} change={{ view: 'trees', metric: HATCHED[kind] ? 'waiting' : 'time' }}
            class={HATCHED[kind]} title={`${name(kind, words)}: ${time(kinds[kind])}`}
            style={{ width: `${(100 * kinds[kind]) / whole}%`, background: colour }}
            aria-label={`${name(kind, words)}: ${time(kinds[kind])}, ${percent(kinds[kind], whole)}`} />
        ))}
      </div>
      <ul>
        {shown.map(([kind, words, colour]) => (
          <li key={kind}><i class={`dot ${HATCHED[kind] ?? ''}`} style={{ background: colour }} />
            {name(kind, words)} <b>{time(kinds[kind])}</b> {percent(kinds[kind], whole)}</li>
        ))}
        <li class="hint">of {time(whole)} allocated to {selected.ranks ? 'the selected ranks' : 'all threads'}</li>
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
  if (run.operation === 'model') return [counted(run.tables.inputs.rows, 'run'), run.facts.date.slice(0, 16).replace('T', ' ')].join(' · ');
  const processes = run.facts.mpi || run.ranks.length > 1 ? counted(run.ranks.length, 'rank') : 'one process';
  const length = run.isDifference ? changeOf(run.wall, time) : time(run.wall);
  const words = [processes, counted(run.locations.length, 'location'), length];
  if (run.facts.date) words.push(run.facts.date.slice(0, 16).replace('T', ' '));
  for (const library of [run.facts.mpi, run.facts.openmp]) if (library) words.push(library.split(',')[0]);
  if (run.exitStatus !== 0) words.push(`exit status ${run.exitStatus}`);
  return words.join(' · ');
}

/** What would shorten the run beside the causes of waits, which have a table. */
function Savings() {
  const { run, time } = useRun();
  const others = (run.verdict.savings ?? []).filter(({ kind }) => kind !== 'function').slice(0, 3);
  if (others.length === 0) return null;
  return (
    <ul class="savings">{others.map(({ what, change, gain_s: gain }) => (
      <li key={what}>{what}: {change}{gain > 0 && <>, <b>{time(gain)}</b> ({percent(gain, run.wall)}) shorter</>}</li>))}</ul>
  );
}

/** Above the overview all that is to be known of the run; above other views one line. */
export function Head({ isShort = false }) {
  const { run, time } = useRun();
  const { text, warning, more } = run.verdict, verdict = text || 'No waits were found.';
  const alarm = run.head.violations.length > 0 && (
    <p class="alarm">The sums in this result do not add up. Do not rely on it: see Coverage.</p>);
  if (isShort) {
    return (
      <header class="short">
        <h1 title={run.command}>{run.program || cut(run.command, 40)}</h1><Pick change={{ view: 'overview' }} class="verdict" title={verdict}>{verdict}</Pick>
        {alarm}
      </header>
    );
  }
  return (
    <header>
      <div class="who-ran"><h1 title={run.command}>{run.command}</h1><p class="facts">{facts(run, time)}</p></div>
      {alarm}
      <p class="verdict">{verdict}</p>
      {warning && <p class="warning">Warning: {warning}</p>}
      <Savings />
      {more.length > 0 && <details class="hint"><summary>Why, and what else</summary>{more.map((words) => <p key={words}>{words}</p>)}</details>}
    </header>
  );
}

export function Overview() {
  return (
    <>
      <TimeBar />
      <div class="columns first-screen">
        <section><h2>Who made others wait</h2><CauseTable most={8} /></section>
        <section><h2>Where and when</h2><HeatMap fills /></section>
      </div>
    </>
  );
}
