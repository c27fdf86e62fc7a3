// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A table that is sorted by a click on a column's head, and filtered by typing above it. Rows are made only as far as
// they are shown.

import { useMemo, useState } from 'preact/hooks';

/**
 * columns: { id, head, title, number: it is one, value: of a row, to sort by, cell: what is shown of it, wide }.
 * `words` of a row is what a filter looks in; without it there is no filter. `sorted` is the column by which rows come.
 */
export function Table({ columns, rows, words, most = 60, sorted, rowKey, rowClass, class: name }) {
  const [by, setBy] = useState({ id: sorted, up: false });
  const [filter, setFilter] = useState('');
  const [all, setAll] = useState(false);
  const found = useMemo(() => {
    const wanted = filter.trim().toLowerCase(), column = columns.find(({ id }) => id === by.id);
    const kept = wanted ? rows.filter((row) => words(row).toLowerCase().includes(wanted)) : [...rows];
    return column?.value && (by.id !== sorted || by.up) ? kept.sort(orderOf(column, by.up)) : kept;
  }, [rows, filter, by]);
  const turn = (id, number) => setBy(by.id === id ? { id, up: !by.up } : { id, up: !number });
  const shown = all ? found : found.slice(0, most);
  return (
    <>
      {words && rows.length > 8 && (
        <label class="filter">filter <input type="search" value={filter} onInput={(e) => setFilter(e.currentTarget.value)}
          onKeyDown={(e) => e.key === 'Escape' && (e.stopPropagation(), setFilter(''))} />
          {filter && <span class="hint"> {found.length} of {rows.length}</span>}</label>)}
      <div class="scrolls"><table class={name}>
        <thead><tr>{columns.map(({ id, head, title, number, value, wide }) => (
          <th key={id} class={`${number ? 'number' : ''} ${wide ? 'wide' : ''}`} title={title}
            aria-sort={by.id === id ? (by.up ? 'ascending' : 'descending') : undefined}>
            {value ? <button class="sort" onClick={() => turn(id, number)}>{head}<span aria-hidden="true">{by.id === id ? (by.up ? ' ▴' : ' ▾') : ''}</span></button> : head}</th>
        ))}</tr></thead>
        <tbody>{shown.map((row) => (
          <tr key={rowKey(row)} class={rowClass?.(row) ?? ''}>{columns.map(({ id, number, cell, wide }) => (
            <td key={id} class={`${number ? 'number' : ''} ${wide ? 'wide' : ''}`}>{cell(row)}</td>))}</tr>
        ))}</tbody>
      </table></div>
      {found.length > shown.length && <button class="more" onClick={() => setAll(true)}>and {found.length - shown.length} more</button>}
    </>
  );
}

function orderOf({ value }, up) {
  const sign = up ? 1 : -1;
  return (a, b) => {
    const [x, y] = [value(a), value(b)];
    return sign * (typeof x === 'string' ? x.localeCompare(y) : (x ?? -Infinity) - (y ?? -Infinity));
  };
}
