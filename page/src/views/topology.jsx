// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Nodes with their ranks, coloured by the figure that is selected.

import { useMemo } from 'preact/hooks';
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
  return (
    <section>
      <h2>Nodes and ranks</h2>
      <p class="hint">Coloured by {figure === 'delay' ? 'the waiting that they caused' : figure}, {time(0)} to {time(most)}.</p>
      <div class="nodes">
        {[...nodes].map(([node, members]) => (
          <div class="node" key={node}><h3>{node || 'one node'}</h3>
            <div class="cells">
              {members.map((i) => (
                <Pick key={run.ranks[i]} change={{ ranks: [run.ranks[i]] }}
                  class={`cell ${chosen && !chosen.has(run.ranks[i]) ? 'off' : ''}`}
                  style={{ background: warmText(most > 0 ? values[i] / most : 0), color: values[i] > 0.5 * most ? '#fff' : '#222' }}
                  title={`rank ${run.ranks[i]}: ${time(values[i])}`}>{run.ranks[i]}</Pick>
              ))}
            </div></div>
        ))}
      </div>
    </section>
  );
}
