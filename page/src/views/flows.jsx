// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// From causes to waits as a picture: call paths that were late on the left, those that waited for them on the
// right, and between them bands as wide as the waiting.

import { useMemo } from 'preact/hooks';
import { colourOf } from '../colours.js';
import { cut, percent } from '../format.js';
import { Pick, useRun } from '../parts.jsx';

const WIDTH = 760, SIDE = 250, HEIGHT = 340, GAP = 6, MOST = 16, LEAST_LABEL = 11, MOST_OF_NAME = 36;

/** Pairs joined over patterns, the largest ones; the ends of their bands, laid out on both sides. */
function layout(pairs) {
  const joined = new Map();
  for (const { from, to, cost } of pairs) {
    const key = `${from} ${to}`;
    const flow = joined.get(key) ?? { from, to, cost: 0 };
    flow.cost += cost;
    joined.set(key, flow);
  }
  const flows = [...joined.values()].filter((f) => f.cost > 0).sort((a, b) => b.cost - a.cost).slice(0, MOST);
  const sides = { from: new Map(), to: new Map() };
  for (const flow of flows) {
    for (const side of ['from', 'to']) sides[side].set(flow[side], (sides[side].get(flow[side]) ?? 0) + flow.cost);
  }
  const shown = flows.reduce((sum, f) => sum + f.cost, 0);
  const most = Math.max(sides.from.size, sides.to.size);
  const scale = shown > 0 ? (HEIGHT - GAP * most) / shown : 0;
  const place = (sums) => {
    let y = 0;
    return new Map([...sums].sort((a, b) => b[1] - a[1]).map(([path, cost]) => {
      const node = { path, cost, y, height: cost * scale, used: 0 };
      y += node.height + GAP;
      return [path, node];
    }));
  };
  const from = place(sides.from), to = place(sides.to);
  // Bands leave a node in the order in which their other ends stand, so that few of them cross.
  for (const flow of [...flows].sort((a, b) => to.get(a.to).y - to.get(b.to).y)) {
    flow.left = from.get(flow.from).y + from.get(flow.from).used;
    from.get(flow.from).used += flow.cost * scale;
  }
  for (const flow of [...flows].sort((a, b) => from.get(a.from).y - from.get(b.from).y)) {
    flow.right = to.get(flow.to).y + to.get(flow.to).used;
    to.get(flow.to).used += flow.cost * scale;
  }
  return { flows, scale, shown, from: [...from.values()], to: [...to.values()] };
}

function band(flow, scale) {
  const [x0, x1, middle] = [SIDE, WIDTH - SIDE, WIDTH / 2], h = Math.max(1, flow.cost * scale);
  const { left: a, right: b } = flow;
  return `M${x0} ${a}C${middle} ${a} ${middle} ${b} ${x1} ${b}V${b + h}C${middle} ${b + h} ${middle} ${a + h} ${x0} ${a + h}Z`;
}

export function Flows({ pairs, whole }) {
  const { run, time } = useRun();
  const { flows, scale, shown, from, to } = useMemo(() => layout(pairs), [pairs]);
  if (flows.length === 0) return null;
  const words = (f) => `${run.place(f.from)} made ${run.place(f.to)} wait ${time(f.cost)} (${percent(f.cost, run.waiting)})`;
  return (
    <figure class="flows">
      <figcaption>From causes to waits{shown < 0.999 * whole && `: the ${flows.length} largest, ${percent(shown, whole)} of them`}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label="From causes to waits, by call path; the table below has the same figures">
        {flows.map((f) => (
          <path key={`${f.from} ${f.to}`} d={band(f, scale)} fill={colourOf(run.paths[f.from])} opacity="0.55">
            <title>{words(f)}</title></path>
        ))}
        {[[from, true], [to, false]].map(([nodes, isCause]) => nodes.map((node) => (
          <Pick key={`${isCause} ${node.path}`} change={{ path: node.path }}>
            <title>{`${run.paths[node.path].name}: ${time(node.cost)}`}</title>
            <rect x={isCause ? SIDE - 8 : WIDTH - SIDE} y={node.y} width="8" height={Math.max(1, node.height)}
              fill={colourOf(run.paths[node.path])} />
            {node.height + GAP >= LEAST_LABEL && (
              <text x={isCause ? SIDE - 14 : WIDTH - SIDE + 14} y={node.y + node.height / 2 + 4} text-anchor={isCause ? 'end' : 'start'}>
                {cut(run.place(node.path), MOST_OF_NAME)}</text>)}
          </Pick>
        )))}
      </svg>
    </figure>
  );
}
