// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The messages of the selection: how many bytes from whom to whom, how large they are, and where they are sent.

import { useMemo } from 'preact/hooks';
import { bytes as bytesOf, counted, grouped } from '../format.js';
import { Matrix, blocksOf } from '../matrix.jsx';
import { Canvas, CodeName, Empty, Pick, ink, useRun, useSelection } from '../parts.jsx';
import { filters } from '../sums.js';
import { Table } from '../table.jsx';

/** Doublings of sizes up to 4 GB, and empty ones. */
const SIZES = 33;

/** Single messages of the selection, by blocks of ranks and by size. */
function matrixOf(run, selection) {
  const { messages: m } = run.tables, keep = filters(run, selection);
  const { blocks, block } = blocksOf(run);
  const found = { blocks, bytes: new Float64Array(blocks * blocks), count: new Float64Array(blocks * blocks), sizes: new Float64Array(SIZES), all: 0, sum: 0 };
  for (let i = 0; m && i < m.rows; ++i) {
    if (selection.t && (m.received_s[i] < selection.t[0] || m.sent_s[i] > selection.t[1])) continue;
    if (!keep.location(m.sender[i]) && !keep.location(m.receiver[i])) continue;
    const at = block.get(run.locations[m.sender[i]].rank) * blocks + block.get(run.locations[m.receiver[i]].rank);
    found.bytes[at] += m.bytes[i];
    ++found.count[at];
    ++found.sizes[m.bytes[i] === 0 ? 0 : 1 + Math.floor(Math.log2(m.bytes[i]))];
    ++found.all;
    found.sum += m.bytes[i];
  }
  return found;
}

/** How many messages there are of each size: a bar for each doubling. */
function Sizes({ sizes }) {
  const last = sizes.findLastIndex((count) => count > 0), shown = [...sizes.slice(0, last + 1)], most = Math.max(...shown);
  const draw = (context, width, height) => {
    const across = Math.min(40, width / shown.length);
    context.font = '10px system-ui';
    shown.forEach((count, i) => {
      const h = most > 0 ? ((height - 30) * count) / most : 0;
      context.fillStyle = ink('bar');
      context.fillRect(i * across + 1, height - 15 - h, across - 2, Math.max(count > 0 ? 1 : 0, h));
      context.fillStyle = ink('faint');
      context.textAlign = 'center';
      if (i % Math.ceil(34 / across) === 0) context.fillText(i === 0 ? '0' : bytesOf(2 ** (i - 1)), (i + 0.5) * across, height - 3);
      if (count > 0 && across > 26) context.fillText(grouped(count), (i + 0.5) * across, height - 18 - h);
    });
  };
  return <div><Canvas height={150} draw={draw} watch={[sizes]} role="img" aria-label="Messages by size" /></div>;
}

/** The places that send, from findings: of the whole run and exact. */
function Places() {
  const { run, time } = useRun();
  const selected = useSelection();
  const rows = useMemo(() => {
    const { message_use: u } = run.tables, keep = filters(run, selected), places = new Map();
    for (let i = 0; i < u.rows; ++i) {
      if (!keep.location(u.location[i]) || !keep.path(u.callpath[i])) continue;
      const row = places.get(u.callpath[i]) ?? { path: u.callpath[i], messages: 0, bytes: 0, empty: 0, repeated: 0, waiting: 0 };
      row.messages += u.messages[i];
      row.bytes += u.bytes[i];
      row.empty += u.empty[i];
      row.repeated += u.repeated[i];
      row.waiting += u.waiting_empty_s[i] + u.waiting_repeated_s[i];
      places.set(u.callpath[i], row);
    }
    return [...places.values()].sort((a, b) => b.bytes - a.bytes);
  }, [run, selected.ranks, selected.path]);
  if (rows.length === 0) return null;
  const number = (id, head, title, words = grouped) => ({ id, head, title, number: true, value: (r) => r[id], cell: (r) => (r[id] > 0 ? words(r[id]) : '') });
  return (
    <>
      <h2>Where they are sent</h2>
      {selected.t && <p class="hint whole-run">These sums are of the whole run.</p>}
      <Table columns={[
        { id: 'path', head: 'sent in', wide: true, value: (r) => run.paths[r.path].name, cell: (r) => <CodeName path={r.path} /> },
        number('messages', 'messages'), number('bytes', 'bytes', '', bytesOf),
        { id: 'mean', head: 'mean size', number: true, value: (r) => r.bytes / r.messages, cell: (r) => bytesOf(Math.round(r.bytes / r.messages)) },
        number('empty', 'empty', 'without data; they may still be signals'), number('repeated', 'repeated', 'with the same data as the one before'),
        number('waiting', 'waiting for these', 'waits for empty and repeated messages, or for their receivers', time),
      ]} rows={rows} sorted="bytes" rowKey={(r) => r.path} words={(r) => run.paths[r.path].name} />
    </>
  );
}

export function Messages() {
  const { run } = useRun();
  const selected = useSelection();
  const found = useMemo(() => matrixOf(run, selected), [run, selected]);
  const figure = selected.metric === 'messages' ? 'count' : 'bytes', missing = (run.head.missing ?? run.head.left_out) > 0;
  const words = (value) => (figure === 'bytes' ? bytesOf(value) : counted(value, 'message'));
  if (found.all === 0 && run.tables.message_use.rows === 0) return <Empty>No messages between two ranks were recorded in this run.</Empty>;
  return (
    <section>
      {found.all > 0 ? (
        <div class="columns">
          <section>
            <h2>From whom to whom</h2>
            <p>{counted(found.all, 'message')} with {bytesOf(found.sum)}{selected.path !== null && ', at any call path'}.
              {missing && ' Short ones away from the longest waits are not in this page: see below for the sums of the whole run.'}</p>
            <div class="tools">
              {[['bytes', 'bytes'], ['messages', 'number of messages']].map(([id, words]) => (
                <Pick key={id} change={{ metric: id }} class={`choice ${(id === 'bytes') === (figure === 'bytes') ? 'on' : ''}`}>{words}</Pick>))}
            </div>
            <Matrix blocks={found.blocks} values={found[figure]} label="Messages from rank to rank" words={(from, to, value) => `${from} to ${to}: ${words(value)}`}
              hint={(most) => <>Rows: senders; columns: receivers. <span class="key">none <i class="ramp" /> {words(most)}</span></>} />
          </section>
          <section><h2>How large</h2><p class="hint">Messages by size; each bar is of sizes up to twice its number.</p><Sizes sizes={found.sizes} /></section>
        </div>
      ) : <Empty>No single messages are in this selection{run.tables.messages ? '' : ' or page'}.</Empty>}
      <Places />
    </section>
  );
}
