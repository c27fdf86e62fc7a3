// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The lines of the text form (text.h) that tell of locks, tasks and threads' waits for each other,
// as events of its lanes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/text/action.h"
#include "trace/definitions.h"

namespace culprit::trace {

class OpenmpLines {
 public:
  explicit OpenmpLines(const Definitions& definitions) : definitions_(definitions) {}

  static bool knows(std::string_view word);
  static std::string usage(std::string_view word);
  /// False if the line is not as usage() says.
  bool take(const std::vector<std::string>& words, const FindPlace& find);
  /// All events; call once, after the last line.
  std::vector<TextEvent> finish();

 private:
  struct Task {
    uint32_t number = 0;
    TextPlace created;
    std::vector<TextPlace> runs;
    std::optional<TextPlace> done;
    std::vector<uint32_t> after;
    std::vector<std::pair<Fact, uint64_t>> data;
    uint64_t flags = 0;
  };

  bool take_mutex(const std::vector<std::string>& words, const FindPlace& find);
  bool take_release(const std::vector<std::string>& words, const FindPlace& find);
  bool take_object(const std::vector<std::string>& words, Fact what, const FindPlace& find);
  bool take_end(const std::vector<std::string>& words, const FindPlace& find);
  bool take_task(const std::vector<std::string>& words, const FindPlace& find);
  void add_task(const Task& task);
  void add_run(const Task& task, const TextPlace& run, bool last);
  TaskId id_of(uint32_t number) const;
  TaskId running_around(const TextPlace& run) const;
  void add(const TextPlace& place, int64_t cell, TextStep step,
           std::function<void(EventSink&, Time)> play) {
    events_.push_back({place.lane, cell, step, std::move(play)});
  }

  const Definitions& definitions_;
  std::vector<Task> tasks_;
  std::vector<TextEvent> events_;
};

}  // namespace culprit::trace
