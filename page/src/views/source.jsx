// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The lines of source that samples found: time, waiting caused and gain of a function are divided among its lines by
// their samples. Where the page has the file's text, it is shown with these beside it, else the lines alone.

import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { cut, grouped, percent } from '../format.js';
import { Bar, Empty, Pick, useRun, useSelection } from '../parts.jsx';
import { select } from '../select.js';
import { filters, sumsOf } from '../sums.js';
import { Table } from '../table.jsx';

/** The construct's own code has no function: its regions are those that name the file. */
function keyOf(region, file) {
  return region.startsWith('!$omp') ? `construct ${/@(.*):\d+$/.exec(region)?.[1] ?? file}` : region;
}

/** What each function took, caused, and would bring, by its key. */
function functionsOf(run, selection) {
  const sums = sumsOf(run, { ...selection, path: null }), found = new Map();
  const at = (key) => {
    if (!found.has(key)) found.set(key, { time: 0, caused: 0, gain: 0 });
    return found.get(key);
  };
  for (const { id, region, file } of run.paths) {
    const row = at(keyOf(region, file));
    row.time += Math.max(0, sums.timeByPath[id] - sums.waitingByPath[id]);
    row.caused += sums.delayByPath[id];
  }
  const { function_gains: g } = run.tables;
  for (let i = 0; i < g.rows; ++i) {
    const { region, file } = run.paths[g.callpath[i]], row = at(keyOf(region, file));
    row.gain = Math.max(row.gain, g.gain_s[i], g.halved_s[i]);
  }
  return found;
}

/** Lines of the selected ranks: { file, line, functions, samples, whole, time, caused, gain }, those that take most first. */
function linesOf(run, selection) {
  const { lines: l } = run.tables, functions = functionsOf(run, selection), all = new Map(), lines = new Map();
  const ranks = selection.ranks && new Set(selection.ranks);
  const keys = new Array(l.rows);
  for (let i = 0; i < l.rows; ++i) {
    if (ranks && !ranks.has(l.rank[i])) continue;
    const name = run.names[l.function[i]];
    keys[i] = name || `construct ${run.names[l.file[i]]}`;
    all.set(keys[i], (all.get(keys[i]) ?? 0) + l.samples[i]);
  }
  for (let i = 0; i < l.rows; ++i) {
    if (keys[i] === undefined) continue;
    const file = run.names[l.file[i]], key = `${file}:${l.line[i]}`;
    const row = lines.get(key) ?? { key, file, line: l.line[i], functions: new Set(), samples: 0, whole: 0, time: 0, caused: 0, gain: 0 };
    const share = all.get(keys[i]) > 0 ? l.samples[i] / all.get(keys[i]) : 0, of = functions.get(keys[i]);
    row.functions.add(run.names[l.function[i]] || 'OpenMP construct');
    row.samples += l.samples[i];
    row.whole += l.with_callees[i];
    for (const figure of ['time', 'caused', 'gain']) row[figure] += share * (of?.[figure] ?? 0);
    lines.set(key, row);
  }
  return [...lines.values()].sort((a, b) => b.time - a.time);
}

/** The path that a function's lines are selected by: the one with most time. */
function pathOf(run, name) {
  let best = null;
  for (const path of run.paths) if (path.region === name && best === null) best = path.id;
  return best;
}

function Text({ file, lines }) {
  const { run, time } = useRun();
  const marked = useRef();
  const at = new Map(lines.map((row) => [row.line, row]));
  const most = lines.reduce((all, row) => Math.max(all, row.time), 0), caused = lines.reduce((all, row) => Math.max(all, row.caused), 0);
  const costly = lines[0]?.line;
  useLayoutEffect(() => {  // the costliest line in the middle, and the page where it is
    const row = marked.current, pane = row?.closest('.source');
    if (row) pane.scrollTop = row.offsetTop - pane.clientHeight / 2;
  }, [file]);
  const text = run.head.sources[file].split('\n');
  return (
    <div class="source" role="region" aria-label={`Text of ${file}`} tabindex="0">
      <table><thead><tr><th class="number">time</th><th class="number">caused</th><th class="number">gain</th><th class="number">line</th><th>{file}</th></tr></thead>
        <tbody>{text.map((words, i) => {
          const row = at.get(i + 1);
          return (
            <tr key={i} ref={i + 1 === costly ? marked : undefined} class={row ? 'sampled' : ''} title={row && `${grouped(row.samples)} samples here, ${grouped(row.whole)} with what it calls; ${[...row.functions].join(', ')}`}>
              <td class="number">{row?.time > 0 && <Bar value={row.time} whole={most} text={time(row.time)} />}</td>
              <td class="number">{row?.caused > 0 && <Bar value={row.caused} whole={caused} text={time(row.caused)} />}</td>
              <td class="number">{row?.gain > 0 && time(row.gain)}</td><td class="number hint">{i + 1}</td><td><code>{words}</code></td></tr>
          );
        })}</tbody></table>
    </div>
  );
}

export function Source() {
  const { run, time } = useRun();
  const selected = useSelection();
  const lines = useMemo(() => linesOf(run, selected), [run, selected.t, selected.ranks, selected.pattern]);
  const files = useMemo(() => {
    const sums = new Map();
    for (const { file, time: s } of lines) sums.set(file, (sums.get(file) ?? 0) + s);
    return [...sums].sort((a, b) => b[1] - a[1]);
  }, [lines]);
  if (lines.length === 0) {
    return <Empty>No lines are known: they come from the samples in the run's records, and the program's debug information (-g).</Empty>;
  }
  const wanted = selected.path === null ? null : run.paths[selected.path];
  const ofPath = wanted && lines.find(({ functions }) => functions.has(wanted.region))?.file;
  const known = (name) => files.some(([file]) => file === name);
  const file = known(selected.file) ? selected.file : ofPath ?? files[0][0];
  const shown = lines.filter((row) => row.file === file && (!wanted || !ofPath || row.functions.has(wanted.region)));
  const whole = lines.reduce((sum, row) => sum + row.time, 0);
  const seconds = (id, head, title) => ({ id, head, title, number: true, value: (r) => r[id], cell: (r) => (r[id] > 0 ? time(r[id]) : '') });
  const columns = [
    { id: 'line', head: 'line', number: true, value: (r) => r.line, cell: (r) => r.line },
    { id: 'function', head: 'function', wide: true, value: (r) => [...r.functions].join(), cell: (r) => [...r.functions].map((name) => (
      <Pick key={name} change={{ path: pathOf(run, name) }} title={name}>{cut(name, 72)}</Pick>)) },
    { id: 'time', head: 'time', number: true, title: 'time without waiting, divided by samples', value: (r) => r.time, cell: (r) => <Bar value={r.time} whole={lines[0].time} text={time(r.time)} /> },
    { id: 'share', head: 'share', number: true, title: 'of the time of all lines', cell: (r) => percent(r.time, whole) },
    seconds('caused', 'waiting caused', 'the waiting that the function causes, divided by samples'),
    seconds('gain', 'gain', 'what the best change of the function would bring, divided by samples'),
    { id: 'samples', head: 'samples', number: true, value: (r) => r.samples, cell: (r) => grouped(r.samples) },
    { id: 'whole', head: 'with callees', number: true, title: 'samples here and in what is called from here', value: (r) => r.whole, cell: (r) => grouped(r.whole) },
  ];
  const hasText = run.head.sources?.[file] !== undefined;
  return (
    <section>
      <div class="tools"><label>file <select value={file} onChange={(e) => select({ file: e.currentTarget.value, path: null })}>
        {files.map(([name, s]) => <option key={name} value={name}>{`${name} (${time(s)})`}</option>)}</select></label></div>
      <p class="hint">A function's figures are divided among its lines by samples{selected.t && '; samples are of the whole run'}.
        {!hasText && ' The text of this file is not in the page: culprit view --sources FOLDER puts it in.'}</p>
      {hasText && <Text file={file} lines={lines.filter((row) => row.file === file)} />}
      <h2>{wanted && ofPath ? `Lines of ${cut(wanted.region, 72)}` : `Lines of ${file}`}</h2>
      <Table columns={columns} rows={shown} most={30} sorted="time" rowKey={(r) => r.key} words={(r) => `${r.file}:${r.line} ${[...r.functions].join(' ')}`} />
    </section>
  );
}
