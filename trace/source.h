// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A trace to be read: its definitions, and each location's events. There is an implementation for
// each format of other tools, one for the records of a run (assemble/source.h), and one for the
// text in which tests draw timelines.
#pragma once

#include <memory>
#include <span>

#include "base/ids.h"
#include "base/losses.h"
#include "base/result.h"
#include "trace/definitions.h"
#include "trace/events.h"

namespace culprit::trace {

class Source {
 public:
  virtual ~Source() = default;

  virtual const Definitions& definitions() const = 0;

  /// About how many events there are; never more than files have room for. 0: unknown.
  virtual uint64_t expected_events() const { return 0; }

  /// Where several ranks opened the trace together, each for a run of processes of which it alone
  /// can read the events: the first process of rank 1, 2, .... Empty: each rank can read all.
  virtual std::span<const ProcessId> shares() const { return {}; }

  /// Plays all events of one location into `sink`, in time order. Damage inside a location (bad
  /// nesting, a record that refers to nothing, a truncated file) ends or thins its stream and is
  /// counted in `losses`; an Error means that nothing of it can be read.
  /// MT: safe for different locations at the same time.
  virtual Result<void> read(LocationId location, EventSink& sink, Losses& losses) const = 0;
};

}  // namespace culprit::trace
