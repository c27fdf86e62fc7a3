// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Processes as the program arranged them (grids and graphs of MPI), else nodes with their ranks,
// coloured by the selected figure. Of a grid with more than two dimensions, the last two are
// a sheet, and there is a sheet for each of the others' coordinates. A graph's ranks stand on a
// circle in their order; selected ones show their edges alone.

import { useMemo } from 'preact/hooks';
import { inkOn, warm, warmText } from '../colours.js';
import { grouped } from '../format.js';
import { BasisHint, Pick, useRun, useSelection } from '../parts.jsx';
import { select } from '../select.js';
import { basisOf, byRank, sizeOf, sumsOf } from '../sums.js';
import { FIGURES, figureOf } from './trees.jsx';

/** More lines than this are unreadable, and slow to draw. */
const MOST_EDGES = 20_000;

export function Topology() {
  const { run, time } = useRun();
  const selected = useSelection();
  const figure = figureOf(selected);
  const values = useMemo(() => byRank(run, sumsOf(run, basisOf({ ...selected, ranks: null }, figure))[`${figure}ByLocation`]),
    [run, selected, figure]);
  const most = sizeOf(values);
  const arrangements = useMemo(() => arrangementsOf(run), [run]);
  const shown = arrangements.find((a) => a.name === selected.arrangement) ?? (selected.arrangement ? null : arrangements[0]);
  const chosen = useMemo(() => (selected.ranks ? new Set(selected.ranks) : null), [selected.ranks]);
  const place = useMemo(() => new Map(run.ranks.map((rank, i) => [rank, i])), [run]);
  const words = (value) => (FIGURES[figure].seconds ? time(value) : grouped(Math.round(value)));
  const look = (rank) => {
    const value = values[place.get(rank)] ?? 0;
    return {
      title: `rank ${rank}: ${words(value)}`, fill: warmText(most > 0 ? value / most : 0), off: chosen && !chosen.has(rank),
      ink: inkOn(warm(most > 0 ? value / most : 0)),
    };
  };
  const cell = (rank) => {
    const { title, fill, ink, off } = look(rank);
    return <Pick key={rank} change={{ ranks: [rank] }} class={`cell ${off ? 'off' : ''}`} style={{ background: fill, color: ink }}
      title={title}>{rank}</Pick>;
  };
  return (
    <section class="topology">
      <h2>{shown ? shown.words : 'Nodes and ranks'}</h2>
      <div class="tools">
        {arrangements.length > 0 && (
          <label>arrangement <select class="arrangement" value={shown?.name ?? 'nodes'}
            onChange={(e) => select({ arrangement: e.currentTarget.value })}>
            {arrangements.map((a) => <option key={a.name} value={a.name}>{a.words}</option>)}
            <option value="nodes">nodes and ranks</option></select></label>
        )}
        <label>coloured by <select class="figure-choice" value={figure} onChange={(e) => select({ metric: e.currentTarget.value })}>
          {Object.entries(FIGURES).map(([id, { name }]) => <option key={id} value={id}>{name}</option>)}</select></label>
        <span class="key">{words(0)} <i class="ramp" /> {words(most)}</span>
      </div>
      <BasisHint figure={figure} />
      {shown?.periodic?.some((p) => p) && (
        <p class="hint">Periodic in dimension {shown.periodic.flatMap((p, d) => (p ? [d] : [])).join(', ')}, counted from 0.</p>
      )}
      {!shown && <Nodes cell={cell} />}
      {shown?.sizes && <Sheets grid={shown} cell={cell} />}
      {shown?.edges && <Graph graph={shown} chosen={chosen} look={look} />}
    </section>
  );
}

function Nodes({ cell }) {
  const { run } = useRun();
  const nodes = useMemo(() => {
    const nodeOf = new Map(run.locations.map((l) => [l.rank, l.node]));
    return [...Map.groupBy(run.ranks, (rank) => nodeOf.get(rank))];
  }, [run]);
  return (
    <div class="nodes">
      {nodes.map(([node, ranks]) => (
        <div class="node" key={node}><h3>{node || 'one node'}</h3><div class="cells">{ranks.map(cell)}</div></div>
      ))}
    </div>
  );
}

const numbers = (text) => (text === '' ? [] : text.split(',').map(Number));

/** The program's grids ({ sizes, periodic, places }) and graphs ({ places, edges, untold }). */
function arrangementsOf(run) {
  const { topologies: t, topology_places: p } = run.tables;
  const rows = Map.groupBy(Array.from({ length: p.rows }, (_, k) => k), (k) => p.topology[k]);
  return Array.from({ length: t.rows }, (_, i) => {
    const name = run.names[t.name[i]], places = rows.get(t.name[i]) ?? [];
    if (run.names[t.kind[i]] === 'grid') {
      const sizes = numbers(run.names[t.sizes[i]]);
      return {
        name, words: `${name}: ${sizes.join(' x ')}`, sizes, periodic: numbers(run.names[t.periodic[i]]),
        places: places.map((k) => ({ rank: p.rank[k], at: numbers(run.names[p.coordinates[k]]) })),
      };
    }
    const ranks = new Set(places.map((k) => p.rank[k])), edges = [];
    let all = 0;
    for (const k of places) {
      all += p.all_neighbors[k];
      for (const to of numbers(run.names[p.neighbors[k]])) {
        ranks.add(to);
        edges.push([p.rank[k], to]);
      }
    }
    return { name, words: `${name}: ${grouped(all)} edges of ${grouped(ranks.size)} ranks`, edges, untold: all - edges.length,
             places: [...ranks].sort((a, b) => a - b) };
  });
}

/** Rows are the dimension before the last, columns the last. */
function Sheets({ grid, cell }) {
  const sheets = Map.groupBy(grid.places, ({ at }) => at.slice(0, -2).join(','));
  const columns = grid.sizes.at(-1), few = grid.places.length <= 144;
  return (
    <div class="nodes">
      {[...sheets].sort((a, b) => a[0].localeCompare(b[0], undefined, { numeric: true })).map(([sheet, places]) => (
        <div class="node" key={sheet}>{sheet !== '' && <h3>{sheet}</h3>}
          <div class={few ? 'grid few' : 'grid'} style={{ gridTemplateColumns: `repeat(${columns}, minmax(${few ? 52 : 26}px, max-content))` }}>
            {places.map(({ rank, at }) => (
              <div key={rank} style={{ gridColumn: at.at(-1) + 1, gridRow: (at.at(-2) ?? 0) + 1 }}>{cell(rank)}</div>
            ))}
          </div></div>
      ))}
    </div>
  );
}

const SIDE = 640;

function Graph({ graph, chosen, look }) {
  const count = graph.places.length;
  const at = useMemo(() => new Map(graph.places.map((rank, i) => {
    const angle = (2 * Math.PI * i) / count - Math.PI / 2;
    return [rank, [SIDE / 2 + 0.45 * SIDE * Math.cos(angle), SIDE / 2 + 0.45 * SIDE * Math.sin(angle)]];
  })), [graph]);
  const shown = chosen ? graph.edges.filter(([from, to]) => chosen.has(from) || chosen.has(to)) : graph.edges;
  const drawn = shown.slice(0, MOST_EDGES);
  const line = ([from, to]) => {
    const [[x, y], [u, v]] = [at.get(from), at.get(to)];
    return `M${x.toFixed(1)} ${y.toFixed(1)}L${u.toFixed(1)} ${v.toFixed(1)}`;
  };
  const radius = Math.max(2, Math.min(14, (0.9 * SIDE) / count));
  const hints = [
    chosen && `Edges of the selected ranks: ${grouped(shown.length)}.`,
    shown.length > drawn.length && `The first ${grouped(drawn.length)} of ${grouped(shown.length)} edges are drawn.`,
    graph.untold > 0 && `${grouped(graph.untold)} edges are not known: of many neighbours, the first ones are recorded.`,
  ].filter(Boolean);
  return (
    <>
      {hints.length > 0 && <p class="hint">{hints.join(' ')}</p>}
      <svg class="graph" viewBox={`0 0 ${SIDE} ${SIDE}`} role="group" aria-label={graph.words}>
        <path class="edges" d={drawn.map(line).join('')} style={{ opacity: Math.max(0.08, Math.min(0.6, 40 / drawn.length)) }} />
        {graph.places.map((rank) => {
          const { title, fill, ink, off } = look(rank);
          const [x, y] = at.get(rank);
          return (
            <Pick key={rank} change={{ ranks: [rank] }} aria-label={title} class={off ? 'vertex off' : 'vertex'}>
              <title>{title}</title><circle cx={x} cy={y} r={radius} style={{ fill }} />
              {radius > 7 && <text x={x} y={y} style={{ fill: ink, fontSize: `${radius}px` }}>{rank}</text>}
            </Pick>
          );
        })}
      </svg>
    </>
  );
}
