// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is known of one activity that was clicked: it stays until another is. Partners, causes, and other instances of
// the same call path are links that move the time line there.

import { cut, grouped, single as lengthOf } from '../../format.js';
import { CodeName, Pick, useRun } from '../../parts.jsx';
import { atText, eventsAt, messagesOf, momentOf } from './events.js';

const MOST_MESSAGES = 12;

/** A selection that shows [begin, end] with as much around it, and what is known of the location then. */
export function goTo(run, location, s, begin, end) {
  const around = Math.max(end - begin, run.wall * 1e-7);
  return { view: 'timeline', at: atText(location, s), t: [Math.max(0, begin - around), Math.min(run.wall, end + around)] };
}

function Instances({ at, row, singles }) {
  const { run } = useRun();
  const { activities: a } = run.tables;
  const same = (singles.get(at.location) ?? []).filter((i) => a.callpath[i] === a.callpath[row]);
  const place = same.indexOf(row);
  const lengths = same.map((i) => a.end_s[i] - a.begin_s[i]);
  const longest = same[lengths.indexOf(Math.max(...lengths))];
  const link = (i, words) => i !== undefined && i !== row && (
    <Pick change={goTo(run, at.location, momentOf(a, i), a.begin_s[i], a.end_s[i])}>{words}</Pick>);
  return (
    <p class="links">{same.length > 1 ? `${grouped(place + 1)} of ${grouped(same.length)} here` : 'the only one here'}
      {link(same[place - 1], 'previous')}{link(same[place + 1], 'next')}{link(longest, 'longest')}</p>
  );
}

function Wait({ at, row }) {
  const { run, time } = useRun();
  const { single_waits: w, instances: x } = run.tables;
  const pattern = run.patterns.get(run.names[w.pattern[row]]), cause = w.cause_location[row];
  const isKnown = cause < run.locations.length;
  const instance = Array.from({ length: x.rows }, (_, i) => i).find((i) => x.location[i] === at.location
    && run.names[x.pattern[i]] === pattern?.id && x.begin_s[i] <= at.s && at.s <= x.end_s[i]);
  return (
    <section>
      <h3>Waits {lengthOf(w.end_s[row] - w.begin_s[row])}: {pattern?.name}</h3>
      <p>{pattern?.summary}</p>
      {isKnown && <p class="links">ended by {run.locationName(cause)}
        <Pick change={goTo(run, cause, w.end_s[row] - 1e-9, w.begin_s[row], w.end_s[row])}>go there</Pick></p>}
      {instance !== undefined && (
        <p>Because of <CodeName path={x.cause_callpath[instance]} /> there; {time(x.indirect_s[instance])} of it is caused by waits of that
          location.</p>)}
      {pattern && <p class="links"><Pick change={{ pattern: pattern.id }}>all waits of this pattern</Pick></p>}
    </section>
  );
}

function Messages({ at, begin, end }) {
  const { run } = useRun();
  const { messages: m } = run.tables;
  const found = messagesOf(run, at.location, begin, end, MOST_MESSAGES + 1);
  if (found.length === 0) return null;
  return (
    <section>
      <h3>Messages</h3>
      <table><tbody>{found.slice(0, MOST_MESSAGES).map(({ row, partner, s, sent }) => (
        <tr key={row}><td>{sent ? 'to' : 'from'} <Pick change={goTo(run, partner, s, m.sent_s[row], m.received_s[row])}>{run.locationName(partner)}</Pick></td>
          <td class="number">{m.bytes[row] === 0xffffffff ? 'over 4 GB' : `${grouped(m.bytes[row])} bytes`}</td>
          <td class="number">{lengthOf(m.received_s[row] - m.sent_s[row])}</td></tr>
      ))}</tbody></table>
      {found.length > MOST_MESSAGES && <p class="hint">and more</p>}
    </section>
  );
}

export function Detail({ at, singles, waits }) {
  const { run, moment } = useRun();
  const { activities: a } = run.tables;
  const { activity, wait } = eventsAt(run, singles, waits, at.location, at.s);
  const path = activity === null ? null : run.paths[a.callpath[activity]];
  return (
    <aside class="detail-pane" aria-label="Details of what was clicked">
      <Pick change={{ at: null }} class="close" aria-label="close details" title="close details">×</Pick>
      <h2>{path ? run.place(path.id) : 'No single activity is known here'}</h2>
      <p class="links"><Pick change={{ ranks: [run.locations[at.location].rank] }}>{run.locationName(at.location)}</Pick>
        {run.locations[at.location].node && <span class="hint">on {run.locations[at.location].node}</span>}</p>
      {path && (
        <>
          <dl>
            <dt>length</dt><dd>{lengthOf(a.end_s[activity] - a.begin_s[activity])}</dd>
            <dt>from</dt><dd>{moment(a.begin_s[activity], run.wall * 1e-5)}</dd>
            <dt>to</dt><dd>{moment(a.end_s[activity], run.wall * 1e-5)}</dd>
            {path.file && <><dt>source</dt><dd>{run.tables.lines?.rows > 0 ? <Pick change={{ view: 'source', path: path.id }}>{path.file}{path.line > 0 && `:${path.line}`}</Pick>
              : `${path.file}${path.line > 0 ? `:${path.line}` : ''}`}</dd></>}
          </dl>
          <p class="hint stack" title={path.name}>{cut(path.name, 400)}</p>
          <Instances at={at} row={activity} singles={singles} />
          <p class="links"><Pick change={{ path: path.id }}>select this call path</Pick>
            <Pick change={{ t: [a.begin_s[activity], a.end_s[activity]] }}>its time</Pick></p>
        </>
      )}
      {wait !== null && <Wait at={at} row={wait} />}
      {path && <Messages at={at} begin={a.begin_s[activity]} end={a.end_s[activity]} />}
    </aside>
  );
}
