// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A figure from each rank to each other as a matrix of shades; of many ranks, from block to block of neighbors.

import { useRef, useState } from 'preact/hooks';
import { warmText } from './colours.js';
import { Canvas, ink, useRun } from './parts.jsx';
import { select } from './select.js';
import { sizeOf } from './sums.js';

const MOST_CELLS = 128, SIDE = 460, LEFT = 60, TOP = 20;

/** How many blocks there are, and the block of each rank. */
export function blocksOf(run) {
  const blocks = Math.min(run.ranks.length, MOST_CELLS);
  return { blocks, block: new Map(run.ranks.map((rank, i) => [rank, Math.floor((i * blocks) / run.ranks.length)])) };
}

/** `words(from, to, value)` is said of what is pointed at; `hint` stands above. */
export function Matrix({ blocks, values, words, hint, label }) {
  const { run } = useRun();
  const canvas = useRef();
  const [hover, setHover] = useState('');
  const most = sizeOf(values), cell = (SIDE - LEFT) / blocks, size = Math.max(1, cell - (cell > 6 ? 1 : 0));
  const membersOf = (at) => run.ranks.filter((_, i) => Math.floor((i * blocks) / run.ranks.length) === at);
  const nameOf = (members) => (members.length > 1 ? `ranks ${members[0]} to ${members.at(-1)}` : `rank ${members[0]}`);
  const draw = (context) => {
    const hollow = ink('hollow');
    values.forEach((value, i) => {
      const share = most > 0 ? value / most : 0;
      context.fillStyle = share === 0 ? hollow : warmText(Math.sign(share) * 0.08 + 0.92 * share);
      context.fillRect(LEFT + (i % blocks) * cell, TOP + Math.floor(i / blocks) * cell, size, size);
    });
    context.fillStyle = ink('faint');
    context.font = '11px system-ui';
    const widest = context.measureText(`${run.ranks.at(-1)}`).width;
    context.textAlign = 'right';
    for (let at = 0; at < blocks; at += Math.ceil(14 / cell)) context.fillText(`rank ${membersOf(at)[0]}`, LEFT - 4, TOP + (at + 0.5) * cell + 4);
    context.textAlign = 'center';
    for (let at = 0; at < blocks; at += Math.ceil((widest + 8) / cell)) context.fillText(`${membersOf(at)[0]}`, LEFT + (at + 0.5) * cell, TOP - 6);
  };
  const cellAt = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const to = Math.floor((event.clientX - box.left - LEFT) / cell), from = Math.floor((event.clientY - box.top - TOP) / cell);
    return from >= 0 && to >= 0 && from < blocks && to < blocks ? { from, to } : null;
  };
  const tell = (event) => {
    const at = cellAt(event);
    setHover(at ? words(nameOf(membersOf(at.from)), nameOf(membersOf(at.to)), values[at.from * blocks + at.to]) : '');
  };
  const choose = (event) => {
    const at = cellAt(event);
    if (at) select({ ranks: [...new Set([...membersOf(at.from), ...membersOf(at.to)])].sort((a, b) => a - b) });
  };
  return (
    <>
      <p class="hint">{hint(most)} {hover}</p>
      <div class="matrix" style={{ width: `${SIDE}px`, maxWidth: '100%' }}>
        <Canvas canvasRef={canvas} height={SIDE - LEFT + TOP + 4} draw={draw} watch={[values]} role="img" aria-label={label}
          onPointerMove={tell} onClick={choose} /></div>
    </>
  );
}
