// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A line on a terminal that says what culprit is doing and how long that will take. It comes when
// something lasts, is written over as it goes on, and is gone when it is done. Nothing is written
// until show() is called, which is done for terminals alone. MT: any thread may report steps; one
// stage goes on at a time, and one that begins within another is not shown.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace culprit::progress {

enum class Stage : uint8_t {
#define PROGRESS_STAGE(id, words) id,
#include "base/progress/stages.def"
#undef PROGRESS_STAGE
};

inline constexpr std::array kStageWords = {
#define PROGRESS_STAGE(id, words) std::string_view(words),
#include "base/progress/stages.def"
#undef PROGRESS_STAGE
};

/// Shows progress from now on, on this file, whose terminal has `columns` columns.
void show(int file, size_t columns);

/// Takes the line away, since something else is to be written there. It comes back by itself.
void clear();

/// Its stage goes on as long as this object lives.
class Progress {
 public:
  Progress(Stage stage, size_t steps);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// One of the steps is done.
  void step();

 private:
  Stage stage_;
  size_t steps_;
  int64_t begin_ns_;
  bool told_;  ///< this is the outer one
  std::atomic<size_t> done_{0};
};

/// The line's text: the stage, its share done, and the remaining time at the pace so far.
std::string line(Stage stage, double share, double elapsed_s);

}  // namespace culprit::progress
