// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include <array>

#include "trace/events.h"

namespace culprit::trace {

namespace {

constexpr std::array<const char*, kFactCount> kNames = {"schedule",
                                                        "iterations",
                                                        "own_chunks",
                                                        "own_iterations",
                                                        "task_flags",
                                                        "depend_in",
                                                        "depend_out",
                                                        "depend_inout",
                                                        "depend_mutexinoutset",
                                                        "depend_inoutset",
                                                        "depend_all_memory",
                                                        "depend_source",
                                                        "depend_sink",
                                                        "task_successor",
                                                        "task_predecessor",
                                                        "task_fulfilled",
                                                        "lock_init",
                                                        "lock_destroy",
                                                        "nested_acquire",
                                                        "nested_release",
                                                        "cancel",
                                                        "target_device",
                                                        "target_bytes",
                                                        "target_teams",
                                                        "samples",
                                                        "observed",
                                                        "awaited",
                                                        "begun",
                                                        "woke",
                                                        "ended",
                                                        "unanswered",
                                                        "system_time",
                                                        "fault_time",
                                                        "page_faults"};
static_assert(kNames.back() != nullptr);  // as many names as facts

}  // namespace

const char* fact_name(Fact fact) {
  return kNames[static_cast<size_t>(fact)];
}

}  // namespace culprit::trace
