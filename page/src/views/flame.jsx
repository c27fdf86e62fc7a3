// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Flame graphs of the selected time, waiting or delay costs; from the root, or from the leaves.

import { useMemo, useState } from 'preact/hooks';
import { colourOf, inkOn } from '../colours.js';
import { named } from '../data.js';
import { cut, percent } from '../format.js';
import { BasisHint, Empty, Pick, useRun, useSelection } from '../parts.jsx';
import { select } from '../select.js';
import { basisOf, inclusive, sumsOf } from '../sums.js';
import { figureOf } from './trees.jsx';

function fromRoot(run, own) {
  const all = inclusive(run, own);
  const node = (id) => ({ id, name: run.paths[id].region, value: all[id],
                          children: run.paths[id].children.filter((c) => all[c] > 0).map(node) });
  return { id: null, name: 'all', value: run.roots.reduce((sum, id) => sum + all[id], 0),
           children: run.roots.filter((id) => all[id] > 0).map(node) };
}

function fromLeaves(run, own) {
  const root = { id: null, name: 'all', value: 0, children: new Map() };
  own.forEach((value, id) => {
    if (!(value > 0)) return;
    root.value += value;
    for (let at = root, path = id; path !== null; path = run.paths[path].parent) {
      const name = run.paths[path].region;
      if (!at.children.has(name)) at.children.set(name, { id: path, name, value: 0, children: new Map() });
      at = at.children.get(name);
      at.value += value;
    }
  });
  const plain = (n) => ({ ...n, children: [...n.children.values()].map(plain) });
  return plain(root);
}

/** A frame that is narrower, of the whole, is not drawn: less than two pixels. */
const NARROWEST = 0.0012, HEIGHT = 19;

/** Where frames lie: { node, depth, from, to }, as shares of the width; the largest first. */
function framesOf(root) {
  const frames = [], open = [{ node: root, depth: 0, from: 0 }];
  while (open.length > 0) {
    const { node, depth, from } = open.pop();
    frames.push({ node, depth, from, to: from + node.value / root.value });
    let at = from;
    for (const child of node.children.toSorted((a, b) => b.value - a.value)) {
      if (child.value / root.value < NARROWEST) break;
      open.push({ node: child, depth: depth + 1, from: at });
      at += child.value / root.value;
    }
  }
  return frames;
}

function Frame({ frame: { node, depth, from, to }, whole, link }) {
  const { run, time } = useRun();
  const colour = node.id === null ? '#8a8a8a' : colourOf(run.paths[node.id]);
  const rest = {
    class: 'frame', title: `${named(node.name)}: ${time(node.value)}, ${percent(node.value, whole)}`,
    style: { left: `${100 * from}%`, width: `${100 * (to - from)}%`, top: `${depth * HEIGHT}px`, background: colour, color: inkOn(colour) },
  };
  const words = to - from > 0.015 ? cut(named(node.name), 200) : '';
  return link && node.id !== null ? <Pick change={{ path: node.id }} {...rest}>{words}</Pick> : <span {...rest}>{words}</span>;
}

export function Flame() {
  const { run } = useRun();
  const selected = useSelection();
  const figure = figureOf(selected);
  const [leaves, setLeaves] = useState(false);
  const own = sumsOf(run, basisOf(selected, figure))[`${figure}ByPath`];
  const data = useMemo(() => (leaves ? fromLeaves : fromRoot)(run, own), [own, leaves]);
  const frames = useMemo(() => (data.value > 0 ? framesOf(data) : []), [data]);
  const deepest = frames.reduce((most, { depth }) => Math.max(most, depth), 0);
  return (
    <section>
      <div class="tools">
        {[['time', 'time'], ['waiting', 'waiting'], ['delay', 'delay costs']].map(([id, words]) => (
          <label key={id}><input type="radio" name="figure" checked={figure === id} onChange={() => select({ metric: id })} /> {words}</label>
        ))}
        <label><input type="checkbox" checked={leaves} onChange={(e) => setLeaves(e.currentTarget.checked)} /> from the leaves</label>
      </div>
      <BasisHint figure={figure} />
      {frames.length === 0 && <Empty>Nothing of this kind in this selection.</Empty>}
      <div class="flame" style={{ height: `${(deepest + 1) * HEIGHT}px` }}>
        {frames.map((frame, i) => <Frame key={i} frame={frame} whole={data.value} link={!leaves} />)}
      </div>
    </section>
  );
}
