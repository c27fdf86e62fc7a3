// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Causes and victims of waits: from causes to waits, between ranks and between call paths.

import { useMemo } from 'preact/hooks';
import { percent } from '../format.js';
import { Matrix, blocksOf } from '../matrix.jsx';
import { CodeName, Empty, useRun, useSelection } from '../parts.jsx';
import { filters } from '../sums.js';
import { Table } from '../table.jsx';
import { Flows } from './flows.jsx';

/** Victims of the selection, joined by ranks and by call paths. */
function pairsOf(run, selection) {
  const { victims: v } = run.tables;
  const keep = filters(run, selection);
  const { blocks, block } = blocksOf(run);
  const ranks = new Float64Array(blocks * blocks);
  const paths = new Map();
  let whole = 0;
  for (let i = 0; i < v.rows; ++i) {
    const causes = keep.location(v.delay_location[i]) || keep.location(v.wait_location[i]);
    const codes = keep.path(v.delay_callpath[i]) || keep.path(v.wait_callpath[i]);
    if (!causes || !codes || !keep.pattern(run.names[v.pattern[i]])) continue;
    const from = block.get(run.locations[v.delay_location[i]].rank);
    const to = block.get(run.locations[v.wait_location[i]].rank);
    ranks[from * blocks + to] += v.time_s[i];
    whole += v.time_s[i];
    const key = `${v.delay_callpath[i]} ${v.wait_callpath[i]} ${v.pattern[i]}`;
    const pair = paths.get(key) ?? { from: v.delay_callpath[i], to: v.wait_callpath[i],
                                     pattern: run.names[v.pattern[i]], cost: 0 };
    pair.cost += v.time_s[i];
    paths.set(key, pair);
  }
  return { blocks, ranks, whole, paths: [...paths.values()].sort((a, b) => Math.abs(b.cost) - Math.abs(a.cost)) };
}

/** Direct and indirect parts of all waiting in the selection. */
function partsOf(run, selection) {
  const { delays: d } = run.tables;
  const keep = filters(run, selection);
  let direct = 0, indirect = 0;
  for (let i = 0; i < d.rows; ++i) {
    if (!keep.location(d.location[i]) || !keep.path(d.callpath[i]) || !keep.pattern(run.names[d.pattern[i]])) continue;
    direct += d.short_s[i];
    indirect += d.long_s[i];
  }
  return { direct, indirect };
}

export function Who() {
  const { run, time } = useRun();
  const selected = useSelection();
  const { blocks, ranks, whole, paths } = useMemo(() => pairsOf(run, selected), [run, selected]);
  const { direct, indirect } = useMemo(() => partsOf(run, selected), [run, selected]);
  const covered = useMemo(() => run.tables.victims.time_s.reduce((a, b) => a + b, 0), [run]);
  if (run.isOwn(selected.pattern)) return <Empty>Causes are not computed for user-defined patterns.</Empty>;
  if (paths.length === 0) return <Empty>No waits in this selection.</Empty>;
  return (
    <section>
      <p>Of the delay costs in what is selected, {time(direct)} are waits caused directly, {time(indirect)} further waits
        that these caused. Who waited is known of the costliest delays alone{run.isDifference ? ' of each run. '
          : `: of ${percent(covered, run.waiting)} of all waiting of the run. Shares below are of all of it. `}
        {selected.ranks || selected.path !== null || selected.pattern ? `Of what is selected, that is ${time(whole)}. ` : ''}
        {selected.t && 'All this is not known over time: it is of the whole run.'}</p>
      <div class="columns">
        <section>
          <h2>Between ranks</h2>
          <Matrix blocks={blocks} values={ranks} label="Who made whom wait, by rank" words={(from, to, value) => `${from} made ${to} wait ${time(value)}`}
            hint={(most) => <>Rows: who was late; columns: who waited. <span class="key">{run.isDifference && <>{time(-most)} <i class="ramp cold turned" /> </>}
              {time(0)} <i class="ramp" /> {time(most)}</span></>} />
        </section>
        <section>
          <h2>Between call paths</h2>
          {!run.isDifference && <Flows pairs={paths} whole={whole} />}
          <Table columns={[
            { id: 'from', head: 'late', value: (p) => run.place(p.from), cell: (p) => <CodeName path={p.from} /> },
            { id: 'to', head: 'made wait', value: (p) => run.place(p.to), cell: (p) => <CodeName path={p.to} /> },
            { id: 'cost', head: 'time', number: true, value: (p) => p.cost, cell: (p) => time(p.cost) },
            ...(run.isDifference ? [] : [{ id: 'share', head: 'share', number: true, title: 'of all waiting of the run', cell: (p) => percent(p.cost, run.waiting) }]),
            { id: 'pattern', head: 'pattern', value: (p) => p.pattern, cell: (p) => run.patterns.get(p.pattern)?.name ?? p.pattern },
          ]} rows={paths} most={25} sorted="cost" rowKey={(p) => `${p.from} ${p.to} ${p.pattern}`}
            words={(p) => `${run.paths[p.from].name} ${run.paths[p.to].name} ${run.patterns.get(p.pattern)?.name}`} />
        </section>
      </div>
    </section>
  );
}
