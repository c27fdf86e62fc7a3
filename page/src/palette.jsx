// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a keyboard reaches: a palette that finds views, functions, ranks, patterns and phases by typing, and the list of
// keys. Both are dialogs of the browser, which keeps the focus in them and gives it back.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { named } from './data.js';
import { cut } from './format.js';
import { Pick, useRun } from './parts.jsx';
import { select } from './select.js';

const MOST = 12;

export const KEYS = [
  ['everywhere', [['1 … 0', 'views, in the order of their tabs'], ['Ctrl K or :', 'go to a view, function, rank, pattern or phase by its name'],
    ['Escape', 'select the whole run'], ['Alt ←', 'undo a choice (the browser\'s back button)'], ['?', 'this list']]],
  ['time line', [['W S, ↑ ↓, wheel', 'zoom at the pointer'], ['A D, ← →, drag', 'move'], ['0', 'whole run'], ['click', 'details of an activity, which stay'],
    ['F', 'zoom to that activity'], ['/', 'find a function'], ['N, Shift N', 'its next and previous call'], ['M', 'measure from here'],
    ['Shift drag', 'select a stretch of time'], ['Page ↑ ↓, Ctrl wheel', 'scroll lanes']]],
];

function useDialog(isOpen) {
  const dialog = useRef();
  useEffect(() => {
    if (isOpen && !dialog.current.open) dialog.current.showModal();
    if (!isOpen && dialog.current?.open) dialog.current.close();
  }, [isOpen]);
  return dialog;
}

function Keys({ close }) {
  const dialog = useDialog(true);
  return (
    <dialog ref={dialog} onClose={close} onClick={close} class="keys" aria-label="Keys">
      <button class="close" aria-label="close" autofocus>×</button>
      {KEYS.map(([where, list]) => (
        <section key={where}><h2>Keys: {where}</h2><dl>{list.map(([key, words]) => <><dt key={key}><kbd>{key}</kbd></dt><dd>{words}</dd></>)}</dl></section>
      ))}
    </dialog>
  );
}

/** All that can be gone to: { kind, words, change }. */
function targetsOf(run, views) {
  const targets = views.map(([view, words]) => ({ kind: 'view', words, change: { view } }));
  const functions = new Map();
  for (const path of run.paths) if (!functions.has(path.region)) functions.set(path.region, path.id);
  for (const [region, path] of functions) targets.push({ kind: 'function', words: named(region), change: { path } });
  for (const rank of run.ranks) targets.push({ kind: 'rank', words: `rank ${rank}`, change: { ranks: [rank] } });
  for (const { id, name } of run.patterns.values()) targets.push({ kind: 'pattern', words: name, change: { pattern: id } });
  const { stages: s } = run.tables;
  for (let i = 0; i < s.rows; ++i) {
    const isIteration = run.names[s.kind[i]] === 'iteration';
    targets.push({ kind: run.names[s.kind[i]], words: `${run.names[s.name[i]]}${isIteration ? ` ${s.number[i]}` : ''}`, change: { t: [s.begin_s[i], s.end_s[i]] } });
  }
  return targets;
}

function Palette({ views, close }) {
  const { run } = useRun();
  const dialog = useDialog(true);
  const [words, setWords] = useState('');
  const [at, setAt] = useState(0);
  const targets = useMemo(() => targetsOf(run, views), [run]);
  const wanted = words.trim().toLowerCase();
  const found = useMemo(() => {
    const matching = targets.filter((target) => target.words.toLowerCase().includes(wanted));
    return matching.sort((a, b) => Number(b.words.toLowerCase().startsWith(wanted)) - Number(a.words.toLowerCase().startsWith(wanted))).slice(0, MOST);
  }, [targets, wanted]);
  const go = (change) => {
    close();
    select(change);
  };
  const keys = (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      setAt((at + (event.key === 'ArrowDown' ? 1 : found.length - 1)) % Math.max(1, found.length));
    }
    if (event.key === 'Enter' && found[at]) go(found[at].change);
  };
  return (
    <dialog ref={dialog} onClose={close} onClick={(e) => e.target === dialog.current && close()} class="palette" aria-label="Go to">
      <input type="search" autofocus placeholder="view, function, rank, pattern, phase…" aria-label="Go to" value={words} onKeyDown={keys}
        onInput={(e) => (setWords(e.currentTarget.value), setAt(0))} />
      <ul>{found.map(({ kind, words: name, change }, i) => (
        <li key={`${kind} ${name} ${i}`} class={i === at ? 'selected' : ''} aria-current={i === at ? 'true' : undefined}>
          <Pick change={change} onClick={(e) => (e.preventDefault(), go(change))} title={name}>{cut(name, 70)}</Pick> <span class="hint">{kind}</span></li>
      ))}</ul>
      {found.length === 0 && <p class="hint">Nothing of this name is in the run.</p>}
    </dialog>
  );
}

/** Opens both, by their keys and by buttons; `views`: [id, words] of those that are shown. */
export function Keyboard({ views }) {
  const [open, setOpen] = useState(null);
  useEffect(() => {
    const press = (event) => {
      const isTyping = event.target.closest('input, select, dialog');
      const wantsPalette = (event.key === 'k' && (event.ctrlKey || event.metaKey)) || (event.key === ':' && !isTyping);
      if (!wantsPalette && (event.key !== '?' || isTyping)) return;
      event.preventDefault();
      setOpen(wantsPalette ? 'palette' : 'keys');
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  const close = () => setOpen(null);
  return (
    <span class="keyboard">
      <button onClick={() => setOpen('palette')} title="Ctrl K">go to…</button>
      <button onClick={() => setOpen('keys')} aria-label="list of keys" title="list of keys">?</button>
      {open === 'palette' && <Palette views={views} close={close} />}
      {open === 'keys' && <Keys close={close} />}
    </span>
  );
}
