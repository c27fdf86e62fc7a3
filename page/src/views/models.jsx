// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The first screen of models: how figures grow with a parameter, as curves through the points that the runs are, with
// the interval of a run at the target.

import { useState } from 'preact/hooks';
import { cut } from '../format.js';
import { Empty, useRun } from '../parts.jsx';
import { Table } from '../table.jsx';

const WIDTH = 760, HEIGHT = 300, LEFT = 70, FOOT = 30, STEPS = 80;
const NAMES = { wall: 'run time', delay: 'waiting caused', critical: 'critical path' };
/** A formula with a larger error, in percent, says little (report/verdict/model_words.h). */
const LARGE_ERROR = 25;

/** The value of a formula where the parameters are so. */
function valueOf(run, model, at) {
  const { model_terms: t } = run.tables, terms = new Map();
  for (let i = 0; i < t.rows; ++i) {
    if (t.model[i] !== model) continue;
    const x = at[run.names[t.parameter[i]]] ?? 1;
    const factor = t.term[i] === 0 ? 1 : x ** t.exponent[i] * Math.log2(Math.max(x, 1)) ** t.logarithms[i];
    terms.set(t.term[i], (terms.get(t.term[i]) ?? t.coefficient[i]) * factor);
  }
  return [...terms.values()].reduce((sum, value) => sum + value, 0);
}

/** What the runs measured of a figure of the whole, at their value of a parameter that inputs tell. */
function pointsOf(run, figure, parameter) {
  const { inputs } = run.tables;
  const x = { ranks: (i) => inputs.ranks[i], threads: (i) => inputs.locations[i] / inputs.ranks[i] }[parameter];
  const y = { wall: (i) => inputs.wall_s[i], waiting: (i) => inputs.waiting_s[i] / inputs.locations[i] }[figure];
  return x && y ? Array.from({ length: inputs.rows }, (_, i) => ({ x: x(i), y: y(i), name: run.names[inputs.name[i]] })) : [];
}

function Curve({ model, parameter, at }) {
  const { run } = useRun();
  const { models: m } = run.tables, figure = run.names[m.figure[model.id]];
  const points = model.callpath === null ? pointsOf(run, figure, parameter.name) : [];
  const xs = Array.from({ length: STEPS + 1 }, (_, i) => parameter.least + ((parameter.target - parameter.least) * i) / STEPS);
  const curve = xs.map((x) => valueOf(run, model.id, { ...at, [parameter.name]: x }));
  const most = Math.max(...curve, ...points.map((p) => p.y), model.high, 1e-12);
  const X = (x) => LEFT + ((WIDTH - LEFT - 20) * (x - parameter.least)) / (parameter.target - parameter.least || 1);
  const Y = (y) => HEIGHT - FOOT - ((HEIGHT - FOOT - 20) * Math.max(0, y)) / most;
  const words = (y) => (figure === 'visits' ? y.toPrecision(3) : `${y.toPrecision(3)} s`);
  return (
    <figure>
      <figcaption>{model.words}: {model.formula}</figcaption>
      <svg class="curve" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${model.words} by ${parameter.name}; the table below has the same figures`}>
        <line x1={LEFT} y1={HEIGHT - FOOT} x2={WIDTH - 20} y2={HEIGHT - FOOT} />
        {[parameter.least, parameter.most, parameter.target].map((x) => <text key={x} x={X(x)} y={HEIGHT - 10} text-anchor="middle">{x}</text>)}
        <text x="2" y={Y(most) + 4}>{words(most)}</text><text x="2" y={HEIGHT - FOOT}>0</text>
        <polyline points={xs.map((x, i) => `${X(x)},${Y(curve[i])}`).join(' ')} />
        <line class="interval" x1={X(parameter.target)} y1={Y(model.low)} x2={X(parameter.target)} y2={Y(model.high)}><title>{`a run there: ${words(model.low)} to ${words(model.high)}`}</title></line>
        {points.map((p) => {
          const expected = valueOf(run, model.id, { ...at, [parameter.name]: p.x });
          return <circle key={p.name} cx={X(p.x)} cy={Y(p.y)} r="4"><title>{`${p.name}: ${words(p.y)}, ${words(Math.abs(p.y - expected))} ${p.y > expected ? 'above' : 'below'} the formula`}</title></circle>;
        })}
      </svg>
    </figure>
  );
}

export function Models() {
  const { run } = useRun();
  const { models: m, model_parameters: p } = run.tables;
  const [name, setName] = useState(null);
  const [chosen, setChosen] = useState(null);
  if (m.rows === 0 || p.rows === 0) return <Empty>No figure could be modeled: give culprit model runs with three different values of a parameter at least.</Empty>;
  const parameters = Array.from({ length: p.rows }, (_, i) => ({ name: run.names[p.name[i]], least: p.least[i], most: p.most[i], target: p.target[i] }));
  const parameter = parameters.find((each) => each.name === name) ?? parameters[0];
  const at = Object.fromEntries(parameters.map((each) => [each.name, each.target]));
  const rows = Array.from({ length: m.rows }, (_, id) => {
    const callpath = m.callpath[id] < run.paths.length ? m.callpath[id] : null, figure = run.names[m.figure[id]];
    const doubt = m.error_pct[id] > LARGE_ERROR ? `error ${m.error_pct[id].toFixed(0)} %` : m.low[id] <= m.base[id] ? 'growth not certain' : '';
    return { id, callpath, words: `${NAMES[figure] ?? figure}${callpath === null ? '' : ` of ${run.place(callpath)}`}`, formula: run.names[m.formula[id]], base: m.base[id],
             expected: m.expected[id], low: m.low[id], high: m.high[id], error: m.error_pct[id], doubt };
  });
  const model = rows.find(({ id }) => id === chosen) ?? rows.find(({ words }) => words === NAMES.wall) ?? rows[0];
  const number = (id, head, title) => ({ id, head, title, number: true, value: (r) => r[id], cell: (r) => r[id].toPrecision(3) });
  return (
    <>
      <div class="tools"><label>over <select value={parameter.name} onChange={(e) => setName(e.currentTarget.value)}>
        {parameters.map((each) => <option key={each.name}>{each.name}</option>)}</select></label></div>
      <Curve model={model} parameter={parameter} at={at} />
      <Table columns={[
        { id: 'words', head: 'figure', value: (r) => r.words, cell: (r) => <button class="sort" onClick={() => setChosen(r.id)}>{cut(r.words, 90)}</button> },
        { id: 'formula', head: 'formula', cell: (r) => <span class="one-line">{r.formula}</span> }, number('base', 'in the runs', 'where all parameters are largest'),
        number('expected', 'expected', 'at the targets'), number('low', 'at least', 'with 95 %'), number('high', 'at most', 'with 95 %'),
        { id: 'doubt', head: 'doubt', value: (r) => r.doubt, cell: (r) => <span class="one-line">{r.doubt}</span> },
      ]} rows={rows} sorted="expected" most={40} rowKey={(r) => r.id} words={(r) => r.words} rowClass={(r) => (r.id === model.id ? 'selected' : '')} />
    </>
  );
}
