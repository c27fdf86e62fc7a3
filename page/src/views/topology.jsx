// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Processes as the program arranged them (Cartesian communicators), else nodes with their ranks,
// coloured by the figure that is selected. Of more than two dimensions, the last two are a sheet, and
// there is a sheet for each of the others' coordinates.

import { useMemo, useState } from 'preact/hooks';
import { warmText } from '../colours.js';
import { Pick, useRun, useSelection } from '../parts.jsx';
import { byRank, sumsOf } from '../sums.js';
import { figureOf } from './trees.jsx';

export function Topology() {
  const { run, time } = useRun();
  const selected = useSelection();
  const figure = figureOf(selected);
  const values = useMemo(() => byRank(run, sumsOf(run, { ...selected, ranks: null })[`${figure}ByLocation`]),
    [run, selected, figure]);
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  const nodes = useMemo(() => Map.groupBy(run.ranks.keys(), (i) => run.locations.find((l) => l.rank === run.ranks[i]).node),
    [run]);
  const chosen = selected.ranks ? new Set(selected.ranks) : null;
  const [arrangement, setArrangement] = useState(0);
  const grids = useMemo(() => gridsOf(run), [run]);
  const grid = grids[arrangement];
  const cell = (rank, i) => (
    <Pick key={rank} change={{ ranks: [rank] }} class={`cell ${chosen && !chosen.has(rank) ? 'off' : ''}`}
      style={{ background: warmText(most > 0 ? values[i] / most : 0), color: values[i] > 0.5 * most ? '#fff' : '#222' }}
      title={`rank ${rank}: ${time(values[i])}`}>{rank}</Pick>
  );
  return (
    <section>
      <h2>{grid ? `${grid.name}: ${grid.sizes.join(' x ')}` : 'Nodes and ranks'}</h2>
      {grids.length > 0 && (
        <div class="tools"><label>arrangement <select value={arrangement} onChange={(e) => setArrangement(Number(e.currentTarget.value))}>
          {grids.map((g, i) => <option key={g.name} value={i}>{g.name}: {g.sizes.join(' x ')}</option>)}
          <option value={grids.length}>nodes</option></select></label></div>
      )}
      <p class="hint">Coloured by {figure === 'delay' ? 'the waiting that they caused' : figure}, {time(0)} to {time(most)}.
        {grid && grid.periodic.some((p) => p) && ` Periodic in dimension ${grid.periodic.flatMap((p, d) => (p ? [d] : [])).join(', ')}.`}</p>
      {grid ? <Sheets grid={grid} cell={cell} run={run} /> : (
        <div class="nodes">
          {[...nodes].map(([node, members]) => (
            <div class="node" key={node}><h3>{node || 'one node'}</h3>
              <div class="cells">{members.map((i) => cell(run.ranks[i], i))}</div></div>
          ))}
        </div>
      )}
    </section>
  );
}

/** The program's Cartesian arrangements. */
function gridsOf(run) {
  const { topologies: t, topology_places: p } = run.tables;
  const numbers = (text) => (text === '' ? [] : text.split(',').map(Number));
  return Array.from({ length: t.rows }, (_, i) => ({
    name: run.names[t.name[i]], sizes: numbers(run.names[t.sizes[i]]), periodic: numbers(run.names[t.periodic[i]]),
    places: Array.from({ length: p.rows }, (__, k) => k).filter((k) => p.topology[k] === t.name[i])
      .map((k) => ({ rank: p.rank[k], at: numbers(run.names[p.coordinates[k]]) })),
  }));
}

/** Rows are the dimension before the last, columns the last. */
function Sheets({ grid, cell, run }) {
  const sheets = Map.groupBy(grid.places, ({ at }) => at.slice(0, -2).join(','));
  const columns = grid.sizes.at(-1);
  return (
    <div class="nodes">
      {[...sheets].sort((a, b) => a[0].localeCompare(b[0], undefined, { numeric: true })).map(([sheet, places]) => (
        <div class="node" key={sheet}>{sheet !== '' && <h3>{sheet}</h3>}
          <div class="grid" style={{ gridTemplateColumns: `repeat(${columns}, minmax(26px, max-content))` }}>
            {places.map(({ rank, at }) => (
              <div key={rank} style={{ gridColumn: at.at(-1) + 1, gridRow: (at.at(-2) ?? 0) + 1 }}>
                {cell(rank, run.ranks.indexOf(rank))}</div>
            ))}
          </div></div>
      ))}
    </div>
  );
}
