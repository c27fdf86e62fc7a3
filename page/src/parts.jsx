// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Components that several views share.

import { createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { colourOf, warmText } from './colours.js';
import { cut, percent } from './format.js';
import { fragmentOf, linkTo, ranksText, select, selection, subscribe } from './select.js';
import { basisOf } from './sums.js';

export const RunContext = createContext(null);

/** { run, time, moment } of the page: the data, and how sums and moments of this run are written. */
export function useRun() {
  return useContext(RunContext);
}

export function useSelection() {
  const [state, set] = useState(selection());
  useEffect(() => subscribe(set), []);
  return state;
}

/** A link that changes the selection; it can be opened in a new window as any other. */
export function Pick({ change, children, ...rest }) {
  const follow = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button > 0) return;
    event.preventDefault();
    select(typeof change === 'function' ? change() : change);
  };
  const href = linkTo(typeof change === 'function' ? change() : change);
  return <a href={href} onClick={follow} {...rest}>{children}</a>;
}

export function CodeName({ path, ...rest }) {
  const { run } = useRun();
  return (
    <Pick change={{ path }} title={run.paths[path].name} class="code" {...rest}>
      <i class="dot" style={{ background: colourOf(run.paths[path]) }} aria-hidden="true" />
      {run.place(path)}
    </Pick>
  );
}

/** A figure with its share as a bar behind it. */
export function Bar({ value, whole, text, kind = '' }) {
  const share = whole > 0 ? Math.max(0, Math.min(1, value / whole)) : 0;
  return (
    <span class={`bar ${kind}`} role="img" aria-label={`${text}, ${percent(value, whole)}`}>
      <span class="fill" style={{ width: `${100 * share}%` }} />
      <span class="words">{text}</span>
    </span>
  );
}

/** Values side by side as shades: over ranks, or over time. */
export function Strip({ values, label }) {
  const canvas = useRef();
  useLayoutEffect(() => {
    const width = (canvas.current.width = Math.min(120, Math.max(values.length, 1)));
    canvas.current.height = 1;
    const context = canvas.current.getContext('2d');
    const most = values.reduce((a, b) => Math.max(a, b), 0);
    for (let x = 0; x < width; ++x) {
      const from = Math.floor((x * values.length) / width);
      const to = Math.max(from + 1, Math.floor(((x + 1) * values.length) / width));
      let largest = 0;
      for (let i = from; i < to && i < values.length; ++i) largest = Math.max(largest, values[i]);
      context.fillStyle = warmText(most > 0 ? largest / most : 0);
      context.fillRect(x, 0, 1, 1);
    }
  }, [values]);
  return <canvas class="strip" ref={canvas} role="img" aria-label={label} title={label} />;
}

/** A canvas as wide as its place; `draw(context, width, height)` whenever something changes. */
export function Canvas({ height, draw, watch, canvasRef, ...rest }) {
  const own = useRef();
  const canvas = canvasRef ?? own;
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => setWidth(canvas.current?.parentElement.clientWidth ?? 0));
    observer.observe(canvas.current.parentElement);
    setWidth(canvas.current.parentElement.clientWidth);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const across = width || canvas.current.parentElement.clientWidth;
    if (across === 0) return;
    const scale = globalThis.devicePixelRatio || 1;
    canvas.current.width = across * scale;
    canvas.current.height = height * scale;
    const context = canvas.current.getContext('2d');
    context.scale(scale, scale);
    context.clearRect(0, 0, across, height);
    draw(context, across, height);
  }, [width, height, ...watch]);
  return <canvas ref={canvas} style={{ width: '100%', height: `${height}px` }} {...rest} />;
}

/** The colours of the page, for canvases. */
export function ink(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function WholeRunHint({ what }) {
  return useSelection().t ? <p class="hint whole-run">{what} is not known over time: this is of the whole run.</p> : null;
}

const NAMES = { time: 'Time', waiting: 'Waiting by pattern', delay: 'The cost of delays', critical: 'The critical path',
                visits: 'The number of visits' };

/** In what a figure does not obey the selection, because findings do not have it so. */
export function BasisHint({ figure }) {
  const { run } = useRun();
  const selected = useSelection();
  const words = [];
  if (basisOf(selected, figure) !== selected) words.push(`${NAMES[figure]} is not known over time: this is of the whole run.`);
  else if (selected.t && selected.ranks) words.push(...groupWords(run, selected));
  if (selected.pattern && figure !== 'waiting' && figure !== 'delay') {
    words.push(`${NAMES[figure]} is not known by pattern: this is of all.`);
  }
  return words.length > 0 ? <p class="hint whole-run">{words.join(' ')}</p> : null;
}

/** Over time, call paths of many ranks are known by groups of neighbours, whole ones. */
export function groupWords(run, selected) {
  if (run.groupsAreRanks || !selected.ranks) return [];
  const groups = new Set(selected.ranks.map((rank) => run.groupOf(rank)));
  const members = run.ranks.filter((rank) => groups.has(run.groupOf(rank)));
  return members.length === selected.ranks.length ? []
    : [`Over time, call paths are known by groups of ranks: these are of ranks ${cut(ranksText(members, run.ranks), 60)}.`];
}

export function Empty({ children }) {
  return <p class="empty">{children}</p>;
}

export { fragmentOf };
