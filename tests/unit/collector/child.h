// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs a piece of a test as a process of its own, since the recorder lives once per process and a
// test wants to see how processes end. Each has a fresh experiment folder, removed afterwards.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "raw_files.h"

namespace culprit::tests {

class Experiment {
 public:
  Experiment();
  ~Experiment();
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  std::vector<RawRun> read() const { return read_raw(folder_); }
  /// Of an experiment that is to have one process.
  RawRun read_one() const;

  /// Runs `body` in a forked child that was told of this experiment, and ends it like exit() does
  /// if `body` returns. Returns the wait status. What the child finds wrong it must tell by its
  /// status: GoogleTest's failures stay in the child.
  int run(const std::function<int()>& body, std::map<std::string, std::string> environment = {});

  /// Runs a program with the preload library. Returns its wait status; `output` gets its stdout.
  int run_program(const std::vector<std::string>& arguments,
                  std::map<std::string, std::string> environment, std::string* output = nullptr);

 private:
  std::filesystem::path folder_;
};

}  // namespace culprit::tests
