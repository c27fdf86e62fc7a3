// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is drawn on the time line, from below: intervals, single activities, waits, messages, the critical path, names,
// phases, the frame. All take a scene:
//   { run, t, width, height, left, top, lane, offset, lanes, places, first, last, keep, singles, waits, moment, stages }
// of which [first, last) are the visible lanes. What is narrower than a pixel is added up by pixel column and drawn as
// stacked shares, so that a picture of any length has the same meaning and takes the same time.

import { FAMILY, colourOf, familyOf, hatch, inkOn, warmText } from '../../colours.js';
import { named } from '../../data.js';
import { ink } from '../../parts.jsx';
import { eachStretch } from '../../lanes.js';
import { within } from './events.js';

export const AXIS = 20, STAGE = 16;
const FAINT = 0.15, LEAST = 1.5, FAMILIES = ['useful', 'device', 'openmp', 'mpi', 'unknown', 'startUp', 'idle', 'waiting'];

/** Where the names of lanes end. */
export function leftOf(width) {
  return width < 560 ? 88 : 150;
}

export function xOf(scene, s) {
  return scene.left + ((s - scene.t[0]) / (scene.t[1] - scene.t[0])) * (scene.width - scene.left);
}

export function yOf(scene, lane) {
  return scene.top + lane * scene.lane - scene.offset;
}

/** Whether a lane shows single activities: those of several locations show intervals alone. */
function isSingle({ members }) {
  return members.length === 1;
}

export function drawIntervals(context, scene, cells) {
  const { run, t, lane, keep } = scene, step = run.wall / run.intervals, tall = lane - 3;
  const from = Math.max(0, Math.floor(t[0] / step)), to = Math.min(run.intervals, Math.ceil(t[1] / step));
  for (let at = scene.first; at < scene.last; ++at) {
    if (scene.lanes[at].isOpen) continue;
    const y = yOf(scene, at) + 1, alpha = isSingle(scene.lanes[at]) && scene.singles ? 0.55 : 0.9;
    for (let k = from; k < to; ++k) {
      const i = at * run.intervals + k;
      if (cells.code[i] < 0) continue;
      const x0 = Math.max(scene.left, xOf(scene, k * step)), across = Math.max(0.6, xOf(scene, (k + 1) * step) - x0);
      context.fillStyle = colourOf(run.paths[cells.code[i]]);
      context.globalAlpha = keep.path(cells.code[i]) ? alpha : FAINT;
      context.fillRect(x0, y, across, tall);
      const share = cells.waiting[i] / (cells.time[i] || 1);
      if (share > 0.02) {
        context.fillStyle = warmText(share);
        context.fillRect(x0, y + tall * (1 - share), across, tall * share);
      }
    }
  }
  context.globalAlpha = 1;
}

/** Sums of what is too narrow to be drawn by itself, by pixel column of one lane. */
class Columns {
  constructor(scene) {
    this.scene = scene;
    this.count = Math.ceil(scene.width - scene.left);
    this.pixel = (scene.t[1] - scene.t[0]) / (scene.width - scene.left);
    this.sums = null;
  }

  add(family, begin, end, sign = 1) {
    this.sums ??= Object.fromEntries(FAMILIES.map((name) => [name, new Float32Array(this.count)]));
    const from = (begin - this.scene.t[0]) / this.pixel, to = (end - this.scene.t[0]) / this.pixel;
    for (let x = Math.max(0, Math.floor(from)); x < Math.min(this.count, to); ++x) {
      this.sums[family][x] += sign * Math.max(0, Math.min(to, x + 1) - Math.max(from, x));
    }
  }

  /** The shares of each column, stacked from the lane's foot; waiting on top. */
  draw(context, y, tall) {
    if (this.sums === null) return;
    const foot = new Float32Array(this.count);
    for (const family of FAMILIES) {
      context.fillStyle = FAMILY[family];
      const of = this.sums[family];
      for (let x = 0; x < this.count; ++x) {
        const share = Math.min(1 - foot[x], of[x]);
        if (share <= 0.02) continue;
        context.fillRect(this.scene.left + x, y + tall * (1 - foot[x] - share), 1, tall * share);
        foot[x] += share;
      }
    }
  }
}

/** Draws activities and waits of the visible lanes; returns the names that fit, to be drawn over everything else. */
export function drawEvents(context, scene) {
  const labels = [], pattern = hatch(context), paper = ink('paper');
  for (let at = scene.first; at < scene.last; ++at) {
    if (!isSingle(scene.lanes[at])) continue;
    const location = scene.lanes[at].members[0].id, y = yOf(scene, at) + 1, columns = new Columns(scene);
    drawActivities(context, scene, location, y, columns, paper, labels);
    drawWaits(context, scene, location, y, columns, pattern);
    columns.draw(context, y, scene.lane - 3);
  }
  return labels;
}

function drawActivities(context, scene, location, y, columns, paper, labels) {
  const { run, t, keep, lane } = scene, { activities: a } = run.tables, tall = lane - 3;
  for (const i of within(scene.singles?.get(location) ?? [], a, t[0], t[1])) {
    const path = run.paths[a.callpath[i]], wanted = keep.path(a.callpath[i]);
    if (a.end_s[i] - a.begin_s[i] < LEAST * columns.pixel) {
      if (wanted) columns.add(familyOf(path), a.begin_s[i], a.end_s[i]);
      continue;
    }
    const x0 = Math.max(scene.left, xOf(scene, a.begin_s[i])), x1 = Math.min(scene.width, xOf(scene, a.end_s[i]));
    if (!wanted) {  // keeps faint layers from showing those below
      context.fillStyle = paper;
      context.fillRect(x0, y, x1 - x0, tall);
    }
    context.globalAlpha = wanted ? 1 : FAINT;
    context.fillStyle = colourOf(path);
    context.fillRect(x0, y, x1 - x0, tall);
    context.globalAlpha = 1;
    if (wanted && x1 - x0 > 44 && lane >= 14) labels.push({ path, location, x0, x1, y: y + tall / 2 + 4, s: Math.max(t[0], a.begin_s[i]) });
  }
}

function drawWaits(context, scene, location, y, columns, pattern) {
  const { run, t, keep, lane } = scene, { single_waits: w } = run.tables;
  for (const i of within(scene.waits?.get(location) ?? [], w, t[0], t[1])) {
    if (!keep.pattern(run.names[w.pattern[i]]) || !keep.path(w.callpath[i])) continue;
    if (w.end_s[i] - w.begin_s[i] < LEAST * columns.pixel) {
      columns.add(familyOf(run.paths[w.callpath[i]]), w.begin_s[i], w.end_s[i], -1);
      columns.add('waiting', w.begin_s[i], w.end_s[i]);
      continue;
    }
    const x0 = Math.max(scene.left, xOf(scene, w.begin_s[i])), x1 = Math.min(scene.width, xOf(scene, w.end_s[i]));
    for (const style of ['rgba(255, 240, 225, 0.75)', pattern]) {
      context.fillStyle = style;
      context.fillRect(x0, y, x1 - x0, lane - 3);
    }
  }
}

/** White or black on colours; over a wait's stripes, on a ground of its own. */
export function drawLabels(context, scene, labels) {
  const { single_waits: w } = scene.run.tables, pixel = (scene.t[1] - scene.t[0]) / (scene.width - scene.left);
  context.font = '10px system-ui';
  for (const { path, location, x0, x1, y, s } of labels) {
    const words = clip(named(path.region), x1 - x0 - 6), across = Math.min(x1 - x0, context.measureText(words).width + 4);
    const striped = within(scene.waits?.get(location) ?? [], w, s, s + across * pixel)
      .some((i) => scene.keep.pattern(scene.run.names[w.pattern[i]]));
    if (striped && words) {
      context.fillStyle = 'rgb(255 247 236 / 92%)';
      context.fillRect(x0 + 1, y - 9, across, 12);
    }
    context.fillStyle = striped ? '#222' : inkOn(colourOf(path));
    context.fillText(words, x0 + 3, y);
  }
}

/** The longest waits in view that have a cause in another lane, as far as their arrows are apart; rows of single_waits. */
export function longestWaits(scene, most) {
  const APART = 6;
  const { run, t, places, keep } = scene, { single_waits: w } = run.tables, found = [];
  const least = (APART * (t[1] - t[0])) / (scene.width - scene.left);
  for (let i = 0; w && i < w.rows; ++i) {
    if (w.end_s[i] < t[0] || w.end_s[i] > t[1] || w.end_s[i] - w.begin_s[i] < least) continue;
    const from = places[w.cause_location[i]] ?? -1, to = places[w.location[i]];
    if (from < 0 || to < 0 || from === to || !keep.pattern(run.names[w.pattern[i]]) || !keep.path(w.callpath[i])) continue;
    found.push(i);
  }
  return found.sort((a, b) => (w.end_s[b] - w.begin_s[b]) - (w.end_s[a] - w.begin_s[a])).slice(0, most);
}

/** Arrows from the lanes that ended waits to those that waited. */
export function drawArrows(context, scene, rows, width = 1) {
  const { single_waits: w } = scene.run.tables;
  context.strokeStyle = '#a33c00';
  context.lineWidth = width;
  context.beginPath();
  for (const i of rows) {
    const x = xOf(scene, w.end_s[i]), middle = scene.lane / 2;
    const from = yOf(scene, scene.places[w.cause_location[i]]) + middle, to = yOf(scene, scene.places[w.location[i]]) + middle;
    const tip = Math.sign(from - to) * 4;
    context.moveTo(x, from);
    context.lineTo(x, to);
    context.moveTo(x - 3, to + tip);
    context.lineTo(x, to);
    context.lineTo(x + 3, to + tip);
  }
  context.stroke();
}

/** The messages in view between lanes, if they are so few that they can be told apart. */
export function fewMessages(scene, most) {
  const { run, t, places } = scene, { messages: m } = run.tables, found = [];
  for (let i = 0; m && i < m.rows; ++i) {
    if (m.received_s[i] < t[0] || m.sent_s[i] > t[1]) continue;
    if (places[m.sender[i]] < 0 || places[m.receiver[i]] < 0) continue;
    if (found.push(i) > most) return [];
  }
  return found;
}

export function drawMessages(context, scene, rows, width = 1) {
  const { messages: m } = scene.run.tables, middle = scene.lane / 2;
  context.strokeStyle = ink('message');
  context.lineWidth = width;
  context.beginPath();
  for (const i of rows) {
    context.moveTo(xOf(scene, m.sent_s[i]), yOf(scene, scene.places[m.sender[i]]) + middle);
    context.lineTo(xOf(scene, m.received_s[i]), yOf(scene, scene.places[m.receiver[i]]) + middle);
  }
  context.stroke();
}

/** The critical path: a bar at the foot of lanes, darker where it spends more of a pixel column; strokes where they are apart. */
export function drawCritical(context, scene, { shares, strokes }) {
  const FOOT = 4;
  context.fillStyle = context.strokeStyle = ink('critical');
  for (let at = scene.first; at < scene.last; ++at) {
    if (!shares[at]) continue;
    const y = yOf(scene, at + 1) - FOOT;
    eachStretch(shares[at], (from, to, share) => {
      context.globalAlpha = 0.15 + 0.85 * share;
      context.fillRect(scene.left + from, y, to - from, FOOT);
    });
  }
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  context.beginPath();
  for (const { x, from, to } of strokes) {
    context.moveTo(scene.left + x, yOf(scene, from + 1) - FOOT / 2);
    context.lineTo(scene.left + x, yOf(scene, to + 1) - FOOT / 2);
  }
  context.stroke();
}

export function drawFrame(context, scene) {
  const { t, top, lane, width } = scene;
  context.fillStyle = ink('paper');
  context.fillRect(0, 0, width, top);
  context.fillRect(0, 0, scene.left, scene.height);
  drawStages(context, scene);
  context.fillStyle = ink('ink');
  context.font = '11px system-ui';
  const { stages: s } = scene.run.tables;
  const kinds = new Set(scene.stages.flat().map((i) => scene.run.names[s.kind[i]]));
  if (kinds.size > 0) context.fillText(kinds.has('phase') ? 'phases' : 'iterations', 2, AXIS + 11);
  context.save();
  context.rect(0, top, width, scene.height - top);
  context.clip();
  for (let at = scene.first; at < scene.last; ++at) {
    const { name, cluster, isOpen } = scene.lanes[at];
    context.fillText(clip(cluster === null ? name : `${isOpen ? '▾' : '▸'} ${name}`, scene.left - 8), 2, yOf(scene, at) + lane / 2 + 3);
  }
  context.restore();
  context.fillStyle = ink('faint');
  const marks = width > 700 ? 4 : 2;
  for (let i = 0; i <= marks; ++i) {
    const at = t[0] + (i * (t[1] - t[0])) / marks;
    context.textAlign = i === 0 ? 'left' : i === marks ? 'right' : 'center';
    context.fillText(scene.moment(at, t[1] - t[0]), xOf(scene, at), 12);
    context.fillRect(Math.min(xOf(scene, at), width - 1), 15, 1, 4);
  }
  context.textAlign = 'left';
}

function drawStages(context, scene) {
  const { run, t, stages } = scene, { stages: s } = run.tables;
  context.font = '11px system-ui';
  stages.forEach((list, at) => list.forEach((i, k) => {
    if (s.begin_s[i] > t[1] || s.end_s[i] < t[0]) return;
    const x0 = Math.max(scene.left, xOf(scene, s.begin_s[i])), x1 = Math.min(scene.width, xOf(scene, s.end_s[i]));
    context.fillStyle = ink(k % 2 ? 'line' : 'stage');
    context.fillRect(x0, AXIS + at * STAGE, Math.max(1, x1 - x0 - 1), STAGE - 2);
    context.fillStyle = ink('ink');
    context.fillText(clip(stageName(run, i), x1 - x0 - 6), x0 + 3, AXIS + at * STAGE + 11);
  }));
}

/** Phases and iterations, one below the other where they overlap: rows of the table, from outer to inner. */
export function stageLanes(run) {
  const MOST = 3;
  const { stages: s } = run.tables;
  const order = Array.from({ length: s.rows }, (_, i) => i).sort((a, b) => s.begin_s[a] - s.begin_s[b] || s.end_s[b] - s.end_s[a]);
  const lanes = [];
  for (const i of order) {
    const slack = 0.02 * (s.end_s[i] - s.begin_s[i]);  // ranks come to an end at slightly different times
    let at = lanes.findIndex((lane) => s.end_s[lane.at(-1)] <= s.begin_s[i] + slack);
    if (at < 0) at = lanes.push([]) - 1;
    lanes[at].push(i);
  }
  return lanes.slice(0, MOST);
}

export function stageName(run, i) {
  const { stages: s } = run.tables;
  return run.names[s.kind[i]] === 'iteration' ? `${run.names[s.name[i]]} ${s.number[i]}` : run.names[s.name[i]];
}

function clip(text, width) {
  const most = Math.floor(width / 5.6);
  return text.length <= most ? text : most > 3 ? `${text.slice(0, most - 1)}…` : '';
}
