// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The run's data as report/page_data/pack.cpp lays them out: tables of columns, and structures that
// are derived from them once (trees, groups, orders).

import { cut, tailOf } from './format.js';
import { NOWHERE } from './colours.js';

const NONE = 0xffffffff;
const MOST_OF_NAME = 72, MOST_OF_FILE = 40;

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function unpacked(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

const ARRAYS = { f64: Float64Array, f32: Float32Array, u32: Uint32Array, id: Uint32Array, name: Uint32Array };

/** A table's columns by name; texts as numbers in `names`. */
function tableOf(buffer, base, spec) {
  const table = { rows: spec.rows };
  for (const [name, column] of Object.entries(spec.columns)) {
    table[name] = new ARRAYS[column.type](buffer, base + column.at, spec.rows);
  }
  return table;
}

function read(buffer) {
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const tables = {};
  for (const [name, spec] of Object.entries(head.tables)) {
    tables[name] = tableOf(buffer, 8 + length, spec);
  }
  return { head, tables };
}

/** Whether the page comes from `culprit view --serve`, which has all events. */
export const served = location.protocol === 'http:';

/** The events of a part of the run, from the server of the page: tables as in the page itself. */
export async function part(from, to, ranks) {
  const query = new URLSearchParams(location.search);
  query.set('from', from);
  query.set('to', to);
  if (ranks) query.set('ranks', ranks);
  const answer = await fetch(`part?${query}`);
  if (!answer.ok) throw new Error(await answer.text());
  return read(await unpacked(await answer.arrayBuffer()));
}

export async function load() {
  const text = document.getElementById('culprit-data').textContent.trim();
  const { head, tables } = read(await unpacked(bytesOf(text)));
  return new Run(head, tables);
}

/** The data of one run. */
class Run {
  constructor(head, tables) {
    Object.assign(this, { head, tables, names: head.names, verdict: head.verdict });
    const one = tables.run;
    const text = (column) => this.names[one[column][0]];
    this.command = text('command') || text('program') || '(unknown command)';
    this.program = text('program');
    this.facts = { mpi: text('mpi'), openmp: text('openmp'), date: text('date'), creator: text('creator') };
    this.wall = one.wall_s[0];
    this.allocated = one.allocation_s[0];
    this.intervals = one.intervals[0];
    this.overhead = one.overhead_pct[0];
    this.exitStatus = one.exit_status[0];
    this.operation = text('operation');
    this.isDifference = this.operation === 'diff';
    /** The length by which units are chosen: a difference is shorter than its runs. */
    this.length = Math.max(Math.abs(this.wall), ...(this.isDifference ? tables.inputs.wall_s : []));
    this.waiting = tables.identities.waiting_s[0];
    this.locations = this.makeLocations(tables.locations);
    this.locationsOf = Map.groupBy(this.locations, (l) => l.rank);
    this.ranks = [...new Set(this.locations.map((l) => l.rank))].sort((a, b) => a - b);
    this.paths = this.makePaths(tables.callpaths);
    this.patterns = this.makePatterns(tables.patterns, tables.user_patterns);
    this.groups = this.makeGroups(tables.callpath_times);
  }

  name(table, column, row) {
    return this.names[this.tables[table][column][row]];
  }

  makeLocations(t) {
    return Array.from({ length: t.rows }, (_, id) => ({
      id, name: this.names[t.name[id]], rank: t.rank[id], thread: t.thread[id], node: this.names[t.node[id]],
      life: t.life_s[id], waiting: t.waiting_s[id], stream: this.names[t.stream[id]],
    }));
  }

  /** Numbered depth first, so that a subtree is a range [from, to). */
  makePaths(t) {
    const paths = Array.from({ length: t.rows }, (_, id) => ({
      id, name: this.names[t.name[id]], region: this.names[t.region[id]], file: this.names[t.file[id]],
      line: t.line[id], parent: t.parent[id] === NONE ? null : t.parent[id], startUp: t.start_up[id] === 1,
      model: this.names[t.model[id]], children: [],
    }));
    this.roots = [];
    for (const path of paths) (path.parent === null ? this.roots : paths[path.parent].children).push(path.id);
    let next = 0;
    const open = this.roots.toReversed().map((id) => ({ id, leave: false }));
    while (open.length > 0) {
      const { id, leave } = open.pop();
      if (leave) {
        paths[id].to = next;
        continue;
      }
      paths[id].from = next++;
      open.push({ id, leave: true });
      for (const child of paths[id].children.toReversed()) open.push({ id: child, leave: false });
    }
    return paths;
  }

  /** culprit's patterns and user-defined ones; the latter are identified by their names. */
  makePatterns(t, own) {
    const patterns = new Map();
    for (let i = 0; i < own.rows; ++i) {
      const id = this.names[own.name[i]], summary = this.names[own.summary[i]];
      patterns.set(id, { id, parent: '', name: id, summary, diagnosis: '', remedy: '', isOwn: true });
    }
    for (let i = 0; i < t.rows; ++i) {
      const id = this.names[t.id[i]];
      patterns.set(id, {
        id, parent: this.names[t.parent[i]], name: this.names[t.name[i]], summary: this.names[t.summary[i]],
        diagnosis: this.names[t.diagnosis[i]], remedy: this.names[t.remedy[i]],
      });
    }
    return patterns;
  }

  /** The groups of ranks by which time is known for each call path: their first ranks, in order. */
  makeGroups(t) {
    const firsts = new Set();
    for (let i = 0; i < t.rows; ++i) firsts.add(this.locations[t.location[i]].rank);
    return [...firsts].sort((a, b) => a - b);
  }

  /** Whether it is a user-defined pattern, whose waits are in no other sum, and have no known causes. */
  isOwn(pattern) {
    return this.patterns.get(pattern)?.isOwn === true;
  }

  inFamily(pattern, family) {
    for (let id = pattern; id; id = this.patterns.get(id)?.parent) {
      if (id === family) return true;
    }
    return false;
  }

  /** The place in `groups` of the one that a rank belongs to. */
  groupOf(rank) {
    let low = 0, high = this.groups.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.groups[mid] <= rank) low = mid + 1;
      else high = mid;
    }
    return low - 1;
  }

  /** Whether groups of ranks are ranks, so that sums over time are exact for each. */
  get groupsAreRanks() {
    return this.groups.length === this.ranks.length;
  }

  secondsOf(interval) {
    return (interval * this.wall) / this.intervals;
  }

  region(path) {
    return named(this.paths[path].region);
  }

  code(path) {
    const { region, file, line } = this.paths[path];
    const short = cut(named(region), MOST_OF_NAME);
    return file && !region.includes(file) ? `${short} (${tailOf(file, MOST_OF_FILE)}${line ? `:${line}` : ''})` : short;
  }

  /** The same where the tree is not seen: "(not sampled)" is a place in its caller alone. */
  place(path) {
    const { region, parent } = this.paths[path];
    return region in NOWHERE && parent !== null ? `${this.code(parent)} ${region}` : this.code(path);
  }

  /** The function of a place alone, without file and line. */
  placeName(path) {
    const { region, parent } = this.paths[path];
    const name = cut(named(region), MOST_OF_NAME);
    return region in NOWHERE && parent !== null ? `${cut(this.region(parent), MOST_OF_NAME)} ${name}` : name;
  }

  locationName(id) {
    const l = this.locations[id];
    if (!l) return 'nobody';
    if (l.stream) return `${l.stream} (rank ${l.rank})`;
    return this.locations.length === this.ranks.length ? `rank ${l.rank}` : `rank ${l.rank} thread ${l.thread}`;
  }
}

/** Symbols may hold anything, also nothing. */
export function named(region) {
  return region.trim() === '' ? '(unnamed)' : region;
}

export { NONE };
