// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit analyze behind a launcher: `mpirun -n 16 culprit analyze experiment`. The copies find
// each other through the MPI whose launcher started them. The first does what a single culprit
// does; the others wait until it knows which trace it is about, and then take their share of the
// analysis.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/losses.h"
#include "base/ranks/transport.h"
#include "base/result.h"
#include "trace/source.h"

namespace culprit::cli {

/// What launchers leave in the environment of those that they start.
struct Launched {
  std::string mpi;  ///< "openmpi", "mpich", or "": started once
  size_t copies = 1;
};
/// Reads the variables with `get`. Error if several were started, but cannot communicate.
Result<Launched> launched_by(const std::function<const char*(const char*)>& get);

/// To the other copies; Alone if there are none, or if `alone` says so. Once in a process.
Result<std::unique_ptr<Transport>> open_ranks(bool alone);

/// Whether all ranks were started with the same arguments: they share one task. The same answer on
/// all.
Result<void> check_same(Transport& ranks, const std::string& arguments);

/// What all ranks are to analyse.
struct Task {
  enum class What : uint8_t { nothing, records, archive };
  What what = What::nothing;
  std::filesystem::path place;  ///< the experiment that has the records; or the archive
};

/// Rank 0's job description for the other ranks; the destructor releases them on failure.
class TaskForOthers {
 public:
  explicit TaskForOthers(Transport& ranks) : ranks_(ranks) {}
  TaskForOthers(const TaskForOthers&) = delete;
  TaskForOthers& operator=(const TaskForOthers&) = delete;
  ~TaskForOthers() { tell({}); }

  void tell(const Task& task);

 private:
  Transport& ranks_;
  bool told_ = false;
};

/// Of the other ranks.
Task wait_for_task(Transport& ranks);

/// Opens the archive on all ranks, or fails on all. Losses are counted on the first rank only.
Result<std::unique_ptr<trace::Source>> open_together(Transport& ranks,
                                                     const std::filesystem::path& archive,
                                                     Losses& losses);

/// For `-j requested`: ranks on one node that may use the same processors share them.
unsigned threads_for(Transport& ranks, unsigned requested);

}  // namespace culprit::cli
