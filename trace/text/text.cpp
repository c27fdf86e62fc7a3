// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Parser of the text form (text.h draws it). Two passes: lines into lanes, letters and event lines;
// then each lane into the actions of its location. Small inputs only: clarity before speed.
#include "trace/text/text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include "trace/text/device.h"
#include "trace/text/messages.h"
#include "trace/text/mpi.h"
#include "trace/text/names.h"
#include "trace/text/openmp.h"

namespace culprit::trace {

namespace {

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream in{std::string(line)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream in(path);
  for (std::string part; std::getline(in, part, '/');) parts.push_back(part);
  return parts;
}

}  // namespace

/// Builds a TextTrace from a picture; used once.
class TextParser {
 public:
  explicit TextParser(std::string_view picture) : input_(std::string(picture)) {}

  Result<std::unique_ptr<TextTrace>> run() {
    for (std::string line; std::getline(input_, line);) {
      ++line_number_;
      if (line == "---") break;
      if (const size_t hash = line.find('#'); hash != std::string::npos) line.resize(hash);
      if (words_of(line).empty()) continue;
      if (!take(line)) return fail();
    }
    std::string rest((std::istreambuf_iterator<char>(input_)), {});
    trace_->expectations_ = std::move(rest);
    if (!define_world()) return fail();
    for (size_t lane = 0; lane < lanes_.size(); ++lane) draw_calls(lane);
    for (const auto& [number, words] : event_lines_) {
      line_number_ = number;
      if (!take_event(words)) return fail();
    }
    for (const auto& events :
         {messages_.finish(), openmp_.finish(), mpi_.finish(), devices_.finish()}) {
      for (const auto& event : events) add(event.lane, event.cell, event.step, event.play);
    }
    for (size_t lane = 0; lane < lanes_.size(); ++lane) finish(lane);
    return std::move(trace_);
  }

 private:
  enum class Section { top, regions, lanes, comms, events };
  struct Call {  // one visit: a stretch of one letter
    int64_t begin, end;
    std::vector<std::string> path;
  };
  struct Lane {
    LocationId location;
    std::string cells;
    std::vector<Call> calls;
    std::vector<std::pair<int64_t, int64_t>> teams;  // begin, end
    std::vector<size_t> team_prefix;                 // frames that belong to the master's fork
  };
  using Place = TextPlace;
  static constexpr unsigned kMostRanks = 4096;
  static constexpr long long kLastCell = 1'000'000;  // its time stays within 64 bits

  Error fail() const {
    return Error{"line " + std::to_string(line_number_) + " of the picture: " + why_};
  }
  bool bad(std::string why) {
    why_ = std::move(why);
    return false;
  }

  bool take(const std::string& line) {
    const std::vector<std::string> words = words_of(line);
    if (words[0] == "unit" && words.size() == 2) return take_unit(words[1]);
    if (words[0] == "ours" && words.size() == 1) {
      trace_->definitions_.creator = kOwnCreator;
      return true;
    }
    for (auto [name, section] : {std::pair{"regions", Section::regions},
                                 {"lanes", Section::lanes},
                                 {"comms", Section::comms},
                                 {"events", Section::events}}) {
      if (words.size() == 1 && words[0] == name) {
        section_ = section;
        return true;
      }
    }
    switch (section_) {
      case Section::regions:
        return take_letter(line);
      case Section::lanes:
        return take_lane(line);
      case Section::comms:
        return take_comm(words);
      case Section::events:
        event_lines_.emplace_back(line_number_, words);
        return true;
      case Section::top:
        break;
    }
    return bad("expected `unit`, `ours`, `regions`, `lanes`, `comms` or `events`");
  }

  bool take_unit(const std::string& text) {
    trace_->unit_ = nanos_of_unit(text);
    return trace_->unit_ > 0 || bad("a unit is like `1s` or `0.1ms`");
  }

  bool take_letter(const std::string& line) {
    const size_t letter = line.find_first_not_of(' ');
    const size_t name = line.find_first_not_of(' ', letter + 1);
    if (name == std::string::npos) return bad("a region line is `<letter> <call path>`");
    std::string path = line.substr(name);
    path.resize(path.find_last_not_of(' ') + 1);
    letters_[line[letter]] = split_path(path);
    return true;
  }

  bool take_lane(const std::string& line) {
    const size_t bar = line.find('|');
    if (bar == std::string::npos) return bad("a lane is `<rank>.<thread> |letters`");
    unsigned rank = 0, thread = 0;
    char node[32] = "";
    const int fields = std::sscanf(line.c_str(), " %u.%u %31[^ |]", &rank, &thread, node);
    if (fields < 2) return bad("no rank.thread");
    if (rank >= kMostRanks) return bad("so many ranks cannot be drawn");
    Definitions& defs = trace_->definitions_;
    while (defs.processes.size() <= rank) {
      const uint32_t r = static_cast<uint32_t>(defs.processes.size());
      defs.processes.push_back({"MPI Rank " + std::to_string(r), "node", r, {}});
    }
    if (fields == 3) defs.processes[rank].node = node;
    if (defs.processes[rank].locations.size() != thread) return bad("threads come in order from 0");
    Lane lane;
    lane.location = LocationId(defs.locations.size());
    lane.cells = line.substr(bar + 1);
    lane.cells.resize(lane.cells.find_last_not_of(' ') + 1);
    defs.processes[rank].locations.push_back(lane.location);
    defs.locations.push_back(
        {thread == 0 ? "Master thread" : "OMP thread " + std::to_string(thread),
         LocationKind::cpu_thread, ProcessId(rank), thread, (uint64_t{thread} << 32) | rank, 0});
    lanes_.push_back(std::move(lane));
    trace_->actions_.emplace_back();
    for (char cell : lanes_.back().cells) {
      if (cell != '.' && !letters_.contains(cell)) return bad(std::string("no region ") + cell);
    }
    return true;
  }

  bool take_comm(const std::vector<std::string>& words) {
    Comm comm{"comm " + std::to_string(comms_.size() + 1), CommKind::mpi, {}, {}};
    for (size_t i = 1; i < words.size(); ++i) {
      uint32_t rank = 0;
      const bool second = words[i] == "|";
      if (second) comm.kind = CommKind::mpi_inter;
      if (!second && !number(words[i], rank)) return false;
      if (!second) (comm.kind == CommKind::mpi ? comm.members : comm.remote).emplace_back(rank);
    }
    comms_.push_back(std::move(comm));
    return true;
  }

  bool define_world() {
    Definitions& defs = trace_->definitions_;
    if (defs.creator.empty()) defs.creator = "text";
    Comm world{"MPI_COMM_WORLD", CommKind::mpi_world, {}, {}};
    for (size_t p = 0; p < defs.processes.size(); ++p) world.members.emplace_back(p);
    defs.comms.push_back(std::move(world));
    for (Comm& comm : comms_) {
      if (!members_have_lanes(defs, comm)) return bad("a member has no lane");
      defs.comms.push_back(std::move(comm));
    }
    for (const Process& process : defs.processes) {
      if (process.locations.empty()) return bad("a rank has no lane");
    }
    return true;
  }

  bool number(const std::string& word, uint32_t& value) {
    const char* end = word.data() + word.size();
    const auto [rest, error] = std::from_chars(word.data(), end, value);
    return (error == std::errc() && rest == end) || bad("no number: " + word);
  }

  RegionId region(const std::string& name) {
    auto [it, fresh] = regions_.try_emplace(name, RegionId(trace_->definitions_.regions.size()));
    if (fresh) trace_->definitions_.regions.push_back(region_from_name(name));
    return it->second;
  }

  void draw_calls(size_t index) {
    Lane& lane = lanes_[index];
    for (size_t i = 0; i < lane.cells.size();) {
      size_t j = i;
      while (j < lane.cells.size() && lane.cells[j] == lane.cells[i]) ++j;
      std::vector<std::string> path;
      if (lane.cells[i] != '.') path = letters_[lane.cells[i]];
      lane.calls.push_back({static_cast<int64_t>(i), static_cast<int64_t>(j), path});
      i = j;
    }
  }

  Time time(int64_t cell) const { return Time::from_nanos(cell * trace_->unit_); }

  void add(size_t lane, int64_t cell, TextTrace::Step step,
           std::function<void(EventSink&, Time)> play) {
    trace_->actions_[lane].push_back({time(cell), step, std::move(play)});
  }

  bool parse_place(const std::string& word, Place& place) {
    unsigned rank = 0, thread = 0;
    long long at = 0, until = 0;
    const int fields = std::sscanf(word.c_str(), "%u.%u@%lld-%lld", &rank, &thread, &at, &until);
    if (fields < 2) return bad("expected rank.thread[@time], found " + word);
    const auto& processes = trace_->definitions_.processes;
    if (rank >= processes.size() || thread >= processes[rank].locations.size()) {
      return bad("no lane " + word);
    }
    place.lane = processes[rank].locations[thread].index();
    const auto drawn = [](long long cell) { return cell >= 0 && cell <= kLastCell; };
    if (!drawn(at) || !drawn(until)) return bad("beyond any lane: " + word);
    if (fields >= 3) place.at = at;
    if (fields == 4) place.until = until;
    return true;
  }

  std::optional<int64_t> end_of_call(const Place& place) {
    for (const Call& call : lanes_[place.lane].calls) {
      if (call.begin == place.at && !call.path.empty()) return call.end;
    }
    bad(place.at ? "no call begins at " + std::to_string(*place.at) : "a call needs its time");
    return std::nullopt;
  }

  bool take_event(const std::vector<std::string>& words) {
    if (words[0] == "fork") return take_fork(words);
    const auto find = [this](const std::string& word, Place& place) {
      return parse_place(word, place);
    };
    const auto end = [this](const Place& place) { return end_of_call(place); };
    if (MpiLines::knows(words[0])) {
      return mpi_.take(words, find, end) || (why_.empty() ? bad(mpi_.usage(words[0])) : false);
    }
    if (OpenmpLines::knows(words[0])) {
      return openmp_.take(words, find) || (why_.empty() ? bad(openmp_.usage(words[0])) : false);
    }
    if (DeviceLines::knows(words[0])) {
      return devices_.take(words, find) || (why_.empty() ? bad(devices_.usage(words[0])) : false);
    }
    if (MessageLines::knows(words[0])) {
      return messages_.take(words, find, end) || (why_.empty() ? bad(messages_.why()) : false);
    }
    return bad("unknown event " + words[0]);
  }

  bool take_fork(const std::vector<std::string>& words) {
    using Step = TextTrace::Step;
    Place master;
    std::string first = words.size() > 1 ? words[1] : "";
    if (!first.empty() && first.back() == ':') first.pop_back();
    if (!parse_place(first, master) || !master.until) return bad("fork <lane>@<fork>-<join>: ...");
    const RegionInstance instance{++instances_};
    const uint32_t size = static_cast<uint32_t>(words.size() - 2);
    add(master.lane, *master.at, Step::fork,
        [=](EventSink& sink, Time t) { sink.thread_fork(t, size, instance); });
    add(master.lane, *master.until, Step::join,
        [](EventSink& sink, Time t) { sink.thread_join(t); });
    const size_t prefix = frames_across(master.lane, *master.at);
    for (size_t i = 2; i < words.size(); ++i) {
      Place member;
      if (!parse_place(words[i], member)) return false;
      const int64_t begin = member.at.value_or(*master.at);
      const int64_t end = member.until.value_or(*master.until);
      lanes_[member.lane].teams.emplace_back(begin, end);
      lanes_[member.lane].team_prefix.push_back(member.lane == master.lane ? 0 : prefix);
      add(member.lane, begin, Step::team_begin,
          [=](EventSink& sink, Time t) { sink.thread_team_begin(t, instance); });
      add(member.lane, end, Step::team_end,
          [](EventSink& sink, Time t) { sink.thread_team_end(t); });
    }
    return true;
  }

  static size_t common_prefix(const std::vector<std::string>& a,
                              const std::vector<std::string>& b) {
    size_t n = 0;
    while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
    return n;
  }

  /// How many frames stay open on `lane` across the boundary at `cell`.
  size_t frames_across(size_t lane, int64_t cell) const {
    const std::vector<std::string>* before = nullptr;
    const std::vector<std::string>* after = nullptr;
    for (const Call& call : lanes_[lane].calls) {
      if (call.end == cell) before = &call.path;
      if (call.begin == cell) after = &call.path;
    }
    return before != nullptr && after != nullptr ? common_prefix(*before, *after) : 0;
  }

  /// How many frames of a visit at `begin` are the master's (the worker's own come after them).
  size_t masters_frames(const Lane& lane, int64_t begin) const {
    for (size_t i = 0; i < lane.teams.size(); ++i) {
      if (lane.teams[i].first <= begin && begin < lane.teams[i].second) return lane.team_prefix[i];
    }
    return 0;
  }

  /// Enters and leaves of a lane's visits, then everything in order of time and step.
  void finish(size_t index) {
    using Step = TextTrace::Step;
    Lane& lane = lanes_[index];
    std::vector<std::string> open;
    int64_t end = 0;
    for (const Call& call : lane.calls) {
      const size_t skip = std::min(masters_frames(lane, call.begin), call.path.size());
      const std::vector<std::string> path(call.path.begin() + static_cast<long>(skip),
                                          call.path.end());
      size_t keep = common_prefix(open, path);
      if (keep == open.size() && keep == path.size() && keep > 0) --keep;  // a second visit
      while (open.size() > keep) leave(index, call.begin, open);
      for (size_t f = keep; f < path.size(); ++f) {
        const RegionId id = region(path[f]);
        add(index, call.begin, Step::enter, [=](EventSink& sink, Time t) { sink.enter(t, id); });
        open.push_back(path[f]);
      }
      end = call.end;
    }
    while (!open.empty()) leave(index, end, open);
    auto& actions = trace_->actions_[index];
    std::stable_sort(actions.begin(), actions.end(), [](const auto& a, const auto& b) {
      return std::tie(a.time, a.step) < std::tie(b.time, b.step);
    });
  }

  void leave(size_t index, int64_t cell, std::vector<std::string>& open) {
    const RegionId id = region(open.back());
    open.pop_back();
    add(index, cell, TextTrace::Step::leave, [=](EventSink& sink, Time t) { sink.leave(t, id); });
  }

  std::istringstream input_;
  size_t line_number_ = 0;
  std::string why_;
  Section section_ = Section::top;
  std::unique_ptr<TextTrace> trace_ = std::make_unique<TextTrace>();
  std::map<char, std::vector<std::string>> letters_;
  std::map<std::string, RegionId> regions_;
  std::vector<Lane> lanes_;
  std::vector<Comm> comms_;
  std::vector<std::pair<size_t, std::vector<std::string>>> event_lines_;
  OpenmpLines openmp_{trace_->definitions_};
  MessageLines messages_{trace_->definitions_};
  MpiLines mpi_{trace_->definitions_};
  DeviceLines devices_{trace_->definitions_};
  uint64_t instances_ = 0;
};

Result<std::unique_ptr<TextTrace>> TextTrace::parse(std::string_view picture) {
  return TextParser(picture).run();
}

Result<void> TextTrace::read(LocationId location, EventSink& sink, Losses&) const {
  for (const Action& action : actions_[location.index()]) action.play(sink, action.time + shift_);
  return {};
}

}  // namespace culprit::trace
