// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The names of call paths and locations on pages: as short as possible while distinct in this run.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "blame/findings/findings.h"

namespace culprit::report {

/// Returns the name of a run's parts that have threads: "rank", or "process" where culprit itself
/// measured it and saw no MPI.
std::string_view unit_of(const blame::Findings& findings);

/// Refers to the findings, which outlive it.
class PageNames {
 public:
  explicit PageNames(const blame::Findings& findings);

  /// nullptr for an absent id.
  const blame::FoundCallPath* find(CallPathId id) const;
  /// The whole path, shortened to `width` columns.
  std::string path(CallPathId id, size_t width) const;
  /// Its last region.
  std::string region(CallPathId id) const;
  /// The region with its place in the source, unless the name tells that already; one that is no
  /// function behind its caller: "read_pipe (a.c:7) (blocked in read)".
  std::string code(CallPathId id) const;
  /// "rank 0 thread 1", without the half that is the same for all; "python3 (4711) thread 1" where
  /// there are no ranks.
  std::string location(LocationId id) const;

 private:
  std::string process(uint32_t rank) const;
  const blame::FoundCallPath* called_by_program(const blame::FoundCallPath& path) const;
  std::string_view name_of(const blame::FoundCallPath& path) const;

  const blame::Findings& findings_;
  bool many_ranks_ = false;
  bool many_threads_ = false;                                  ///< in at least one process
  std::map<std::string, std::string, std::less<>> instances_;  ///< of templates, by their names
  std::string device_;  ///< what need not be said of each stream, if all devices are alike
};

}  // namespace culprit::report
