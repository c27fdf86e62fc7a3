// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What happens on a lane of a picture, and where: what all lines of the text form (text.h) become.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/time.h"
#include "trace/events.h"

namespace culprit::trace {

/// What happens on a lane at a boundary, in this order for equal times.
enum class TextStep {
  call_end,
  leave,
  task_end,
  team_end,
  join,
  fork,
  team_begin,
  task_begin,
  enter,
  call_begin
};

struct TextAction {
  Time time;
  TextStep step;
  std::function<void(EventSink&, Time)> play;
};

/// An action that a line tells of, by characters of its lane.
struct TextEvent {
  size_t lane;
  int64_t cell;
  TextStep step;
  std::function<void(EventSink&, Time)> play;
};

/// "0.1@7" or "0.1@7-9" or "0.1"
struct TextPlace {
  size_t lane = 0;
  std::optional<int64_t> at, until;
};
using FindPlace = std::function<bool(const std::string&, TextPlace&)>;

}  // namespace culprit::trace
