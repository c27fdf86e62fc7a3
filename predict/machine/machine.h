// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The effects of a machine on programs, as `culprit machine` measures and stores them: how much
// time its operating system takes away, and how long messages take. Units are in the names or the
// types. One JSON file holds all of it (docs/machine.md); a file may have the noise alone, or the
// links alone, and a link may be written by hand with a latency and a bandwidth.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "predict/machine/distribution.h"

namespace culprit::predict {

/// One core of those measured.
struct CoreNoise {
  std::string host;
  uint32_t cpu = 0;
  uint64_t detours = 0;
  Duration largest;  ///< detour
  double share = 0;  ///< of the time, lost in detours
  bool operator==(const CoreNoise&) const = default;
};

struct MachineNoise {
  Duration measured;  ///< on each core
  Duration quantum;
  Duration shortest;  ///< interruptions shorter than this are no detours
  Noise detours;
  /// Fixed time quanta: for each, the time beyond that of its work at the pace of the core's best
  /// quantum. Includes detours, lower clock rates and shared caches.
  Distribution stolen;
  std::vector<CoreNoise> cores;
  bool known() const { return !cores.empty() || detours.per_second_of_work > 0; }
  bool operator==(const MachineNoise&) const = default;
};

/// Which processes it is between.
enum class LinkKind : uint8_t { same_node, other_node };
inline constexpr std::array kLinkKinds = {LinkKind::same_node, LinkKind::other_node};
const char* name_of(LinkKind kind);  ///< "same node"

/// Messages of one size, from call to call: half of a round trip.
struct SizeTime {
  uint64_t bytes = 0;
  Distribution time;
  bool operator==(const SizeTime&) const = default;
};

struct Link {
  LinkKind kind = LinkKind::same_node;
  std::vector<std::string> hosts;  ///< of the two processes that measured it
  Duration latency;                ///< of the smallest message, half of a round trip: median
  double ns_per_byte = 0;          ///< from the smallest to the largest message: 1 / bandwidth
  /// Of a small message: in the call that sends it, and in the call that receives it when it has
  /// come already. Parts of `latency`. Zero: not measured.
  Duration send_overhead, receive_overhead;
  uint64_t step_bytes = 0;      ///< from this size on messages take another protocol; 0: none seen
  Duration step;                ///< by how much longer they take there
  std::vector<SizeTime> sizes;  ///< ascending; empty: written by hand
  double bytes_per_second() const { return ns_per_byte > 0 ? 1e9 / ns_per_byte : 0; }
  bool operator==(const Link&) const = default;
};

/// Longer times are cut to eleven days: values beyond the range of Duration would become zero.
inline constexpr double kLongestNanos = 1e15;
Duration whole_nanos(double nanos);

/// How long a message of this size takes: the median of that size, on a straight line between
/// sizes measured, latency + bytes / bandwidth where nothing was.
Duration message_time(const Link& link, uint64_t bytes);
/// The same with latency (the time of an empty message) and the rest scaled.
Duration message_time(const Link& link, uint64_t bytes, double latency_factor,
                      double bandwidth_factor);

struct Machine {
  std::string culprit;  ///< its version
  std::string date;     ///< ISO 8601
  std::vector<std::string> hosts;
  std::string mpi;  ///< "openmpi", "mpich"; empty: none
  MachineNoise noise;
  std::vector<Link> links;

  /// Nullptr if it has none.
  const Link* link(LinkKind kind) const;
  bool operator==(const Machine&) const = default;
};

/// Computes latency, bandwidth and steps of a link from its medians by size.
void fit(Link& link);

std::string to_json(const Machine& machine);
/// Error: one sentence that names `file` and what is wrong.
Result<Machine> from_json(const std::string& text, const std::filesystem::path& file);
Result<Machine> read_machine(const std::filesystem::path& file);

/// As `--noise` takes it: a distribution and how often, or a file that `culprit machine` wrote.
Result<Noise> noise_of(const std::string& text);

}  // namespace culprit::predict
