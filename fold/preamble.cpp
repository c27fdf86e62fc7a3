// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Open constructs and held records are written in the order in which they were made. A request that
// was made in a call which has returned since gets that call back, without any length: readers find
// requests in calls.
#include "fold/preamble.h"

#include <cstring>

#include "fold/barriers.h"
#include "fold/carry_tables.h"
#include "trace/raw/records.h"

namespace culprit::fold {

namespace raw = trace::raw;
using trace::RawHeader;
using trace::RawKind;

class Preamble::Writer {
 public:
  Writer(void* to, size_t room) : to_(static_cast<std::byte*>(to)), room_(room) {}

  bool has_room() const { return room_ - used_ >= kLeastPreambleRoom / 2; }
  size_t used() const { return used_; }

  void put(const RawHeader& header, const uint64_t* words) {
    const size_t bytes = header.words * sizeof(uint64_t);
    std::memcpy(to_ + used_, &header, sizeof header);
    std::memcpy(to_ + used_ + sizeof header, words, bytes);
    used_ += sizeof header + bytes;
  }
  template <class Record>
  void put(uint64_t time, const Record& record) {
    const raw::Packed<Record> packed(record);
    put({time, packed.argument, packed.flag_bits, static_cast<uint8_t>(packed.count),
         Record::kKind},
        packed.words);
  }

 private:
  std::byte* const to_;
  const size_t room_;
  size_t used_ = 0;
};

namespace {

template <class Record>
Record read(const Carried& record) {
  return raw::unpack<Record>(record.header.arg, record.header.flags, record.words,
                             record.header.words);
}

int32_t low(uint64_t word) {
  return static_cast<int32_t>(static_cast<uint32_t>(word));
}
int32_t high(uint64_t word) {
  return static_cast<int32_t>(static_cast<uint32_t>(word >> 32));
}

/// The count that holds before a record; false if the record is no part of any.
template <class Put>
void put_count_before(const Carried& record, const Put& put) {
  switch (record.header.kind) {
    case RawKind::mpi_send: {
      const auto sent = read<raw::mpi_send>(record);
      return put(raw::mpi_sent{.comm = sent.comm,
                               .peer = sent.peer,
                               .tag = sent.tag,
                               .number = 0,
                               .count = record.before});
    }
    case RawKind::mpi_isend: {
      const auto sent = read<raw::mpi_isend>(record);
      const bool paired = sent.matching == trace::RawMatching::partitioned;
      return put(raw::mpi_sent{.comm = sent.comm,
                               .peer = sent.peer,
                               .tag = sent.tag,
                               .number = paired ? sent.number : 0,
                               .count = record.before});
    }
    case RawKind::mpi_icoll_post:
      return put(raw::mpi_operations{.comm = record.header.arg, .count = record.before});
    default:
      return;
  }
}

/// Calls put() with the record that says a count.
template <class Put>
void put_count(const Count& count, const Put& put) {
  const auto object = static_cast<uint32_t>(count.key[0]);
  switch (space_of(count)) {
    case kSent:
      return put(raw::mpi_sent{.comm = object,
                               .peer = low(count.key[1]),
                               .tag = high(count.key[1]),
                               .number = count.key[2],
                               .count = count.count});
    case kReceived:
      return put(raw::mpi_received{.comm = object,
                                   .peer = low(count.key[1]),
                                   .tag = high(count.key[1]),
                                   .number = count.key[2],
                                   .count = count.count,
                                   .posted = count.posted});
    case kOperations:
      return put(raw::mpi_operations{.comm = object, .count = count.count});
    case kFences:
      return put(raw::rma_fences{.window = object, .count = count.count});
    default:
      return;
  }
}

}  // namespace

/// Barriers of the team that was joined there in which the thread still is: their begins follow.
uint64_t Preamble::open_barriers(unsigned team) const {
  uint64_t open = 0;
  bool inside = false;
  for (unsigned i = team + 1; i < state_.open_count; ++i) {
    const trace::RawHeader& header = state_.open[i].header;
    if (header.kind == RawKind::omp_implicit_begin) break;
    if (header.kind != RawKind::omp_sync_begin && header.kind != RawKind::omp_wait_begin) continue;
    const bool is_barrier = sync_class(header.flags) == kAnyBarrier;
    const bool its_wait = inside && header.kind == RawKind::omp_wait_begin;
    open += is_barrier && !its_wait ? 1 : 0;
    inside = is_barrier && header.kind == RawKind::omp_sync_begin;
  }
  return open;
}

void Preamble::write_open(Writer& to, const Carried& record) {
  const uint64_t time = record.header.time;
  put_count_before(record, [&](const auto& count) { to.put(time, count); });
  to.put(record.header, record.words);
}

bool Preamble::is_open(uint64_t call) const {
  for (unsigned i = 0; i < state_.open_count; ++i) {
    if (state_.open[i].order == call) return true;
  }
  return false;
}

void Preamble::write_held(Writer& to, const Held& held) {
  const uint64_t time = held.record.header.time;
  const bool wrapped = held.call != 0 && !is_open(held.call);
  if (wrapped) to.put(time, raw::mpi_enter{.path = held.path, .name = held.name});
  // Readers expect a mutex to be wanted before it is had.
  if (held.record.header.kind == RawKind::omp_mutex_acquired) {
    const auto had = read<raw::omp_mutex_acquired>(held.record);
    to.put(time, raw::omp_mutex_acquire{.kind = had.kind, .mutex = had.mutex, .code = had.code});
  }
  write_open(to, held.record);
  if (wrapped) to.put(time, raw::mpi_leave{.name = held.name});
}

size_t Preamble::next(void* to, size_t room) {
  Writer writer(to, room);
  while (writer.has_room() && !ended_) {
    const unsigned newer = state_.held[held_].newer;
    const bool any_open = open_ < state_.open_count;
    if (any_open && (newer == 0 || state_.open[open_].order < state_.held[newer].record.order)) {
      const Carried& record = state_.open[open_++];
      write_open(writer, record);
      if (record.header.kind == RawKind::omp_implicit_begin) {
        writer.put(record.header.time,
                   raw::omp_barriers{.region = record.words[0],
                                     .count = record.before - open_barriers(open_ - 1)});
      }
    } else if (newer != 0) {
      write_held(writer, state_.held[held_ = newer]);
    } else if (count_ < kMostCounts) {
      put_count(state_.counts[count_++], [&](const auto& count) { writer.put(ticks_, count); });
    } else {
      writer.put(ticks_, raw::carried{.constructs = static_cast<uint32_t>(state_.lost_constructs),
                                      .held = state_.lost_held,
                                      .counts = state_.lost_counts});
      ended_ = true;
    }
  }
  return writer.used();
}

}  // namespace culprit::fold
