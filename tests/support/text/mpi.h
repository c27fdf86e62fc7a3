// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The lines of the text form (text.h) that tell of probes and of one-sided communication, and what
// it needs to know of communicators.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/text/openmp.h"

namespace culprit::trace {

bool members_have_lanes(const Definitions& definitions, const Comm& comm);
/// Of a lane's process, in its group of the communicator; the group's size if it is no member.
uint32_t rank_in(const Definitions& definitions, CommId comm, size_t lane);
/// `root`, if there is one, is a rank of the communicator, or of the world if that is an
/// inter-communicator.
bool root_is_member(const Definitions& definitions, const MpiCollective& collective);
/// With the root as this lane's process tells it.
MpiCollective as_seen_by(const Definitions& definitions, size_t lane, MpiCollective collective);

class MpiLines {
 public:
  /// Where the call ends that begins at a place; none begins there: nothing.
  using FindEnd = std::function<std::optional<int64_t>(const TextPlace&)>;

  explicit MpiLines(Definitions& definitions) : definitions_(definitions) {}

  static bool knows(std::string_view word);
  static std::string usage(std::string_view word);
  /// False if the line is not as usage() says.
  bool take(const std::vector<std::string>& words, const FindPlace& find, const FindEnd& end);
  /// All events, once.
  std::vector<TextEvent> finish() { return std::move(events_); }

 private:
  struct Line {
    std::vector<TextPlace> places;
    std::optional<TextPlace> from;
    std::optional<uint32_t> to;
    std::vector<ProcessId> with;
    WindowId window{0};
    CommId comm{0};
    int32_t tag = 0;
    bool exclusive = false;
    RmaAssertions assertions = RmaAssertions::none;
  };

  bool parse(const std::vector<std::string>& words, const FindPlace& find, Line& line);
  bool parse_pair(const std::string& key, const std::string& value, const FindPlace& find,
                  Line& line);
  bool define_window(const Line& line);
  bool take_probe(const Line& line, const FindEnd& end);
  bool take_fence(const Line& line, const FindEnd& end);
  bool take_epoch(RmaEpoch epoch, const Line& line, const FindEnd& end);
  bool take_operation(RmaOp op, const Line& line);
  bool take_lock(RmaLockStep step, const Line& line, const FindEnd& end);
  bool take_flush(const Line& line, const FindEnd& end);
  bool at_end(const TextPlace& place, const FindEnd& end,
              std::function<void(EventSink&, Time)> play);
  void at_begin(const TextPlace& place, std::function<void(EventSink&, Time)> play) {
    events_.push_back({place.lane, *place.at, TextStep::call_begin, std::move(play)});
  }

  Definitions& definitions_;
  std::map<std::pair<size_t, bool>, GroupId> epochs_;  // open, by lane; of the target or not
  uint64_t operations_ = 0;
  std::vector<TextEvent> events_;
};

}  // namespace culprit::trace
