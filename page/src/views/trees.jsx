// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Three linked panes, as in Cube: the metric, the call path, and the part of the system. A choice in
// one narrows those right of it.

import { useMemo, useState } from 'preact/hooks';
import { warmText } from '../colours.js';
import { named } from '../data.js';
import { percent } from '../format.js';
import { BasisHint, Canvas, Pick, ink, useRun, useSelection } from '../parts.jsx';
import { basisOf, byRank, filters, inclusive, sizeOf, spread, sumsOf } from '../sums.js';
import { select } from '../select.js';

export const FIGURES = {
  time: { name: 'time', seconds: true }, waiting: { name: 'waiting', seconds: true },
  delay: { name: 'delay costs (waiting caused)', seconds: true },
  critical: { name: 'critical path', seconds: true }, visits: { name: 'visits', seconds: false },
};

export function figureOf(selection) {
  return FIGURES[selection.metric] ? selection.metric : 'waiting';
}

/** The families and patterns that the run has, as a tree below waiting; of the whole run. */
function patternTree(run, selection) {
  const totals = new Map();
  const { waits } = run.tables;
  const keep = filters(run, { ...selection, pattern: null });
  for (let i = 0; i < waits.rows; ++i) {
    if (waits.time_s[i] === 0 || !keep.location(waits.location[i]) || !keep.path(waits.callpath[i])) continue;
    for (let id = run.names[waits.pattern[i]]; id; id = run.patterns.get(id)?.parent) {
      totals.set(id, (totals.get(id) ?? 0) + waits.time_s[i]);
    }
  }
  return [...run.patterns.values()].filter((p) => totals.has(p.id))
    .map((p) => ({ ...p, total: totals.get(p.id), depth: depthOf(run, p.id) }));
}

function depthOf(run, id) {
  let depth = 1;
  for (let at = run.patterns.get(id)?.parent; at; at = run.patterns.get(at)?.parent) ++depth;
  return depth;
}

function Row({ depth, share, text, change, chosen, children, open, toggle, title }) {
  return (
    <li style={{ paddingLeft: `${depth * 0.9}em` }} class={chosen ? 'selected' : ''} role="treeitem"
      aria-selected={chosen} aria-expanded={toggle ? open : undefined}>
      {toggle ? <button class="toggle" onClick={toggle} aria-label={open ? 'close' : 'open'}>{open ? '▾' : '▸'}</button>
        : <span class="toggle" />}
      <i class="shade" style={{ background: warmText(share) }} />
      <span class="figure">{text}</span>
      <Pick change={change} title={title}>{children}</Pick>
    </li>
  );
}

function MetricPane({ show, figure }) {
  const { run } = useRun();
  const selected = useSelection();
  const plain = { ...selected, pattern: null };
  const all = useMemo(() => sumsOf(run, { ...plain, t: null }), [run, selected]);
  const ofStretch = useMemo(() => (selected.t ? sumsOf(run, plain) : null), [run, selected]);
  const patterns = useMemo(() => patternTree(run, selected), [run, selected]);
  const row = (id, sums) => (
    <Row key={id} depth={0} share={id === 'visits' || sums.time === 0 ? 0 : sums[id] / Math.abs(sums.time)}
      text={show(sums[id], sums[id], id, sums.time)} change={{ metric: id, pattern: null }}
      chosen={figure === id && !selected.pattern}>{FIGURES[id].name}</Row>
  );
  return (
    <ul role="tree" aria-label="What is measured">
      {ofStretch && (
        <>
          {row('time', ofStretch)}
          {row('waiting', ofStretch)}
          <li class="hint whole-run">not known over time, but of the whole run:</li>
        </>
      )}
      {!ofStretch && row('time', all)}
      {!ofStretch ? row('waiting', all)
        : <li class="of-whole"><span class="toggle" /><span class="figure">{show(all.waiting, all.waiting, 'waiting', all.time)}</span>waiting,
          by pattern</li>}
      {patterns.map((p) => (
        <Row key={p.id} depth={p.depth} share={p.total / Math.abs(all.time || 1)} text={show(p.total, all.waiting, 'waiting', all.time)}
          change={{ metric: 'waiting', pattern: p.id }} chosen={selected.pattern === p.id} title={p.summary}>
          {p.name}</Row>
      ))}
      {row('delay', all)}
      {row('critical', all)}
      {ofStretch ? <Row depth={0} share={0} text="unknown" change={{ metric: 'visits', pattern: null }} chosen={figure === 'visits'}
        title="how often within the stretch of time is not known">visits</Row> : row('visits', all)}
      <UserPatterns show={show} whole={all.time} />
    </ul>
  );
}

/** User-defined patterns; they are in no other sum. */
function UserPatterns({ show, whole }) {
  const { run } = useRun();
  const selected = useSelection();
  return [...run.patterns.values()].filter((p) => p.isOwn).map((p) => {
    const sum = sumsOf(run, { ...selected, t: null, pattern: p.id }).waiting;
    return (
      <Row key={p.id} depth={0} share={whole > 0 ? sum / whole : 0} text={show(sum, whole, 'waiting', whole)}
        change={{ metric: 'waiting', pattern: p.id }} chosen={selected.pattern === p.id} title={p.summary}>
        {p.name} (your own)</Row>
    );
  });
}

const MOST_ROWS = 400;

function CallPane({ show, figure, search, exclusive }) {
  const { run } = useRun();
  const selected = useSelection();
  const plain = basisOf({ ...selected, path: null }, figure);
  const own = useMemo(() => sumsOf(run, plain)[`${figure}ByPath`], [run, selected, figure]);
  const all = useMemo(() => inclusive(run, own), [own]);
  const whole = own.reduce((a, b) => a + b, 0), most = sizeOf(all);
  const costly = useMemo(() => costlyPath(run, all), [all]);
  const [turned, setTurned] = useState(new Set());  // those that are not as they are by themselves
  const isOpen = (id) => costly.has(id) !== turned.has(id);
  const found = search.trim().toLowerCase();
  const rows = useMemo(() => listRows(run, all, isOpen, found), [all, costly, turned, found]);
  const toggle = (id) => {
    const next = new Set(turned);
    if (!next.delete(id)) next.add(id);
    setTurned(next);
  };
  return (
    <ul role="tree" aria-label="Call paths">
      {rows.slice(0, MOST_ROWS).map(({ id, depth }) => {
        const path = run.paths[id];
        const open = isOpen(id);
        const value = exclusive || (path.children.length > 0 && open && !found) ? own[id] : all[id];
        return (
          <Row key={id} depth={depth} share={most > 0 ? value / most : 0} text={show(value, whole, figure)}
            change={{ path: selected.path === id ? null : id }} chosen={selected.path === id} title={path.name}
            open={open} toggle={path.children.length > 0 && !found ? () => toggle(id) : null}>{run.code(id)}</Row>
        );
      })}
      {rows.length > MOST_ROWS && <li class="hint">and {rows.length - MOST_ROWS} more: search for them</li>}
    </ul>
  );
}

/** Of a difference: sums may be nothing where their parts are not. */
function hasAny(run, all, id) {
  return all[id] !== 0 || run.paths[id].children.some((child) => hasAny(run, all, child));
}

/** What is open before anything was clicked: the way to where most is, and where the way forks, to each large part. */
function costlyPath(run, all) {
  const LARGE = 0.2;
  const whole = run.roots.reduce((sum, id) => sum + Math.abs(all[id]), 0), open = new Set();
  const visit = (ids) => {
    const largest = ids.reduce((most, id) => (most === null || Math.abs(all[id]) > Math.abs(all[most]) ? id : most), null);
    for (const id of ids) {
      if (all[id] === 0 || (id !== largest && Math.abs(all[id]) < LARGE * whole) || open.size > MOST_ROWS) continue;
      open.add(id);
      visit(run.paths[id].children);
    }
  };
  visit(run.roots);
  return open;
}

/** What is open, or what is found; each level the largest first. */
function listRows(run, all, isOpen, found) {
  if (found) {
    return run.paths.filter((p) => named(p.region).toLowerCase().includes(found))
      .sort((a, b) => Math.abs(all[b.id]) - Math.abs(all[a.id])).map((p) => ({ id: p.id, depth: 0 }));
  }
  const rows = [];
  const visit = (ids, depth) => {
    for (const id of [...ids].sort((a, b) => Math.abs(all[b]) - Math.abs(all[a]))) {
      if (!(run.isDifference ? hasAny(run, all, id) : all[id] > 0)) continue;
      rows.push({ id, depth });
      if (isOpen(id) && depth < 200) visit(run.paths[id].children, depth + 1);
    }
  };
  visit(run.roots, 0);
  return rows;
}

function SystemPane({ show, figure }) {
  const { run, time } = useRun();
  const selected = useSelection();
  const plain = basisOf({ ...selected, ranks: null }, figure);
  const by = useMemo(() => sumsOf(run, plain)[`${figure}ByLocation`], [run, selected, figure]);
  const ranks = useMemo(() => byRank(run, by), [by]);
  const whole = by.reduce((a, b) => a + b, 0);
  const most = sizeOf(ranks);
  const [opened, setOpened] = useState(new Set());
  const nodes = useMemo(() => Map.groupBy(run.ranks, (rank) => run.locationsOf.get(rank)[0].node), [run]);
  const toggle = (rank) => {
    const next = new Set(opened);
    if (!next.delete(rank)) next.add(rank);
    setOpened(next);
  };
  const { largest, variation } = spread(ranks);
  const shown = run.ranks.length > MOST_ROWS ? [...run.ranks.keys()].sort((a, b) => Math.abs(ranks[b]) - Math.abs(ranks[a])).slice(0, MOST_ROWS)
    : [...run.ranks.keys()];
  const chosen = selected.ranks ? new Set(selected.ranks) : null;
  const coarse = plain.t && selected.path !== null && !run.groupsAreRanks;
  return (
    <>
      <p class="hint">{run.ranks.length > 1 && `largest${run.isDifference ? ' change' : ''} on rank ${run.ranks[largest]}`
        + `${variation === null ? '' : `, coefficient of variation ${variation.toFixed(2)}`}`}{coarse && '; known by groups of ranks: each rank has an equal part of its group'}</p>
      <Histogram values={ranks} words={(value) => (FIGURES[figure].seconds ? time(value) : String(Math.round(value)))} />
      <ul role="tree" aria-label="System">
        {shown.map((i) => {
          const rank = run.ranks[i];
          const locations = run.locationsOf.get(rank).filter((l) => l.life > 0);
          return (
            <>
              <Row key={rank} depth={0} share={most > 0 ? ranks[i] / most : 0} text={show(ranks[i], whole, figure)}
                change={{ ranks: chosen?.has(rank) && chosen.size === 1 ? null : [rank] }} chosen={chosen?.has(rank) ?? false}
                open={opened.has(rank)} toggle={locations.length > 1 ? () => toggle(rank) : null}>
                rank {rank}{nodes.size > 1 && ` on ${locations[0]?.node ?? ''}`}</Row>
              {opened.has(rank) && locations.map((l) => (
                <Row key={l.name} depth={2} share={most > 0 ? by[l.id] / most : 0} text={show(by[l.id], whole, figure)}
                  change={{ ranks: [rank] }} chosen={false}>{l.stream || `thread ${l.thread}`}</Row>
              ))}
            </>
          );
        })}
      </ul>
      {shown.length < run.ranks.length && <p class="hint">the {MOST_ROWS} largest of {run.ranks.length} ranks</p>}
    </>
  );
}

/** A histogram of the ranks' values. */
function Histogram({ values, words }) {
  if (values.length < 8) return null;
  const least = values.reduce((a, b) => Math.min(a, b), 0), most = values.reduce((a, b) => Math.max(a, b), 0);
  const bins = new Array(24).fill(0);
  for (const v of values) ++bins[Math.min(bins.length - 1, Math.floor(((v - least) / (most - least || 1)) * bins.length))];
  const draw = (context, width, height) => {
    const top = Math.max(...bins);
    context.fillStyle = ink('bar');
    bins.forEach((count, i) => {
      const h = ((height - 14) * count) / top;
      context.fillRect((i * width) / bins.length + 1, height - 14 - h, width / bins.length - 2, h);
    });
    context.fillStyle = ink('faint');
    context.font = '10px system-ui';
    context.fillText(least < 0 ? words(least) : '0', 0, height - 2);
    context.textAlign = 'right';
    context.fillText(words(most), width, height - 2);
  };
  return <div class="histogram" title="ranks by how much they have"><Canvas height={70} draw={draw} watch={[values]}
    role="img" aria-label="Histogram over ranks" /></div>;
}

export function Trees() {
  const { run, time } = useRun();
  const selected = useSelection();
  const figure = figureOf(selected);
  const [search, setSearch] = useState('');
  const [mode, setMode] = useState('absolute');
  const [exclusive, setExclusive] = useState(false);
  const ofFigure = sumsOf(run, basisOf(selected, figure)).time;
  const show = (value, parent, id, whole = ofFigure) => {
    if (mode === 'percent') return id === 'visits' ? percent(value, parent) : percent(value, whole);
    if (mode === 'parent') return percent(value, parent);
    return FIGURES[id].seconds ? time(value) : String(Math.round(value));
  };
  return (
    <section class="trees">
      <div class="tools">
        <label>values <select value={mode} onChange={(e) => setMode(e.currentTarget.value)}>
          <option value="absolute">absolute</option><option value="percent">percent of the selected time</option>
          <option value="parent">percent of the pane</option></select></label>
        <label><input type="checkbox" checked={exclusive} onChange={(e) => setExclusive(e.currentTarget.checked)} /> exclusive
          even where closed</label>
        <label>search <input type="search" value={search} onInput={(e) => setSearch(e.currentTarget.value)}
          onKeyDown={(e) => e.key === 'Escape' && (e.stopPropagation(), setSearch(''))} /></label>
        {selected.path !== null && <button onClick={() => select({ path: null })}>whole program</button>}
      </div>
      <BasisHint figure={figure} />
      <div class="panes">
        <div><h2>What</h2><MetricPane show={show} figure={figure} /></div>
        <div><h2>Where in the code</h2><CallPane show={show} figure={figure} search={search} exclusive={exclusive} /></div>
        <div><h2>Where in the system</h2><SystemPane show={show} figure={figure} /></div>
      </div>
    </section>
  );
}
