// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The lines of the text form (text.h) that tell of messages and of collectives: who takes part, by
// the calls in which it begins and ends.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/text/mpi.h"

namespace culprit::trace {

class MessageLines {
 public:
  using FindEnd = MpiLines::FindEnd;

  explicit MessageLines(Definitions& definitions) : definitions_(definitions) {}

  static bool knows(std::string_view word);
  /// False if the line is not as it should be: why() says it, or the caller's functions know.
  bool take(const std::vector<std::string>& words, const FindPlace& find, const FindEnd& end);
  const std::string& why() const { return why_; }
  /// All events, once.
  std::vector<TextEvent> finish() { return std::move(events_); }

 private:
  /// One side of a message: `send 0.0@6`, `isend 0.0@6 wait 8`, `0.0@6` (receive), `irecv ...`. Of
  /// a collective: `0.0@6 to 1,2 from -` too.
  struct Side {
    TextPlace place;
    std::optional<TextPlace> wait, ready;
    GroupId to, from;
    bool immediate = false;
    TextPlace completed() const { return wait.value_or(place); }
  };
  /// A line while it is read.
  struct Line {
    const std::vector<std::string>& words;
    const FindPlace& find;
    const FindEnd& end;
    size_t next = 0;
  };

  bool bad(std::string why);
  bool parse_later(const Line& line, const std::string& word, const TextPlace& side,
                   std::optional<TextPlace>& later);
  bool parse_group(const std::string& word, GroupId& id);
  bool parse_side(Line& line, Side& side);
  bool comm_number(const std::string& word, CommId& comm);
  template <class Number>
  bool number(const std::string& word, Number& value);

  bool take_message(Line line);
  bool take_cancel(Line line);
  bool take_collective(Line line, CollectiveOp op, bool immediate);
  bool put_send(const Line& line, const Side& side, MpiMessage message);
  bool put_receive(const Line& line, const Side& side, MpiMessage message);
  bool put_collective(const Line& line, const Side& side, const MpiCollective& collective,
                      bool immediate);
  void at_begin(const TextPlace& place, std::function<void(EventSink&, Time)> play);
  bool at_end(const Line& line, const TextPlace& place, std::function<void(EventSink&, Time)> play);

  Definitions& definitions_;
  std::string why_;
  uint64_t requests_ = 0;
  std::vector<TextEvent> events_;
};

}  // namespace culprit::trace
