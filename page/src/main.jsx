// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The page of `culprit view`: head, chips of the selection, tabs, one view. The list of views is
// here, each lies in a file of its name.

import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { setNight } from './colours.js';
import { load } from './data.js';
import { cut, momentFormat, timeFormat } from './format.js';
import { Navigator } from './navigator.jsx';
import { Keyboard } from './palette.jsx';
import { Pick, RunContext, useRun, useSelection } from './parts.jsx';
import { ranksText, select, start } from './select.js';
import { intervalsOf } from './sums.js';
import { Changes } from './views/changes.jsx';
import { Causes } from './views/causes.jsx';
import { Coverage } from './views/coverage.jsx';
import { Devices } from './views/devices.jsx';
import { Efficiency } from './views/efficiency.jsx';
import { Flame } from './views/flame.jsx';
import { Functions } from './views/functions.jsx';
import { Iterations } from './views/iterations.jsx';
import { Messages } from './views/messages.jsx';
import { Head, Overview } from './views/overview.jsx';
import { Models } from './views/models.jsx';
import { Source } from './views/source.jsx';
import { Timeline } from './views/timeline/timeline.jsx';
import { Topology } from './views/topology.jsx';
import { Trees } from './views/trees.jsx';
import { Who } from './views/who.jsx';

const VIEWS = [
  ['overview', 'Overview', Overview], ['causes', 'Causes', Causes], ['timeline', 'Time line', Timeline],
  ['trees', 'Trees', Trees], ['who', 'Who waits for whom', Who], ['functions', 'Functions', Functions], ['source', 'Source', Source],
  ['iterations', 'Iterations', Iterations], ['messages', 'Messages', Messages], ['topology', 'Topology', Topology],
  ['flame', 'Flame graph', Flame], ['devices', 'Devices', Devices], ['efficiency', 'Efficiency', Efficiency],
  ['coverage', 'Coverage', Coverage],
];

/** The views that have no meaning for a difference of runs. */
const OF_ONE_RUN = ['causes', 'timeline', 'flame', 'functions', 'iterations', 'messages'];

/** Models have neither times nor waits. */
const OF_MODELS = ['overview', 'coverage'];

function Chips() {
  const { run, moment } = useRun();
  const s = useSelection();
  const chips = [];
  if (s.t) chips.push(['t', `${moment(s.t[0], s.t[1] - s.t[0])} to ${moment(s.t[1], s.t[1] - s.t[0])}`]);
  if (s.ranks) chips.push(['ranks', `rank${s.ranks.length > 1 ? 's' : ''} ${ranksText(s.ranks, run.ranks)}`]);
  if (s.path !== null) chips.push(['path', `in ${cut(run.paths[s.path].name, 160)}`, run.paths[s.path].name]);
  if (s.pattern) chips.push(['pattern', run.patterns.get(s.pattern).name]);
  return (
    <div class="chips" role="status">
      {chips.length === 0 && <span class="hint">Whole run, all ranks</span>}
      {chips.map(([key, words, whole]) => (
        <button key={key} class="chip" onClick={() => select({ [key]: null })} title={`${whole ? `${whole}: ` : ''}take this away`}>{words} <b>×</b></button>
      ))}
      {s.t && s.view !== 'timeline' && run.intervals > 0 && <span class="hint">{wholeIntervals(run, s, moment)}</span>}
      {chips.length > 1 && <button class="chip" onClick={() => select({ t: null, ranks: null, path: null, pattern: null })}>all</button>}
    </div>
  );
}

/** A note on the scope of sums, where that is more than the selection. */
function wholeIntervals(run, s, moment) {
  const [first, last] = intervalsOf(run, s), width = run.wall / run.intervals;
  const [from, to] = [first * width, last * width];
  const slack = width / 100;
  if (Math.abs(from - s.t[0]) < slack && Math.abs(to - s.t[1]) < slack) return '';
  return `Sums are of whole intervals: ${moment(from, to - from)} to ${moment(to, to - from)}.`;
}

function shownViews(run) {
  return VIEWS.filter(([id]) => (id !== 'devices' || run.tables.devices.rows > 0) && (id !== 'source' || run.tables.lines?.rows > 0)
    && !(run.isDifference && OF_ONE_RUN.includes(id)) && !(run.operation === 'model' && !OF_MODELS.includes(id))
    && !(id === 'who' && run.operation !== 'run' && run.tables.victims.rows === 0));
}

function Tabs() {
  const { run } = useRun();
  const { view } = useSelection();
  return (
    <nav>{shownViews(run).map(([id, words]) => (
      <Pick key={id} change={{ view: id }} class={view === id ? 'tab on' : 'tab'} aria-current={view === id ? 'page' : undefined}>{words}</Pick>
    ))}</nav>
  );
}

/** Digits choose views in the order of their tabs, Escape clears the selection. */
function useKeys(run) {
  useEffect(() => {
    const press = (event) => {
      if (event.defaultPrevented || event.target.closest('input, select, dialog') || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'Escape') select({ t: null, ranks: null, path: null, pattern: null });
      const at = '1234567890'.indexOf(event.key);
      const views = shownViews(run);
      if (at >= 0 && views[at]) select({ view: views[at][0] });
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

function Page() {
  const { view } = useSelection();
  const { run } = useRun();
  useKeys(run);
  const found = (shownViews(run).find(([id]) => id === view) ?? VIEWS[0])[2];
  const View = found !== Overview ? found : run.isDifference ? Changes : run.operation === 'model' ? Models : found;
  const night = useNight();
  return (
    <>
      <Head isShort={view !== 'overview' && found !== Overview} /><Tabs /><div class="bar-of-chips"><Chips /><Keyboard views={shownViews(run)} /></div>
      {!run.isDifference && run.operation !== 'model' && <Navigator />}
      <main key={night}><View /></main>
    </>
  );
}

const DARK = matchMedia('(prefers-color-scheme: dark)');

/** Whether it is dark; canvases are drawn anew when that changes. */
function useNight() {
  const [night, set] = useState(DARK.matches);
  useEffect(() => {
    const change = () => {
      setNight(DARK.matches);
      set(DARK.matches);
    };
    DARK.addEventListener('change', change);
    return () => DARK.removeEventListener('change', change);
  }, []);
  return night;
}

/** On paper: verdict, causes, map and coverage, whatever view is open, in the colours of the day. */
function Paper() {
  const { run } = useRun();
  return <><Head /><Chips />{run.isDifference ? <Changes /> : <Overview />}<footer><Coverage /></footer></>;
}

/** Browsers signal that they print, and wait for drawing that is done in the handler. */
function printWith(context) {
  const root = document.documentElement, paper = document.getElementById('paper');
  const begin = () => {
    if (root.dataset.printing) return;
    root.dataset.printing = 'yes';
    setNight(false);
    render(<RunContext.Provider value={context}><Paper /></RunContext.Provider>, paper);
  };
  const end = () => {
    render(null, paper);
    delete root.dataset.printing;
    setNight(DARK.matches);
  };
  addEventListener('beforeprint', begin);
  addEventListener('afterprint', end);
  matchMedia('print').addEventListener('change', (event) => (event.matches ? begin() : end()));
}

load().then((run) => {
  start(run);
  document.title = `${run.command} - culprit`;
  setNight(DARK.matches);
  const context = { run, time: timeFormat(run.length), moment: momentFormat(run.length) };
  document.getElementById('page').textContent = '';
  render(<RunContext.Provider value={context}><Page /></RunContext.Provider>, document.getElementById('page'));
  printWith(context);
  document.documentElement.dataset.ready = 'yes';
}).catch((problem) => {
  document.getElementById('page').textContent = `This page is damaged: ${problem.message}`;
});
