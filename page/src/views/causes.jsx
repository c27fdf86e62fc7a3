// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Delays by call path: their costs by rank, and when opened, their victims and advice.

import { useMemo } from 'preact/hooks';
import { colourOf } from '../colours.js';
import { counted, percent, tailOf } from '../format.js';
import { Bar, CodeName, Empty, Pick, Strip, WholeRunHint, useRun, useSelection } from '../parts.jsx';
import { Table } from '../table.jsx';
import { byRank, causesOf, filters, intervalsOf, spread, sumsOf } from '../sums.js';

/** Delay costs of one call path by location within the selection; direct and indirect ones. */
function costsOf(run, path, keep) {
  const { delays } = run.tables;
  const costs = { short: 0, long: 0, by: new Float64Array(run.locations.length) };
  for (let i = 0; i < delays.rows; ++i) {
    if (delays.callpath[i] !== path || !keep.location(delays.location[i])) continue;
    if (!keep.pattern(run.names[delays.pattern[i]])) continue;
    costs.short += delays.short_s[i];
    costs.long += delays.long_s[i];
    costs.by[delays.location[i]] += delays.short_s[i] + delays.long_s[i];
  }
  return costs;
}

/** All waiting that start-up does not cause: the whole of shares, as in the text report. */
function waitingOf(run) {
  return run.waiting - (run.tables.start_up.waiting_s[0] ?? 0);
}

/** Time of one call path by interval. */
function timeByInterval(run, path) {
  const { callpath_times: cube } = run.tables;
  const times = new Float64Array(run.intervals);
  for (let i = 0; i < cube.rows; ++i) {
    if (cube.callpath[i] === path) times[cube.interval[i]] += cube.time_s[i];
  }
  return times;
}

const samplesKept = new WeakMap();

/** Time samples behind a call path's name, if it was sampled; null if not. */
function samplesOf(run, path) {
  if (!samplesKept.has(run)) {
    const { profile } = run.tables, samples = new Float64Array(run.paths.length), sampled = new Float64Array(run.paths.length);
    for (let i = 0; i < profile.rows; ++i) {
      samples[profile.callpath[i]] += profile.samples[i];
      sampled[profile.callpath[i]] += profile.sampled_s[i];
    }
    samplesKept.set(run, samples.map((count, id) => (sampled[id] > 0 ? count : -1)));
  }
  const count = samplesKept.get(run)[path];
  return count < 0 ? null : count;
}

/** Parts of the run: smaller costs are not mentioned, and smaller gains have no number (report/verdict/gains.cpp). */
const HARDLY = 0.005;

const HALVED_MORE = 1.25;

/** The gain of a change at a call path, if it was tried: { kind, gain, halved }. None for negligible costs. */
function gainOf(run, path, cost) {
  const { gains: g } = run.tables;
  if (cost < HARDLY * run.wall) return null;
  for (let i = 0; i < g.rows; ++i) {
    if (g.callpath[i] === path) return { kind: run.names[g.kind[i]], gain: g.gain_s[i], halved: g.halved_s[i] };
  }
  return null;
}

const CHANGES = {
  balanced: 'Balanced', halved: 'At half its time', mixed: 'Balanced, or at half its time where it cannot be',
  earlier: 'Started earlier', held: 'With its lock held half as long',
};

function gainSentence(run, time, cost, { kind, gain, halved }) {
  const size = Math.abs(gain), amount = `${time(size)} (${percent(size, run.wall)})`;
  if (size < HARDLY * run.wall) {
    const others = Math.max(1, run.locations.length - 1);
    const why = cost / others < HARDLY * run.wall ? '' : ': others take as long';
    return `${CHANGES[kind]}, the run would hardly be shorter${why}.`;
  }
  const beside = kind === 'halved' || halved < Math.max(HALVED_MORE * gain, HARDLY * run.wall) ? ''
    : `; twice as fast, ${time(halved)} (${percent(halved, run.wall)})`;
  return gain > 0 ? `${CHANGES[kind]}, the run would be ${amount} shorter${beside}.`
    : `${CHANGES[kind]}, the run would be ${amount} longer: others would be late then.`;
}

/** The function, and below it in grey what identifies the place. */
function CodeCell({ path, samples }) {
  const { run } = useRun();
  const { file, line, region } = run.paths[path];
  const where = file && !region.includes(file) ? `${tailOf(file, 48)}${line ? `:${line}` : ''}` : '';
  return (
    <>
      <Pick change={{ path }} title={run.paths[path].name} class="code">
        <i class="dot" style={{ background: colourOf(run.paths[path]) }} aria-hidden="true" />{run.placeName(path)}</Pick>
      <small>{[where, samples !== null && counted(samples, 'sample')].filter(Boolean).join(' · ')}</small>
    </>
  );
}

export function CauseTable({ most }) {
  const { run, time } = useRun();
  const selected = useSelection();
  const causes = useMemo(() => causesOf(run, selected), [run, selected]);
  const whole = waitingOf(run);
  const keep = useMemo(() => filters(run, selected), [run, selected]);
  const narrowed = selected.ranks !== null || selected.pattern !== null;
  const rows = useMemo(() => causes.map((cause) => ({
    ...cause, samples: samplesOf(run, cause.path), gain: narrowed ? null : gainOf(run, cause.path, cause.cost) })), [causes]);
  if (run.isOwn(selected.pattern)) return <Empty>Causes are not computed for user-defined patterns.</Empty>;
  if (causes.length === 0) return <Empty>No waits in this selection.</Empty>;
  const largest = causes[0].cost, gains = run.tables.gains.rows > 0 && !narrowed;
  const mostGained = rows.reduce((all, { gain }) => Math.max(all, gain?.gain ?? 0), 0);
  const columns = [
    { id: 'code', head: 'function', wide: true, value: (r) => run.place(r.path), cell: (r) => <CodeCell path={r.path} samples={r.samples} /> },
    { id: 'cost', head: 'cost', number: true, title: 'the waiting time of others that it causes, directly and through further waits', value: (r) => r.cost,
      cell: (r) => <Bar value={r.cost} whole={largest} text={time(r.cost)} /> },
    { id: 'share', head: 'share', number: true, title: 'of all waiting of the run that start-up does not cause', cell: (r) => percent(r.cost, whole) },
    ...(gains ? [{ id: 'gain', head: 'gain', number: true, title: 'how much shorter the run would be: see Causes', value: (r) => r.gain?.gain,
      cell: (r) => r.gain && <Bar value={r.gain.gain} whole={mostGained} text={time(r.gain.gain)} kind="gain" /> }] : []),
    { id: 'ranks', head: 'over ranks', cell: (r) => <OverRanks cause={r} keep={keep} /> },
    { id: 'times', head: 'over time', cell: (r) => <OverTime path={r.path} /> },
  ];
  return (
    <>
      <WholeRunHint what="The cost of delays" />
      <Table class="causes" columns={columns} rows={rows} most={most} sorted="cost" rowKey={(r) => r.path}
        words={most > 10 ? (r) => run.paths[r.path].name : null} rowClass={(r) => (selected.path === r.path ? 'selected' : '')} />
    </>
  );
}

function OverRanks({ cause, keep }) {
  const { run } = useRun();
  const ranks = useMemo(() => byRank(run, costsOf(run, cause.path, keep).by), [cause.path, keep]);
  const { largest, variation } = spread(ranks);
  return <Strip values={ranks} label={`most on rank ${run.ranks[largest]}${variation === null ? '' : `, coefficient of variation ${variation.toFixed(2)}`}`} />;
}

function OverTime({ path }) {
  const { run } = useRun();
  const times = useMemo(() => timeByInterval(run, path), [path]);
  return <Strip values={times} label="its time over the run" />;
}

/** The patterns of the waits that a call path causes, with their costs, the largest first. */
function patternsOf(run, path, keep) {
  const { delays } = run.tables, costs = new Map();
  for (let i = 0; i < delays.rows; ++i) {
    const id = run.names[delays.pattern[i]];
    if (delays.callpath[i] !== path || !keep.location(delays.location[i]) || !keep.pattern(id)) continue;
    costs.set(id, (costs.get(id) ?? 0) + delays.short_s[i] + delays.long_s[i]);
  }
  return [...costs].sort((a, b) => b[1] - a[1]);
}

/** Victims of one call path, joined over its locations. */
function victimsOf(run, path, keep) {
  const { victims: v } = run.tables;
  const joined = new Map();
  for (let i = 0; i < v.rows; ++i) {
    if (v.delay_callpath[i] !== path || !keep.location(v.delay_location[i])) continue;
    if (!keep.pattern(run.names[v.pattern[i]])) continue;
    const key = `${v.wait_callpath[i]} ${v.pattern[i]}`;
    const entry = joined.get(key) ?? { path: v.wait_callpath[i], pattern: run.names[v.pattern[i]], cost: 0,
                                       by: new Map() };
    entry.cost += v.time_s[i];
    entry.by.set(v.wait_location[i], (entry.by.get(v.wait_location[i]) ?? 0) + v.time_s[i]);
    joined.set(key, entry);
  }
  return [...joined.values()].sort((a, b) => b.cost - a.cost);
}

function worst(run, time, by) {
  const sorted = [...by].sort((a, b) => b[1] - a[1]);
  const words = sorted.slice(0, 4).map(([id, s]) => `${run.locationName(id)} (${time(s)})`);
  if (sorted.length > 4) words.push(`${sorted.length - 4} more`);
  return words.join(', ');
}

function CauseDetail({ path }) {
  const { run, time } = useRun();
  const selected = useSelection();
  const keep = useMemo(() => filters(run, selected), [run, selected]);
  const { short, long, by: costs } = useMemo(() => costsOf(run, path, keep), [path, keep]);
  const victims = useMemo(() => victimsOf(run, path, keep), [path, keep]);
  const { distributions } = run.tables;
  const by = new Map([...costs.entries()].filter(([, s]) => s > 0));
  const narrowed = selected.ranks !== null || selected.pattern !== null;
  const patterns = useMemo(() => patternsOf(run, path, keep), [path, keep]);
  const distribution = Array.from({ length: distributions.rows }, (_, i) => i)
    .find((i) => distributions.callpath[i] === path);
  const remedy = run.patterns.get(victims[0]?.pattern)?.remedy, gain = narrowed ? null : gainOf(run, path, short + long);
  return (
    <section class="detail">
      <h2>{run.place(path)}</h2>
      <p class="hint">{run.paths[path].name}</p>
      {run.tables.lines?.rows > 0 && <p class="links"><Pick change={{ view: 'source', path }}>its lines</Pick><Pick change={{ view: 'timeline', path }}>on the time line</Pick></p>}
      <p>{narrowed ? 'In what is selected, it' : 'It'} cost others {time(short + long)}: {time(short)} directly, {time(long)} through further waits that these caused.
        It was late on {worst(run, time, by)}.</p>
      <p class="links">As {patterns.slice(0, 4).map(([id, cost]) => (
        <span key={id}><Pick change={{ pattern: id }}>{run.patterns.get(id)?.name ?? id}</Pick> {time(cost)}</span>))}</p>
      {distribution !== undefined && (
        <p>{narrowed && 'Of the whole run: '}Over those that share the work its load is: {run.name('distributions', 'shape', distribution)}. Over time its
          cost is: {run.name('distributions', 'course', distribution)}; it {run.name('distributions', 'movement', distribution)}.</p>
      )}
      {victims.length > 0 && (
        <table>
          <thead><tr><th>whom it made wait, and where</th><th class="number">time</th><th>pattern</th><th>locations</th></tr></thead>
          <tbody>
            {victims.slice(0, 12).map((v) => (
              <tr key={`${v.path} ${v.pattern}`}>
                <td><CodeName path={v.path} /></td><td class="number">{time(v.cost)}</td>
                <td>{run.patterns.get(v.pattern)?.name ?? v.pattern}</td><td>{worst(run, time, v.by)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {gain && <p>{gainSentence(run, time, short + long, gain)}</p>}
      {remedy && <p><b>What to try first:</b> {remedy}</p>}
    </section>
  );
}

export function Causes() {
  const { run, time } = useRun();
  const selected = useSelection();
  const sums = sumsOf(run, selected);
  const [first, last] = intervalsOf(run, selected);
  const causes = causesOf(run, selected);
  const opened = selected.path !== null && sums.delayByPath[selected.path] > 0 ? selected.path : causes[0]?.path;
  return (
    <>
      <h2>Who made others wait{selected.t && ` (time over ${last - first} of ${run.intervals} intervals)`}</h2>
      <CauseTable most={40} />
      {opened !== undefined && <CauseDetail path={opened} />}
      {run.tables.unattributed.rows > 0 && (
        <p class="hint">Of no known cause: {Array.from({ length: run.tables.unattributed.rows }, (_, i) => (
          `${time(run.tables.unattributed.time_s[i])} (${run.name('unattributed', 'reason', i)})`)).join('; ')}.</p>
      )}
    </>
  );
}
