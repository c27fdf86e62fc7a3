// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The JSON of PyTorch's profiler (Kineto) as a stream of events: at no time is more than one of
// them in memory. Such files are often cut short, as a job ends before its profiler does, and hold
// NaN and infinities, which JSON does not have.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "trace/imported/packed_file.h"

namespace culprit::trace {

/// An element of "traceEvents". Times are nanoseconds.
struct KinetoEvent {
  std::string phase, category, name, label;
  std::string collective, group, group_meaning, group_ranks;
  std::optional<int64_t> process, thread, begin, duration;
  std::optional<int64_t> correlation, device, context, stream, bytes, awaited_stream, recorded_by;

  /// Keeps the memory of its texts.
  void clear();
};

/// What the file says besides its events. Complete only at the file's end.
struct KinetoFacts {
  bool has_events = false;         ///< there is a list of events at all
  std::optional<int64_t> base_ns;  ///< to be added to times
  std::optional<int64_t> rank, world_size;
  std::string host, trace_name;
  std::map<uint64_t, std::string> devices;
};

enum class KinetoEnd : uint8_t {
  complete,
  damaged,   ///< cut short, or no JSON from some point on
  absurd,    ///< nested too deeply, or a text that is too long
  no_trace,  ///< JSON, but not a trace in this format
  stopped,   ///< whoever saw the events wanted no more
};

/// False: no more events are wanted.
using SeeKinetoEvent = std::function<bool(const KinetoEvent&)>;

KinetoEnd read_kineto_json(PackedFile& file, KinetoFacts& facts, const SeeKinetoEvent& see);

/// Nanoseconds of "1684789123456.123" microseconds: exactly, which a double is not. None if that is
/// no number, or too large.
std::optional<int64_t> nanos_of_micros(std::string_view text);

}  // namespace culprit::trace
