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
       "The thread had been called to a parallel region and was not there yet: threads that sleep "
       "between regions (OMP_WAIT_POLICY=passive), or that have no core of their own, take long."},
      {"(not started)", "The process had not been started yet, or did not use MPI or OpenMP yet."},
      {"(not recorded)", "Recording was switched off there: what the time went to is not known."},
      {"(device idle)", "The device had nothing to do: no operation had been handed over to it."},
      {"(stream idle)", "The stream had nothing to do while others of its device worked."},
      {"(launch latency)",
       "An operation had been launched, and all before it was done, but it had not begun."},
      {"(outside)", "Time outside of all functions that the trace knows."},
  };
  for (const auto& [name, text] : kTexts) {
    if (name == region) return text;
  }
  return {};
}

}  // namespace culprit::report
