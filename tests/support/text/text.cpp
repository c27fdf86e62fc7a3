// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// From a picture to a trace: the picture as it is written (sketch.h), lanes with their visits
// (lanes.h), then what the event lines add to them, each by those who know its first word. Small
// inputs only: clarity before speed.
#include "tests/support/text/text.h"

#include <optional>
#include <utility>

#include "tests/support/text/device.h"
#include "tests/support/text/lanes.h"
#include "tests/support/text/messages.h"
#include "tests/support/text/mpi.h"
#include "tests/support/text/openmp.h"
#include "tests/support/text/sketch.h"

namespace culprit::trace {

namespace {

/// Those who know event lines.
struct EventLines {
  explicit EventLines(Definitions& definitions)
      : openmp(definitions), messages(definitions), mpi(definitions), devices(definitions) {}
  OpenmpLines openmp;
  MessageLines messages;
  MpiLines mpi;
  DeviceLines devices;
};

Result<void> take_event(const std::vector<std::string>& words, EventLines& lines, Draft& draft) {
  if (words[0] == "fork") return take_fork(words, draft);
  std::string why;  // of the place that could not be found
  const FindPlace find = [&](const std::string& word, TextPlace& place) {
    auto found = place_of(draft, word);
    if (!found) why = found.error().sentence;
    if (found) place = found.value();
    return static_cast<bool>(found);
  };
  const auto end = [&](const TextPlace& place) -> std::optional<int64_t> {
    auto found = end_of_visit(draft, place);
    if (found) return found.value();
    why = found.error().sentence;
    return std::nullopt;
  };
  const auto judge = [&](bool taken, const std::string& usage) -> Result<void> {
    if (taken) return {};
    return Error{why.empty() ? usage : why};
  };
  const std::string& first = words[0];
  if (MpiLines::knows(first)) {
    return judge(lines.mpi.take(words, find, end), lines.mpi.usage(first));
  }
  if (OpenmpLines::knows(first)) {
    return judge(lines.openmp.take(words, find), lines.openmp.usage(first));
  }
  if (DeviceLines::knows(first)) {
    return judge(lines.devices.take(words, find), lines.devices.usage(first));
  }
  if (MessageLines::knows(first)) {
    const bool taken = lines.messages.take(words, find, end);
    return judge(taken, lines.messages.why());
  }
  return Error{"unknown event " + first};
}

}  // namespace

TextTrace::TextTrace(Definitions definitions, std::vector<std::vector<TextAction>> actions,
                     std::string expectations, int64_t unit)
    : definitions_(std::move(definitions)),
      actions_(std::move(actions)),
      expectations_(std::move(expectations)),
      unit_(unit) {}

Result<std::unique_ptr<TextTrace>> TextTrace::parse(std::string_view picture) {
  auto sketch = read_sketch(picture);
  if (!sketch) return sketch.error();
  auto begun = begin_draft(sketch.value());
  if (!begun) return Error{"the picture: " + begun.error().sentence};
  Draft& draft = begun.value();
  EventLines lines(draft.definitions);
  for (const Sketch::Line& line : sketch.value().events) {
    if (auto taken = take_event(line.words, lines, draft); !taken) {
      return error_in_line(line.number, taken.error().sentence);
    }
  }
  for (const auto& events : {lines.messages.finish(), lines.openmp.finish(), lines.mpi.finish(),
                             lines.devices.finish()}) {
    for (const TextEvent& event : events) draft.add(event);
  }
  for (size_t lane = 0; lane < draft.lanes.size(); ++lane) finish_lane(lane, draft);
  return std::unique_ptr<TextTrace>(
      new TextTrace(std::move(draft.definitions), std::move(draft.actions),
                    std::move(sketch.value().rest), sketch.value().unit));
}

Result<void> TextTrace::read(LocationId location, EventSink& sink, Losses&) const {
  for (const TextAction& action : actions_[location.index()]) {
    action.play(sink, action.time + shift_);
  }
  return {};
}

}  // namespace culprit::trace
