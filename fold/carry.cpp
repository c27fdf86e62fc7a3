// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Constructs end as they do in assembly (assemble/openmp, assemble/records): each by its own end,
// or by what cannot lie inside it.
#include "fold/carry.h"

#include <cstring>

#include "fold/open_records.h"

namespace culprit::fold {

using trace::RawGroup;
using trace::RawHeader;
using trace::RawKind;

namespace {

/// Whether a record shows that the thread has gone on to something else.
bool says_something(RawKind kind) {
  const RawGroup group = trace::facts_of(kind).group;
  return group != RawGroup::definitions && group != RawGroup::samples &&
         group != RawGroup::measurement && kind != RawKind::omp_wait_begin &&
         kind != RawKind::omp_wait_end;
}

/// A lock that was tested, and not got.
void drop_failed_lock(OpenRecords& open) {
  if (!open.is_innermost(RawKind::omp_mutex_acquire)) return;
  const RawKind next = open.header.kind;
  const bool is_got = next == RawKind::omp_mutex_acquired || next == RawKind::omp_nest_lock;
  if (says_something(next) && !is_got) open.pop_innermost();
}

/// Functions whose frames lie deeper than that of one which begins have ended without saying so.
void leave_deeper_functions(OpenRecords& open) {
  for (;;) {
    const unsigned last = open.find(RawKind::func_enter);
    if (last == kNotOpen) return;
    const bool lies_deeper = static_cast<int32_t>(open.at(last).header.arg - open.header.arg) < 0;
    if (!lies_deeper) return;
    open.pop_all(last);
  }
}

void carry_region(OpenRecords& open) {
  switch (open.header.kind) {
    case RawKind::user_enter:
      return open.push();
    case RawKind::user_leave:
      return open.pop_to(open.find(RawKind::user_enter, [&](unsigned depth) {
        const Carried& begun = open.at(depth);
        return begun.header.flags == open.header.flags && begun.words[0] == open.header.arg;
      }));
    case RawKind::func_enter:
      leave_deeper_functions(open);
      return open.push();
    case RawKind::func_leave:
      return open.pop_to(open.find(RawKind::func_enter, open.same_word(0)));
    default:
      return;
  }
}

void carry_device_call(OpenRecords& open) {
  switch (open.header.kind) {
    case RawKind::device_enter:
      return open.push();
    case RawKind::device_leave:
      return open.pop_to(open.find(RawKind::device_enter, open.same_flags()));
    case RawKind::device_launch:
    case RawKind::device_wait:
      if (open.find(RawKind::device_enter) != kNotOpen) open.push();
      return;
    default:
      return;
  }
}

/// Counts of a preamble, which holds for what follows it.
void carry_counts(OpenRecords& open) {
  switch (open.header.kind) {
    case RawKind::mpi_sent: {
      const auto sent = open.as<raw::mpi_sent>();
      open.set_count(sent.count, kSent, sent.comm, open.words[0], sent.number);
      return;
    }
    case RawKind::mpi_received: {
      const auto received = open.as<raw::mpi_received>();
      Count* const channel =
          open.set_count(received.count, kReceived, received.comm, open.words[0], received.number);
      if (channel != nullptr) channel->posted = received.posted;
      return;
    }
    case RawKind::mpi_operations:
      open.set_count(open.as<raw::mpi_operations>().count, kOperations, open.header.arg);
      return;
    case RawKind::rma_fences:
      open.set_count(open.as<raw::rma_fences>().count, kFences, open.header.arg);
      return;
    case RawKind::omp_barriers:
      if (const unsigned team = find_team(open); team != kNotOpen) {
        open.at(team).before = open.as<raw::omp_barriers>().count;
      }
      return;
    default:
      return;
  }
}

void carry_measurement(OpenRecords& open) {
  switch (open.header.kind) {
    case RawKind::tool_begin:
      return open.push();
    case RawKind::tool_end:
      return open.pop_to(open.find(RawKind::tool_begin));
    case RawKind::cpu_time:
    case RawKind::cores_had:
    case RawKind::sampling_period:
    case RawKind::spin:
    case RawKind::thread_id:
      return open.hold(kLatest, static_cast<uint64_t>(open.header.kind));
    case RawKind::carried:
      return open.lost(open.as<raw::carried>());
    default:
      return carry_counts(open);
  }
}

void carry_thread(OpenRecords& open) {
  switch (open.header.kind) {
    case RawKind::thread_begun:
      if (open.header.flags == 0 && open.depth() == 0) return open.push();
      return open.hold(kLatest, static_cast<uint64_t>(open.header.kind));
    case RawKind::thread_ended:
      return open.pop_all(0);
    default:
      return;
  }
}

void carry_record(OpenRecords& open) {
  drop_failed_lock(open);
  switch (trace::facts_of(open.header.kind).group) {
    case RawGroup::mpi:
      return carry_mpi(open);
    case RawGroup::one_sided:
      return carry_window(open);
    case RawGroup::files:
      return carry_file(open);
    case RawGroup::openmp:
    case RawGroup::loops:
      return carry_openmp(open);
    case RawGroup::locks:
      return carry_lock(open);
    case RawGroup::tasks:
      return carry_task(open);
    case RawGroup::regions:
    case RawGroup::functions:
      return carry_region(open);
    case RawGroup::devices:
      return carry_device_call(open);
    case RawGroup::measurement:
      return carry_measurement(open);
    case RawGroup::other:
      return carry_thread(open);
    default:
      return;
  }
}

/// Groups of records that change no state, and are the most frequent.
bool says_nothing(RawGroup group) {
  return group == RawGroup::unknown || group == RawGroup::structure ||
         group == RawGroup::definitions || group == RawGroup::samples;
}

}  // namespace

void carry(Carry& state, const void* records, size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(records);
  RawHeader header;
  for (size_t at = 0; at + sizeof header <= bytes;) {
    std::memcpy(&header, begin + at, sizeof header);
    const size_t end = at + sizeof header + header.words * sizeof(uint64_t);
    if (header.kind == RawKind::none || end > bytes) return;
    const trace::RawKindFacts& facts = trace::facts_of(header.kind);
    if (!says_nothing(facts.group) && header.words >= facts.words) {
      const auto* const words = reinterpret_cast<const uint64_t*>(begin + at + sizeof header);
      OpenRecords open(state, header, words);
      carry_record(open);
    }
    at = end;
  }
}

}  // namespace culprit::fold
