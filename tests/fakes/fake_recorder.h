// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A recorder that keeps its records in memory, for testing probes without files, preloading or the
// programs they are for. It stands behind collector/process/recorder.h: link it instead of the
// real one. Its clock counts the readings: every now() is one tick later than the one before. MT:
// one log per thread, like the real one; the control functions are for the test's own thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/process/recorder.h"

namespace culprit::tests {

struct FakeRecord {
  trace::RawKind kind;
  uint64_t time = 0;
  uint16_t flags = 0;
  uint32_t arg = 0;
  std::vector<uint64_t> words;
};

/// Forgets everything, and says whether thread_log() shall give logs and activate() succeed.
void fake_recorder_reset(bool active = true);

/// What this thread is in (ThreadLog::open); kind `none`: nothing.
FakeRecord fake_open(trace::RawSlot slot);
/// What this thread has recorded.
const std::vector<FakeRecord>& fake_records();
size_t fake_count(trace::RawKind kind);
/// The name behind the number in an enter, leave or tests record.
std::string fake_name(uint16_t id);
/// `waiting` of this thread's log, as a sampling handler would find it now.
int fake_waiting();

}  // namespace culprit::tests
