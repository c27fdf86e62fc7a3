// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the call paths mean that are nowhere in the program (replay/run.h names them): a reader who
// finds "(waking up)" to blame must learn what to do about it.
#pragma once

#include <string_view>
#include <utility>

namespace culprit::report {

/// A sentence, or nothing if the region is an ordinary one.
constexpr std::string_view explain_nowhere(std::string_view region) {
  constexpr std::pair<std::string_view, std::string_view> kTexts[] = {
      {"(waking up)",
       "The thread had been assigned to a parallel region but had not started yet: threads that "
       "sleep between regions (OMP_WAIT_POLICY=passive), or share a core, are slow to wake up."},
      {"(not started)", "The process had not started yet, or had not used MPI or OpenMP yet."},
      {"(not recorded)", "Recording was switched off there: how this time was spent is unknown."},
      {"(not sampled)",
       "No sample of the call stack was taken there: the thread was blocked in a call that is not "
       "observed (reading a file, for example), or had no core, or the code is too short for the "
       "sampling rate."},
      {"(device idle)", "The device had nothing to do: nothing had been launched."},
      {"(stream idle)", "The stream had nothing to do while others on its device were working."},
      {"(launch latency)",
       "An operation had been launched and everything before it was complete, but it had not "
       "started."},
      {"(outside)", "Time outside all functions that the trace records."},
  };
  for (const auto& [name, text] : kTexts) {
    if (name == region) return text;
  }
  return {};
}

}  // namespace culprit::report
