// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Windows and groups are defined when a line first needs them.
#include "tests/support/text/mpi.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace culprit::trace {

namespace {

constexpr std::pair<std::string_view, RmaEpoch> kEpochs[] = {
    {"win_start", RmaEpoch::start},
    {"win_complete", RmaEpoch::complete},
    {"win_post", RmaEpoch::post},
    {"win_wait", RmaEpoch::wait},
};
constexpr std::pair<std::string_view, RmaOp> kOperations[] = {
    {"put", RmaOp::put},
    {"get", RmaOp::get},
    {"accumulate", RmaOp::accumulate},
};
constexpr std::pair<std::string_view, RmaAssertions> kAssertions[] = {
    {"nocheck", RmaAssertions::no_check},
    {"noprecede", RmaAssertions::no_precede},
    {"nosucceed", RmaAssertions::no_succeed},
};

template <class Value, size_t n>
std::optional<Value> find_in(const std::pair<std::string_view, Value> (&table)[n],
                             std::string_view word) {
  for (const auto& [name, value] : table) {
    if (name == word) return value;
  }
  return std::nullopt;
}

std::optional<uint32_t> number_in(std::string_view word) {
  uint32_t number = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || rest != word.data() + word.size()) return std::nullopt;
  return number;
}

/// Each window takes a place in the definitions.
constexpr uint32_t kMostWindows = 1000;

bool contains(const std::vector<ProcessId>& group, ProcessId process) {
  return std::find(group.begin(), group.end(), process) != group.end();
}

/// Of an inter-communicator the one that the process belongs to.
const std::vector<ProcessId>& group_of(const Comm& comm, ProcessId process) {
  return contains(comm.remote, process) ? comm.remote : comm.members;
}

uint32_t rank_in(const std::vector<ProcessId>& group, ProcessId process) {
  return static_cast<uint32_t>(std::find(group.begin(), group.end(), process) - group.begin());
}

}  // namespace

bool members_have_lanes(const Definitions& definitions, const Comm& comm) {
  const auto has_lane = [&](ProcessId p) { return p.index() < definitions.processes.size(); };
  return std::all_of(comm.members.begin(), comm.members.end(), has_lane) &&
         std::all_of(comm.remote.begin(), comm.remote.end(), has_lane);
}

uint32_t rank_in(const Definitions& definitions, CommId comm, size_t lane) {
  const ProcessId process = definitions.locations[lane].process;
  return rank_in(group_of(definitions.comms[comm.index()], process), process);
}

bool root_is_member(const Definitions& definitions, const MpiCollective& collective) {
  if (!collective.root) return true;
  const Comm& comm = definitions.comms[collective.comm.index()];
  if (comm.kind != CommKind::mpi_inter) return *collective.root < comm.members.size();
  const ProcessId root(*collective.root);
  return contains(comm.members, root) || contains(comm.remote, root);
}

/// In an inter-communicator the root's own group sees no root.
MpiCollective as_seen_by(const Definitions& definitions, size_t lane, MpiCollective collective) {
  const Comm& comm = definitions.comms[collective.comm.index()];
  if (comm.kind != CommKind::mpi_inter || !collective.root) return collective;
  const ProcessId self = definitions.locations[lane].process;
  const ProcessId root(*collective.root);
  const auto& group = group_of(comm, root);
  collective.is_root = self == root;
  collective.root.reset();
  if (&group != &group_of(comm, self)) collective.root = rank_in(group, root);
  return collective;
}

bool MpiLines::knows(std::string_view word) {
  return word == "probe" || word == "win_fence" || word == "win_lock" || word == "win_unlock" ||
         word == "win_flush" || find_in(kEpochs, word) || find_in(kOperations, word);
}

std::string MpiLines::usage(std::string_view word) {
  const std::string name(word);
  if (word == "probe") return "probe <lane>@<time> from <lane> [tag <n>] [comm <n>]";
  if (word == "win_fence") return "win_fence <lane>@<time>... [window <n>] [comm <n>]";
  if (find_in(kEpochs, word)) {
    return name + " <lane>@<time> [with <ranks>] [window <n>] [comm <n>] [nocheck]";
  }
  if (find_in(kOperations, word)) return name + " <lane>@<time> to <rank> [window <n>]";
  return name + " <lane>@<time> [to <rank>] [exclusive] [nocheck] [window <n>] [comm <n>]";
}

bool MpiLines::take(const std::vector<std::string>& words, const FindPlace& find,
                    const FindEnd& end) {
  Line line;
  if (!parse(words, find, line) || line.places.empty()) return false;
  if (words[0] == "probe") return take_probe(line, end);
  if (!define_window(line)) return false;
  if (words[0] == "win_fence") return take_fence(line, end);
  if (words[0] == "win_flush") return take_flush(line, end);
  if (words[0] == "win_lock") return take_lock(RmaLockStep::request, line, end);
  if (words[0] == "win_unlock") return take_lock(RmaLockStep::released, line, end);
  if (const auto epoch = find_in(kEpochs, words[0])) return take_epoch(*epoch, line, end);
  return take_operation(*find_in(kOperations, words[0]), line);
}

bool MpiLines::parse(const std::vector<std::string>& words, const FindPlace& find, Line& line) {
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i].find('@') != std::string::npos) {
      if (!find(words[i], line.places.emplace_back()) || !line.places.back().at) return false;
    } else if (words[i] == "exclusive") {
      line.exclusive = true;
    } else if (const auto assertion = find_in(kAssertions, words[i])) {
      line.assertions = line.assertions | *assertion;
    } else if (i + 1 == words.size() || !parse_pair(words[i], words[i + 1], find, line)) {
      return false;
    } else {
      ++i;
    }
  }
  return true;
}

bool MpiLines::parse_pair(const std::string& key, const std::string& value, const FindPlace& find,
                          Line& line) {
  if (key == "from") return find(value, line.from.emplace());
  if (key == "with") {
    std::istringstream in(value == "-" ? "" : value);
    for (std::string word; std::getline(in, word, ',');) {
      const auto rank = number_in(word);
      if (!rank || *rank >= definitions_.processes.size()) return false;
      line.with.emplace_back(*rank);
    }
    return true;
  }
  const auto number = number_in(value);
  if (!number) return false;
  if (key == "to") line.to = *number;
  if (key == "window") line.window = WindowId(*number);
  if (key == "comm") line.comm = CommId(*number);
  if (key == "tag") line.tag = static_cast<int32_t>(*number);
  return (key == "to" || key == "window" || key == "comm" || key == "tag") &&
         line.comm.index() < definitions_.comms.size();
}

/// A window exists once a line names it, on the communicator of that line.
bool MpiLines::define_window(const Line& line) {
  if (line.window.index() >= kMostWindows) return false;
  std::vector<Window>& windows = definitions_.windows;
  while (windows.size() <= line.window.index()) {
    windows.push_back({"window " + std::to_string(windows.size()), line.comm});
  }
  const CommId comm = windows[line.window.index()].comm;
  return line.to.value_or(0) < definitions_.comms[comm.index()].members.size();
}

bool MpiLines::at_end(const TextPlace& place, const FindEnd& end,
                      std::function<void(EventSink&, Time)> play) {
  const auto cell = end(place);
  if (!cell) return false;
  events_.push_back({place.lane, *cell, TextStep::call_end, std::move(play)});
  return true;
}

bool MpiLines::take_probe(const Line& line, const FindEnd& end) {
  if (!line.from) return false;
  const MpiMessage found{line.comm, rank_in(definitions_, line.comm, line.from->lane), line.tag, 8};
  return at_end(line.places[0], end, [=](EventSink& sink, Time t) { sink.mpi_probe(t, found); });
}

bool MpiLines::take_fence(const Line& line, const FindEnd& end) {
  RmaCollective fence;
  fence.window = line.window;
  fence.assertions = line.assertions;
  for (const TextPlace& place : line.places) {
    const auto play = [=](EventSink& sink, Time t) { sink.rma_collective(t, fence); };
    if (!at_end(place, end, play)) return false;
  }
  return true;
}

bool MpiLines::take_epoch(RmaEpoch epoch, const Line& line, const FindEnd& end) {
  RmaGroupSync sync{epoch, line.window, {}, line.assertions};
  const bool exposes = epoch == RmaEpoch::post || epoch == RmaEpoch::wait;
  GroupId& group = epochs_[{line.places[0].lane, exposes}];
  if (epoch == RmaEpoch::start || epoch == RmaEpoch::post) {
    group = GroupId(definitions_.groups.size());
    definitions_.groups.push_back({line.with});
  }
  sync.group = group;
  return at_end(line.places[0], end,
                [=](EventSink& sink, Time t) { sink.rma_group_sync(t, sync); });
}

bool MpiLines::take_operation(RmaOp op, const Line& line) {
  if (!line.to) return false;
  const RmaOperation operation{line.window, *line.to, op, 8, 8, RmaOpId{++operations_}};
  at_begin(line.places[0], [=](EventSink& sink, Time t) { sink.rma_operation(t, operation); });
  return true;
}

bool MpiLines::take_lock(RmaLockStep step, const Line& line, const FindEnd& end) {
  const RmaLock lock{step,           line.window,         line.to,
                     line.exclusive, line.to.value_or(0), line.assertions};
  const auto play = [=](EventSink& sink, Time t) { sink.rma_lock(t, lock); };
  if (step == RmaLockStep::released) return at_end(line.places[0], end, play);
  at_begin(line.places[0], play);
  return true;
}

bool MpiLines::take_flush(const Line& line, const FindEnd& end) {
  const RmaSync sync{RmaSyncKind::flush, line.window, line.to};
  return at_end(line.places[0], end, [=](EventSink& sink, Time t) { sink.rma_sync(t, sync); });
}

}  // namespace culprit::trace
