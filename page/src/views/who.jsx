// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Causes and victims of waits: from causes to waits, between ranks and between call paths.

import { useMemo, useRef, useState } from 'preact/hooks';
import { warmText } from '../colours.js';
import { percent } from '../format.js';
import { Canvas, CodeName, Empty, ink, useRun, useSelection } from '../parts.jsx';
import { select } from '../select.js';
import { filters, sizeOf } from '../sums.js';
import { Flows } from './flows.jsx';

const MOST_CELLS = 128, SIDE = 460, LEFT = 60, TOP = 20;

/** Victims of the selection, joined by ranks and by call paths. */
function pairsOf(run, selection) {
  const { victims: v } = run.tables;
  const keep = filters(run, selection);
  const blocks = Math.min(run.ranks.length, MOST_CELLS);
  const block = new Map(run.ranks.map((rank, i) => [rank, Math.floor((i * blocks) / run.ranks.length)]));
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
  const canvas = useRef();
  const [hover, setHover] = useState('');
  const most = sizeOf(ranks);
  if (run.isOwn(selected.pattern)) return <Empty>Causes are not computed for user-defined patterns.</Empty>;
  if (paths.length === 0) return <Empty>No waits in this selection.</Empty>;
  const membersOf = (at) => run.ranks.filter((_, i) => Math.floor((i * blocks) / run.ranks.length) === at);
  const draw = (context) => {
    const cell = (SIDE - LEFT) / blocks;
    for (let from = 0; from < blocks; ++from) {
      for (let to = 0; to < blocks; ++to) {
        const share = most > 0 ? ranks[from * blocks + to] / most : 0;
        context.fillStyle = share === 0 ? ink('hollow') : warmText(Math.sign(share) * 0.08 + 0.92 * share);
        context.fillRect(LEFT + to * cell, TOP + from * cell, Math.max(1, cell - (cell > 6 ? 1 : 0)),
                         Math.max(1, cell - (cell > 6 ? 1 : 0)));
      }
    }
    context.fillStyle = ink('faint');
    context.font = '11px system-ui';
    const widest = context.measureText(`${run.ranks.at(-1)}`).width;
    for (let at = 0; at < blocks; at += Math.ceil(14 / cell)) {
      context.textAlign = 'right';
      context.fillText(`rank ${membersOf(at)[0]}`, LEFT - 4, TOP + (at + 0.5) * cell + 4);
    }
    for (let at = 0; at < blocks; at += Math.ceil((widest + 8) / cell)) {
      context.textAlign = 'center';
      context.fillText(`${membersOf(at)[0]}`, LEFT + (at + 0.5) * cell, TOP - 6);
    }
  };
  const cellAt = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const cell = (SIDE - LEFT) / blocks;
    const to = Math.floor((event.clientX - box.left - LEFT) / cell), from = Math.floor((event.clientY - box.top - TOP) / cell);
    return from >= 0 && to >= 0 && from < blocks && to < blocks ? { from, to } : null;
  };
  const words = (members) => (members.length > 1 ? `ranks ${members[0]} to ${members.at(-1)}` : `rank ${members[0]}`);
  const tell = (event) => {
    const at = cellAt(event);
    setHover(at ? `${words(membersOf(at.from))} made ${words(membersOf(at.to))} wait `
      + `${time(ranks[at.from * blocks + at.to])}` : '');
  };
  const choose = (event) => {
    const at = cellAt(event);
    if (at) select({ ranks: [...new Set([...membersOf(at.from), ...membersOf(at.to)])].sort((a, b) => a - b) });
  };
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
          <p class="hint">Rows: who was late; columns: who waited. <span class="key">{run.isDifference && <>{time(-most)} <i class="ramp cold turned" /> </>}
            {time(0)} <i class="ramp" /> {time(most)}</span> {hover}</p>
          <div style={{ width: `${SIDE}px`, maxWidth: '100%' }}>
            <Canvas canvasRef={canvas} height={SIDE - LEFT + TOP + 4} draw={draw} watch={[ranks]} role="img"
              aria-label="Who made whom wait, by rank" onPointerMove={tell} onClick={choose} /></div>
        </section>
        <section>
          <h2>Between call paths</h2>
          {!run.isDifference && <Flows pairs={paths} whole={whole} />}
          <table>
            <thead><tr><th>late</th><th>made wait</th><th class="number">time</th>{!run.isDifference && <th class="number" title="of all waiting of the run">share</th>}<th>pattern</th></tr></thead>
            <tbody>
              {paths.slice(0, 25).map((p) => (
                <tr key={`${p.from} ${p.to} ${p.pattern}`}><td><CodeName path={p.from} /></td><td><CodeName path={p.to} /></td>
                  <td class="number">{time(p.cost)}</td>{!run.isDifference && <td class="number">{percent(p.cost, run.waiting)}</td>}
                  <td>{run.patterns.get(p.pattern)?.name ?? p.pattern}</td></tr>
              ))}
            </tbody>
          </table>
        </section>
      </div>
    </section>
  );
}
