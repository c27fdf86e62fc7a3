// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The SQL of a findings file. SQLite keeps these statements with their comments, so `.schema` in
// its shell explains the file to whoever opens it. Every `id` counts from 0 in the order of the
// list (largest first where a list has a size).

#include "report/db/findings_schema.h"

namespace culprit::report {

const char* const kSchema = R"sql(
CREATE TABLE run (  -- one row: the run that was measured
  id INTEGER PRIMARY KEY,
  command TEXT NOT NULL, program TEXT NOT NULL,
  creator TEXT NOT NULL,        -- the tool that wrote the trace
  date TEXT NOT NULL,           -- ISO 8601, '' if unknown
  mpi TEXT NOT NULL, openmp TEXT NOT NULL,
  ranks INTEGER NOT NULL, locations INTEGER NOT NULL, events INTEGER NOT NULL,
  wall_s REAL NOT NULL,         -- wall-clock time
  allocation_s REAL NOT NULL,   -- summed over all locations
  overhead_pct REAL NOT NULL,   -- estimated cost of measuring; negative: unknown
  exit_status INTEGER NOT NULL);
CREATE TABLE notes (  -- what a reader must know about the run
  id INTEGER PRIMARY KEY, sentence TEXT NOT NULL);
CREATE TABLE patterns (  -- wait patterns
  id TEXT PRIMARY KEY,
  parent TEXT REFERENCES patterns,  -- NULL for roots
  name TEXT NOT NULL, unit TEXT NOT NULL,
  summary TEXT NOT NULL, diagnosis TEXT NOT NULL, remedy TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE locations (  -- threads and device streams
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,           -- rank.thread
  rank INTEGER NOT NULL, thread INTEGER NOT NULL, node TEXT NOT NULL,
  life_s REAL NOT NULL, waiting_s REAL NOT NULL,
  stream TEXT NOT NULL);        -- name of the device stream; '' for threads
CREATE TABLE callpaths (  -- paths from the root, joined over locations
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,           -- region names joined with '/'
  region TEXT NOT NULL,         -- the last of them
  file TEXT NOT NULL, line INTEGER NOT NULL,
  parent INTEGER REFERENCES callpaths,  -- the path without its last region; NULL for roots
  start_up INTEGER NOT NULL);   -- 1: start-up or shutdown
CREATE TABLE stuck (  -- locations whose calls could not return when the run ended
  id INTEGER PRIMARY KEY,
  group_id INTEGER NOT NULL,    -- those that wait for each other, directly or through others
  deadlock INTEGER NOT NULL,    -- 1: some of the group wait for each other in a circle
  in_circle INTEGER NOT NULL,   -- 1: this one does
  location INTEGER REFERENCES locations,
  call TEXT NOT NULL, callpath TEXT NOT NULL,
  place TEXT NOT NULL,          -- 'file.c:12'; '' if unknown
  since_s REAL NOT NULL,        -- when the call began, from the start of the run
  waits_for TEXT NOT NULL,      -- locations that could have helped, divided by blanks
  why TEXT NOT NULL);           -- continues "waits"
CREATE TABLE processes (  -- measured processes and the cores they had
  id INTEGER PRIMARY KEY, rank INTEGER NOT NULL, node TEXT NOT NULL,
  cores INTEGER NOT NULL,       -- available to it; 0: unknown
  node_cores INTEGER NOT NULL,  -- available to this run's processes on its node
  on_core_s REAL NOT NULL,      -- CPU time of all its threads
  core_wait_s REAL NOT NULL);   -- runnable without a core; negative: unknown
CREATE TABLE waits (  -- wait states, where the time was lost
  id INTEGER PRIMARY KEY,
  pattern TEXT NOT NULL REFERENCES patterns, callpath INTEGER REFERENCES callpaths,
  location INTEGER REFERENCES locations, count INTEGER NOT NULL, time_s REAL NOT NULL,
  indirect_s REAL NOT NULL,     -- part of time_s caused by other waits that propagated
  propagating_s REAL NOT NULL); -- part of time_s that causes further waits
CREATE TABLE delays (  -- waiting time caused by excess time at a call path
  id INTEGER PRIMARY KEY,
  pattern TEXT NOT NULL REFERENCES patterns,  -- of the waits it causes
  callpath INTEGER REFERENCES callpaths, location INTEGER REFERENCES locations,
  short_s REAL NOT NULL,        -- waits it causes directly
  long_s REAL NOT NULL);        -- waits that these cause in turn
CREATE TABLE victims (  -- who waited for a delay, by its short-term cost
  id INTEGER PRIMARY KEY,
  delay_callpath INTEGER REFERENCES callpaths, delay_location INTEGER REFERENCES locations,
  pattern TEXT NOT NULL REFERENCES patterns,
  wait_callpath INTEGER REFERENCES callpaths, wait_location INTEGER REFERENCES locations,
  time_s REAL NOT NULL);
CREATE TABLE unattributed (  -- waiting time for which no cause was found
  id INTEGER PRIMARY KEY, pattern TEXT NOT NULL REFERENCES patterns,
  reason TEXT NOT NULL, time_s REAL NOT NULL);
CREATE TABLE critical_callpaths (  -- the critical path by call path, over all locations
  id INTEGER PRIMARY KEY, callpath INTEGER REFERENCES callpaths,
  time_s REAL NOT NULL,         -- wall-clock time on the path
  imbalance_s REAL NOT NULL,    -- part of it beyond the average of its class
  activity_s REAL NOT NULL,     -- allocated time spent here without waiting
  intra_s REAL NOT NULL,        -- imbalance costs on locations that execute it
  inter_s REAL NOT NULL,        -- and on those that do not
  impact_s REAL NOT NULL);      -- performance impact: activity_s + intra_s + inter_s
CREATE TABLE critical_path (  -- the critical path by call path and location
  id INTEGER PRIMARY KEY, callpath INTEGER REFERENCES callpaths,
  location INTEGER REFERENCES locations, time_s REAL NOT NULL);
CREATE TABLE segments (  -- the critical path in order of time, from the start of the run
  id INTEGER PRIMARY KEY, location INTEGER REFERENCES locations,
  callpath INTEGER REFERENCES callpaths, begin_s REAL NOT NULL, end_s REAL NOT NULL);
CREATE TABLE idle_blame (  -- idle threads' time, by the code that others were executing
  id INTEGER PRIMARY KEY, callpath INTEGER REFERENCES callpaths,
  location INTEGER REFERENCES locations, time_s REAL NOT NULL);
CREATE TABLE idle_nobody (  -- idle threads' time in which no thread of theirs worked
  id INTEGER PRIMARY KEY,
  location INTEGER REFERENCES locations,  -- the first of these threads
  reason TEXT NOT NULL, time_s REAL NOT NULL);
CREATE TABLE lock_blame (  -- waiting for locks, by the thread that held them
  id INTEGER PRIMARY KEY, pattern TEXT NOT NULL REFERENCES patterns,
  holder INTEGER REFERENCES locations,
  acquired INTEGER REFERENCES callpaths,  -- where it acquired the lock
  released INTEGER REFERENCES callpaths,  -- where it released it; NULL: it never did
  callpath INTEGER REFERENCES callpaths,  -- where it was waited for
  count INTEGER NOT NULL, time_s REAL NOT NULL);
CREATE TABLE polling (  -- unsuccessful tests for messages not yet sent; not waiting time
  id INTEGER PRIMARY KEY, callpath INTEGER REFERENCES callpaths,
  location INTEGER REFERENCES locations, count INTEGER NOT NULL, time_s REAL NOT NULL);
CREATE TABLE polling_causes (  -- whose extra time these tests were due to
  id INTEGER PRIMARY KEY, callpath INTEGER REFERENCES callpaths,
  location INTEGER REFERENCES locations, time_s REAL NOT NULL);
CREATE TABLE devices (  -- what devices did; idle_s = late_s + latency_s + unknown_s
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, node TEXT NOT NULL,
  location INTEGER REFERENCES locations,  -- its first stream
  streams INTEGER NOT NULL, operations INTEGER NOT NULL,
  copied_bytes INTEGER NOT NULL, pageable_copies INTEGER NOT NULL,
  busy_s REAL NOT NULL, kernels_s REAL NOT NULL,
  copies_s REAL NOT NULL,       -- copies and everything else but kernels
  overlapped_s REAL NOT NULL,   -- of copies_s, while kernels ran
  idle_s REAL NOT NULL,         -- in all gaps
  late_s REAL NOT NULL,         -- part of it before launches: the host is late
  tail_s REAL NOT NULL,         -- of late_s, after its last operation
  latency_s REAL NOT NULL,      -- part of it after launches
  unknown_s REAL NOT NULL);     -- part of it where it is unknown who launched
CREATE TABLE device_times (  -- devices over time, in equal parts of the run
  id INTEGER PRIMARY KEY, device INTEGER NOT NULL REFERENCES devices,
  begin_s REAL NOT NULL, end_s REAL NOT NULL,  -- of the part, from the start of the run
  busy_s REAL NOT NULL, kernels_s REAL NOT NULL,
  late_s REAL NOT NULL,         -- idle, as in devices
  launching_s REAL NOT NULL,    -- part of late_s while hosts were in launch calls
  latency_s REAL NOT NULL, unknown_s REAL NOT NULL,
  callpath INTEGER REFERENCES callpaths,  -- what hosts executed most during late_s
  callpath_s REAL NOT NULL);    -- of late_s
CREATE TABLE device_blame (  -- between devices and hosts, in both directions
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,           -- 'idle device': what its host did; 'waiting host': what ran
  callpath INTEGER REFERENCES callpaths, location INTEGER REFERENCES locations,
  time_s REAL NOT NULL,
  alone_s REAL NOT NULL,        -- part of it while no other code was to blame
  between_s REAL NOT NULL,      -- part of it between a device's first and last operation
  critical_s REAL NOT NULL);    -- the call path's time on the critical path, all locations
CREATE TABLE device_calls (  -- calls that wait for a device
  id INTEGER PRIMARY KEY, callpath INTEGER REFERENCES callpaths,
  location INTEGER REFERENCES locations, count INTEGER NOT NULL, time_s REAL NOT NULL,
  redundant INTEGER NOT NULL, redundant_s REAL NOT NULL);  -- there was nothing to wait for
CREATE TABLE device_operations (  -- what streams executed
  id INTEGER PRIMARY KEY, callpath INTEGER REFERENCES callpaths,
  location INTEGER REFERENCES locations,
  kind TEXT NOT NULL,           -- 'kernel', 'copy', 'other'
  count INTEGER NOT NULL, time_s REAL NOT NULL,
  latency_s REAL NOT NULL,      -- from when it could have started until it did
  bytes INTEGER NOT NULL, pageable INTEGER NOT NULL);
CREATE TABLE efficiencies (  -- each is the product of its children
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
  parent TEXT NOT NULL,         -- '' for the root
  value REAL NOT NULL);         -- from 0 to 1
CREATE TABLE instances (  -- the longest waits of each pattern
  id INTEGER PRIMARY KEY, pattern TEXT NOT NULL REFERENCES patterns,
  callpath INTEGER REFERENCES callpaths, location INTEGER REFERENCES locations,
  begin_s REAL NOT NULL, end_s REAL NOT NULL,  -- from the start of the run
  time_s REAL NOT NULL,         -- part of it spent waiting
  cause_location INTEGER REFERENCES locations,
  cause_callpath INTEGER REFERENCES callpaths,  -- its largest excess over the waiting side
  indirect_s REAL NOT NULL);    -- part of time_s caused by that one's own waiting
CREATE TABLE distributions (  -- how the costliest delays are distributed
  id INTEGER PRIMARY KEY, callpath INTEGER REFERENCES callpaths, cost_s REAL NOT NULL,
  shape TEXT NOT NULL,          -- of the load over the locations that share the work
  locations INTEGER NOT NULL,   -- their number
  high INTEGER NOT NULL, low INTEGER NOT NULL,  -- sizes of the highest and lowest group; 0: none
  course TEXT NOT NULL,         -- of the cost over time
  same_place REAL NOT NULL);    -- part of the cost that stays at the same locations
CREATE TABLE profile (  -- allocated time, including waiting
  id INTEGER PRIMARY KEY, callpath INTEGER REFERENCES callpaths,
  location INTEGER REFERENCES locations, visits INTEGER NOT NULL, time_s REAL NOT NULL,
  samples INTEGER NOT NULL,     -- of the stack that found the location there
  sampled_s REAL NOT NULL);     -- of time_s, known from samples alone
CREATE TABLE metrics (  -- counters
  id INTEGER PRIMARY KEY, name TEXT NOT NULL,
  unit TEXT NOT NULL,           -- '' for plain counts
  level INTEGER NOT NULL);      -- 1: a level; its values are maxima, not sums
CREATE TABLE counts (  -- counter values; not resolved below this call path
  id INTEGER PRIMARY KEY, metric INTEGER NOT NULL REFERENCES metrics,
  callpath INTEGER REFERENCES callpaths, location INTEGER REFERENCES locations,
  value REAL NOT NULL,
  time_s REAL NOT NULL);        -- allocated time during which it counted
CREATE TABLE stages (  -- phases and iterations marked by the program
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('phase', 'iteration')),
  name TEXT NOT NULL, number INTEGER NOT NULL, visits INTEGER NOT NULL, time_s REAL NOT NULL,
  waiting_s REAL NOT NULL, longest_s REAL NOT NULL,
  longest_location INTEGER REFERENCES locations,
  useful_s REAL NOT NULL,       -- part of time_s in the program's own code
  load_balance REAL NOT NULL, communication REAL NOT NULL);  -- efficiencies, from 0 to 1
CREATE TABLE identities (  -- one row: sums that must agree
  id INTEGER PRIMARY KEY, waiting_s REAL NOT NULL, delay_costs_s REAL NOT NULL,
  unattributed_s REAL NOT NULL, critical_path_s REAL NOT NULL, wall_s REAL NOT NULL,
  imbalance_costs_s REAL NOT NULL, imbalance_unattributed_s REAL NOT NULL,
  idle_s REAL NOT NULL, idle_blame_s REAL NOT NULL, idle_nobody_s REAL NOT NULL,
  device_idle_s REAL NOT NULL, device_idle_blame_s REAL NOT NULL,
  device_wait_s REAL NOT NULL, device_wait_blame_s REAL NOT NULL);
CREATE TABLE start_up (  -- one row: start-up and shutdown, which other tables include
  id INTEGER PRIMARY KEY,
  wall_s REAL NOT NULL,         -- on the critical path
  activity_s REAL NOT NULL,     -- allocated time in it, without waiting
  waiting_s REAL NOT NULL);     -- caused by it: part of the delay costs
CREATE TABLE violations (  -- sums that do not agree; empty in a valid result
  id INTEGER PRIMARY KEY, sentence TEXT NOT NULL);
CREATE TABLE losses (  -- what the result does not cover
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, count INTEGER NOT NULL,
  severity TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'data loss')),
  advice TEXT NOT NULL);
CREATE TABLE passes (  -- time the analysis itself took
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, time_s REAL NOT NULL);

CREATE VIEW waits_named AS  -- waits with names instead of numbers
  SELECT w.id, w.pattern, c.name AS callpath, l.name AS location, w.count, w.time_s,
         w.indirect_s, w.propagating_s
  FROM waits w LEFT JOIN callpaths c ON c.id = w.callpath
               LEFT JOIN locations l ON l.id = w.location;
CREATE VIEW idle_blame_named AS  -- blame for idle threads with names instead of numbers
  SELECT b.id, c.name AS callpath, l.name AS location, b.time_s
  FROM idle_blame b LEFT JOIN callpaths c ON c.id = b.callpath
                    LEFT JOIN locations l ON l.id = b.location;
CREATE VIEW counts_named AS  -- counts with names instead of numbers
  SELECT n.id, m.name AS metric, m.unit, c.name AS callpath, l.name AS location, n.value, n.time_s
  FROM counts n JOIN metrics m ON m.id = n.metric
                LEFT JOIN callpaths c ON c.id = n.callpath
                LEFT JOIN locations l ON l.id = n.location;
CREATE VIEW delays_named AS  -- delays with names instead of numbers
  SELECT d.id, d.pattern, c.name AS callpath, l.name AS location, d.short_s, d.long_s
  FROM delays d LEFT JOIN callpaths c ON c.id = d.callpath
                LEFT JOIN locations l ON l.id = d.location;
)sql";

// Few: a table of a million rows is scanned in less time than a person notices, and each index
// takes as long to write as the table does.
const char* const kIndices = R"sql(
CREATE INDEX waits_by_callpath ON waits (callpath, location);
CREATE INDEX delays_by_callpath ON delays (callpath, location);
CREATE INDEX victims_by_delay ON victims (delay_callpath, delay_location);
)sql";

}  // namespace culprit::report
