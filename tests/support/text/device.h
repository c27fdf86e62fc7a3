// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The lines of the text form (text.h) that tell of devices: which lanes are streams, what hosts
// hand over to them, and for what they wait.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/text/openmp.h"

namespace culprit::trace {

class DeviceLines {
 public:
  explicit DeviceLines(Definitions& definitions) : definitions_(definitions) {}

  static bool knows(std::string_view word);
  static std::string usage(std::string_view word);
  /// False if the line is not as usage() says.
  bool take(const std::vector<std::string>& words, const FindPlace& find);
  /// All events; call once, after the last line.
  std::vector<TextEvent> finish();

 private:
  /// An operation: the call that hands it over, and where it is executed.
  struct Launch {
    TextPlace call, executed;
    DeviceOperation operation;
    std::vector<OperationNumber> after;
  };
  struct Wait {
    TextPlace call;
    TextPlace place;       ///< a stream, perhaps with the time of an operation
    DeviceId device;       ///< or all of a device
    bool unnamed = false;  ///< or a stream that nobody names
  };

  bool take_device(const std::vector<std::string>& words, const FindPlace& find);
  bool take_launch(const std::vector<std::string>& words, const FindPlace& find);
  bool take_let_go(const std::vector<std::string>& words, const FindPlace& find);
  bool take_wait(const std::vector<std::string>& words, const FindPlace& find);
  bool take_after(const std::string& list, const FindPlace& find, Launch& launch);
  bool is_stream(const TextPlace& place) const;
  uint32_t queue_of(const TextPlace& place) const;
  /// What a stream executes from a time on; its number may be asked for before its line comes.
  OperationNumber operation_at(const TextPlace& place);
  OperationNumber not_executed(const TextPlace& call);
  void add(const TextPlace& place, std::function<void(EventSink&, Time)> play);
  void add_launch(const Launch& launch);
  void add_wait(const Wait& wait);

  Definitions& definitions_;
  std::vector<std::pair<size_t, int64_t>> operations_;  // lane and time, by number from 1
  std::vector<Launch> launches_;
  std::vector<Wait> waits_;
  std::vector<TextEvent> events_;
};

}  // namespace culprit::trace
