// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A line names two calls or more by lane and begin; what happens at their begin and at their end
// are two actions.
#include "tests/support/text/messages.h"

#include <charconv>
#include <sstream>

#include "tests/support/text/names.h"

namespace culprit::trace {

namespace {

/// `barrier`, or `ibarrier` if `immediate`.
std::optional<CollectiveOp> collective_of(std::string_view word, bool& immediate) {
  immediate = false;
  if (const auto op = collective_named(word)) return op;
  immediate = word.starts_with('i');
  return immediate ? collective_named(word.substr(1)) : std::nullopt;
}

}  // namespace

bool MessageLines::knows(std::string_view word) {
  bool immediate = false;
  return word == "send" || word == "isend" || word == "cancel" || collective_of(word, immediate);
}

bool MessageLines::take(const std::vector<std::string>& words, const FindPlace& find,
                        const FindEnd& end) {
  const Line line{words, find, end};
  if (words[0] == "cancel") return take_cancel(line);
  bool immediate = false;
  if (const auto op = collective_of(words[0], immediate)) {
    return take_collective(line, *op, immediate);
  }
  return take_message(line);
}

bool MessageLines::bad(std::string why) {
  why_ = std::move(why);
  return false;
}

/// A whole word that is a number from 0 to the type's largest.
template <class Number>
bool MessageLines::number(const std::string& word, Number& value) {
  const char* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, value);
  return (error == std::errc() && rest == end && value >= 0) || bad("no number: " + word);
}

bool MessageLines::comm_number(const std::string& word, CommId& comm) {
  uint32_t value = 0;
  if (!number(word, value)) return false;
  comm = CommId(value);
  return value < definitions_.comms.size() || bad("no communicator " + word);
}

/// `8` on the side's own lane, or `0.1@8` on another.
bool MessageLines::parse_later(const Line& line, const std::string& word, const TextPlace& side,
                               std::optional<TextPlace>& later) {
  if (word.find('@') != std::string::npos) return line.find(word, later.emplace());
  later = side;
  return number(word, later->at.emplace());
}

/// `1,2` or `-` for nobody.
bool MessageLines::parse_group(const std::string& word, GroupId& id) {
  Group group;
  std::istringstream in(word == "-" ? "" : word);
  for (std::string text; std::getline(in, text, ',');) {
    uint32_t rank = 0;
    if (!number(text, rank)) return false;
    if (rank >= definitions_.processes.size()) return bad("no rank " + text);
    group.members.emplace_back(rank);
  }
  definitions_.groups.push_back(std::move(group));
  id = GroupId(definitions_.groups.size() - 1);
  return true;
}

bool MessageLines::parse_side(Line& line, Side& side) {
  const std::vector<std::string>& words = line.words;
  size_t& i = line.next;
  if (i >= words.size()) return bad("a call is missing");
  if (words[i] == "send" || words[i] == "isend" || words[i] == "irecv") {
    side.immediate = words[i++] != "send";
  }
  if (i >= words.size()) return bad("a call is missing");
  if (!line.find(words[i++], side.place)) return false;
  if (!side.place.at) return bad("a call needs its time");
  for (; i + 1 < words.size(); i += 2) {
    const std::string& what = words[i + 1];
    if (words[i] == "to") {
      if (!parse_group(what, side.to)) return false;
    } else if (words[i] == "from") {
      if (!parse_group(what, side.from)) return false;
    } else if (words[i] == "wait") {
      if (!parse_later(line, what, side.place, side.wait)) return false;
    } else if (words[i] == "ready") {
      if (!parse_later(line, what, side.place, side.ready)) return false;
    } else {
      break;
    }
  }
  return line.end(side.place).has_value();
}

void MessageLines::at_begin(const TextPlace& place, std::function<void(EventSink&, Time)> play) {
  events_.push_back({place.lane, *place.at, TextStep::call_begin, std::move(play)});
}

bool MessageLines::at_end(const Line& line, const TextPlace& place,
                          std::function<void(EventSink&, Time)> play) {
  const std::optional<int64_t> end = line.end(place);
  if (!end) return false;
  events_.push_back({place.lane, *end, TextStep::call_end, std::move(play)});
  return true;
}

bool MessageLines::take_message(Line line) {
  Side from, to;
  if (!parse_side(line, from)) return false;
  const std::vector<std::string>& words = line.words;
  if (line.next >= words.size() || words[line.next++] != "->") return bad("expected ->");
  if (!parse_side(line, to)) return false;
  MpiMessage message{CommId(0), 0, 0, 8};
  std::optional<TextPlace> probe;
  for (size_t i = line.next; i + 1 < words.size(); i += 2) {
    const std::string& what = words[i + 1];
    if (words[i] == "tag" && !number(what, message.tag)) return false;
    if (words[i] == "comm" && !comm_number(what, message.comm)) return false;
    if (words[i] == "bytes" && !number(what, message.bytes)) return false;
    if (words[i] == "pair" && !number(what, message.partitioned)) return false;
    if (words[i] == "probe" && !parse_later(line, what, to.place, probe)) return false;
  }
  MpiMessage sent = message, received = message;
  if (probe) received.probe = MatchedProbe{++requests_};
  sent.peer = rank_in(definitions_, message.comm, to.place.lane);
  received.peer = rank_in(definitions_, message.comm, from.place.lane);
  const size_t members = definitions_.comms[message.comm.index()].members.size();
  if (sent.peer >= members || received.peer >= members) return bad("not in this communicator");
  const auto found = [=](EventSink& sink, Time t) { sink.mpi_probe(t, received); };
  if (probe && !at_end(line, *probe, found)) return false;
  return put_send(line, from, sent) && put_receive(line, to, received);
}

bool MessageLines::put_send(const Line& line, const Side& side, MpiMessage message) {
  if (!side.immediate) {
    at_begin(side.place, [=](EventSink& sink, Time t) { sink.mpi_send(t, message); });
    return true;
  }
  const RequestId request{++requests_};
  at_begin(side.place, [=](EventSink& sink, Time t) { sink.mpi_isend(t, message, request); });
  const auto handed_over = [=](EventSink& sink, Time t) { sink.mpi_isend_ready(t, request); };
  if (side.ready && !at_end(line, *side.ready, handed_over)) return false;
  const auto complete = [=](EventSink& sink, Time t) { sink.mpi_isend_complete(t, request); };
  return !side.wait || at_end(line, *side.wait, complete);
}

bool MessageLines::put_receive(const Line& line, const Side& side, MpiMessage message) {
  if (!side.immediate) {
    return at_end(line, side.place, [=](EventSink& sink, Time t) { sink.mpi_recv(t, message); });
  }
  const RequestId request{++requests_};
  at_begin(side.place, [=](EventSink& sink, Time t) { sink.mpi_irecv_request(t, request); });
  return at_end(line, side.completed(),
                [=](EventSink& sink, Time t) { sink.mpi_irecv(t, message, request); });
}

bool MessageLines::take_cancel(Line line) {
  TextPlace place;
  if (line.words.size() != 2) return bad("cancel <call>");
  if (!line.find(line.words[1], place)) return false;
  if (!place.at) return bad("cancel <call>");
  const RequestId request{++requests_};
  at_begin(place, [=](EventSink& sink, Time t) {
    sink.mpi_irecv_request(t, request);
    sink.mpi_request_cancelled(t, request);
  });
  return true;
}

bool MessageLines::take_collective(Line line, CollectiveOp op, bool immediate) {
  MpiCollective collective;
  collective.op = op;
  collective.comm = CommId(0);
  collective.bytes_sent = collective.bytes_received = 8;
  const std::vector<std::string>& words = line.words;
  std::vector<Side> sides;
  for (line.next = 1; line.next < words.size();) {
    const size_t i = line.next;
    const bool pair = i + 1 < words.size();
    if (pair && words[i] == "root") {
      if (!number(words[i + 1], collective.root.emplace())) return false;
      line.next += 2;
    } else if (pair && words[i] == "comm") {
      if (!comm_number(words[i + 1], collective.comm)) return false;
      line.next += 2;
    } else if (!parse_side(line, sides.emplace_back())) {
      return false;
    }
  }
  if (is_rooted(op) && !collective.root) return bad("this operation needs `root`");
  if (!root_is_member(definitions_, collective)) return bad("`root` is not a member");
  for (const Side& side : sides) {
    collective.sends_to = side.to;
    collective.receives_from = side.from;
    const MpiCollective own = as_seen_by(definitions_, side.place.lane, collective);
    if (!put_collective(line, side, own, immediate)) return false;
  }
  return true;
}

bool MessageLines::put_collective(const Line& line, const Side& side,
                                  const MpiCollective& collective, bool immediate) {
  if (!immediate) {
    return at_end(line, side.place,
                  [=](EventSink& sink, Time t) { sink.mpi_collective(t, collective); });
  }
  const RequestId request{++requests_};
  at_begin(side.place, [=](EventSink& sink, Time t) { sink.mpi_icollective_request(t, request); });
  return at_end(line, side.completed(), [=](EventSink& sink, Time t) {
    sink.mpi_icollective_complete(t, collective, request);
  });
}

}  // namespace culprit::trace
