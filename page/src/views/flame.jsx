// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Flame graphs of the selected time, waiting or delay costs; from the root, or from the leaves.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import flamegraph from 'd3-flame-graph';
import { select as pick } from 'd3-selection';
import { colourOf } from '../colours.js';
import { percent } from '../format.js';
import { Empty, useRun, useSelection } from '../parts.jsx';
import { select } from '../select.js';
import { inclusive, sumsOf } from '../sums.js';
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

export function Flame() {
  const { run, time } = useRun();
  const selected = useSelection();
  const figure = figureOf(selected);
  const [leaves, setLeaves] = useState(false);
  const place = useRef();
  const own = sumsOf(run, selected)[`${figure}ByPath`];
  const data = useMemo(() => (leaves ? fromLeaves : fromRoot)(run, own), [own, leaves]);
  useEffect(() => {
    const width = place.current.clientWidth;
    place.current.replaceChildren();
    if (!(data.value > 0)) return;
    const chart = flamegraph().width(width).cellHeight(19).minFrameSize(1.5).selfValue(false).sort(true)
      .transitionDuration(0).inverted(true)
      .setColorMapper((d) => (d.data.id === null ? '#8a8a8a' : colourOf(run.paths[d.data.id])))
      .label((d) => `${d.data.name}: ${time(d.data.value)}, ${percent(d.data.value, data.value)}`)
      .onClick((d) => d.data.id !== null && !leaves && select({ path: d.data.id }));
    pick(place.current).datum(data).call(chart);
  }, [data]);
  return (
    <section>
      <div class="tools">
        {[['time', 'time'], ['waiting', 'waiting'], ['delay', 'delay costs']].map(([id, words]) => (
          <label key={id}><input type="radio" name="figure" checked={figure === id} onChange={() => select({ metric: id })} /> {words}</label>
        ))}
        <label><input type="checkbox" checked={leaves} onChange={(e) => setLeaves(e.currentTarget.checked)} /> from the leaves</label>
      </div>
      {!(data.value > 0) && <Empty>There is nothing of that in what is selected.</Empty>}
      <div class="flame" ref={place} />
    </section>
  );
}
