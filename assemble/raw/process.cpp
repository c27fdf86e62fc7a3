// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A snapshot counts if its checksum agrees; of two whole ones the newer does. Texts are terminated
// here, so that no later code reads beyond their end.
#include "assemble/raw/process.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>

#include "assemble/raw/former_process.h"
#include "trace/raw/seal.h"

namespace culprit::assemble {
namespace {

using trace::RawClock;
using trace::RawClockPair;
using trace::RawProcess;
using trace::RawProcessFile;
using trace::RawSnapshot;

bool is_record(const RawProcess& process) {
  return process.magic == trace::kRawMagic && process.version == trace::kRawVersion;
}

bool is_whole(const RawSnapshot& snapshot) {
  return snapshot.sum == trace::sum_of_snapshot(snapshot) && is_record(snapshot.process);
}

/// A snapshot that is being written, or never was, is not damaged.
bool is_damaged(const RawSnapshot& snapshot) {
  return snapshot.sum != 0 && !is_whole(snapshot);
}

bool has_ended(const RawProcess& process) {
  return process.ended != 0 || process.stopped_at_limit != 0;
}

bool is_whole(const RawProcess& process) {
  return process.last_sum == trace::raw_sum_of_all(process.last);
}

template <size_t size>
void take_text(char (&text)[size], const char (&newer)[size]) {
  if (text[0] == '\0') std::copy(std::begin(newer), std::end(newer), std::begin(text));
}

/// Takes over fields that were not yet known when the snapshot was taken, and those that show
/// losses since. The rest is not protected by a checksum.
void bring_up_to_date(RawProcess& process, const RawProcess& now) {
  if (is_whole(now)) {
    process.last = now.last;
    process.last_sum = now.last_sum;
  }
  if (process.world_rank < 0) {
    process.world_rank = now.world_rank;
    process.world_size = now.world_size;
    process.thread_level = now.thread_level;
  }
  take_text(process.mpi_library, now.mpi_library);
  take_text(process.omp_runtime, now.omp_runtime);
  take_text(process.parent, now.parent);
  take_text(process.gomp_lacking, now.gomp_lacking);
  process.gomp_redirected = std::max(process.gomp_redirected, now.gomp_redirected);
  process.declined = std::max(process.declined, now.declined);
  process.sampling_hz = std::max(process.sampling_hz, now.sampling_hz);
  for (uint64_t RawProcess::* count :
       {&RawProcess::dropped_records, &RawProcess::logs, &RawProcess::maps,
        &RawProcess::sampling_signal, &RawProcess::displaced_samplers,
        &RawProcess::confined_samplers, &RawProcess::on_core_ns, &RawProcess::core_wait_ns}) {
    process.*count = std::max(process.*count, now.*count);
  }
  for (unsigned i = 0; i < trace::kRawCoreWords; ++i) process.cores[i] |= now.cores[i];
  process.samples_begun = now.samples_begun;
}

/// The snapshot that counts, brought up to date; damage is noted.
ProcessRecord combine(const RawProcessFile& file) {
  const auto& [a, b] = file.snapshots;
  const RawSnapshot* newest = nullptr;
  for (const RawSnapshot* snapshot : {&a, &b}) {
    if (!is_whole(*snapshot)) continue;
    if (newest == nullptr || newest->number < snapshot->number) newest = snapshot;
  }
  ProcessRecord found;
  found.damaged = is_damaged(a) || is_damaged(b);
  if (newest == nullptr) {
    found.process = file.now;
    // It may have been killed before it took the first.
    found.damaged = found.damaged || has_ended(file.now) || !is_whole(file.now);
    return found;
  }
  found.process = newest->process;
  if (has_ended(newest->process)) return {newest->process, false};
  found.damaged = found.damaged || has_ended(file.now) || !is_whole(file.now);
  bring_up_to_date(found.process, file.now);
  return found;
}

/// Whether two readings of the clocks may be of one process.
bool agree(RawClock clock, const RawClockPair& first, const RawClockPair& last) {
  if (last.ticks < first.ticks || last.monotonic_ns < first.monotonic_ns) return false;
  const auto ticks = static_cast<double>(last.ticks - first.ticks);
  const auto monotonic = static_cast<double>(last.monotonic_ns - first.monotonic_ns);
  // The readings of a pair are not of one moment: the thread may lose its core in between.
  constexpr double kApart = 1e9;
  constexpr double kMostTicks = 20;  // a ns: no processor is so fast
  constexpr double kLeastTicks = 0.01;
  if (clock == RawClock::monotonic_ns) return std::abs(ticks - monotonic) <= kApart;
  return ticks <= kMostTicks * (monotonic + kApart) && monotonic <= ticks / kLeastTicks + kApart;
}

bool makes_sense(const RawProcess& process) {
  if (process.clock != RawClock::tsc && process.clock != RawClock::monotonic_ns) return false;
  return process.start_ticks == process.first.ticks &&
         agree(process.clock, process.first, process.last);
}

template <size_t size>
void terminate(char (&text)[size]) {
  text[size - 1] = '\0';
}

void terminate_texts(RawProcess& process) {
  terminate(process.gomp_lacking);
  terminate(process.host);
  terminate(process.boot_id);
  terminate(process.executable);
  terminate(process.command);
  terminate(process.mpi_library);
  terminate(process.omp_runtime);
  terminate(process.job);
  terminate(process.parent);
}

}  // namespace

std::optional<ProcessRecord> read_process(const GuardedPath& file) {
  const auto read = std::make_unique<RawProcessFile>();
  const auto opened = file.open();
  const size_t bytes = opened ? opened->read_at(0, read.get(), sizeof *read) : 0;
  if (bytes < sizeof(RawProcess)) return std::nullopt;
  const auto former = from_former_version(std::as_bytes(std::span(read.get(), 1)).first(bytes));
  ProcessRecord found = combine(former ? *former : *read);
  // It is made in its full length: a shorter one was cut, and the newest snapshot may be gone.
  found.damaged = found.damaged || (!former && bytes < sizeof *read);
  if (!is_record(found.process)) return std::nullopt;
  if (found.damaged && !makes_sense(found.process)) return std::nullopt;
  if (!has_ended(found.process)) found.process.end_ticks = 0;
  terminate_texts(found.process);
  return found;
}

std::optional<uint32_t> other_version(const GuardedPath& file) {
  struct Head {
    decltype(RawProcess::magic) magic{};
    decltype(RawProcess::version) version{};
  } head;
  static_assert(offsetof(RawProcess, version) == offsetof(Head, version));
  const auto opened = file.open();
  if (!opened || opened->read_at(0, &head, sizeof head) < sizeof head ||
      head.magic != trace::kRawMagic) {
    return std::nullopt;
  }
  if (head.version == trace::kRawVersion || head.version == kFormerRawVersion) return std::nullopt;
  return head.version;
}

}  // namespace culprit::assemble
