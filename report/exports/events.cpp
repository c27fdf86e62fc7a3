// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Events in order of time, in columns, with the links that a pattern search needs (EARL's pointers:
// F. Wolf, B. Mohr: EARL, HPCN 1999): from a leave to its enter, from a receipt to its send, and
// from every event to the enter of its function. Sixteen bytes ("culprit events 1"), eight with the
// length of a description in JSON, the description, the columns as they lie.

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/exports/exports.h"
#include "report/exports/figures.h"
#include "report/exports/nesting.h"

namespace culprit::report {
namespace {

using Json = nlohmann::ordered_json;

enum class Kind : uint8_t { enter, leave, send, receive };
constexpr std::array kKinds = {"enter", "leave", "send", "receive"};

constexpr uint32_t kNone = UINT32_MAX;

struct Event {
  int64_t time;
  LocationId location;
  Kind kind;
  uint32_t order;    ///< on its location: of the same time, enters come before sends
  uint32_t path;     ///< of an enter or leave
  uint32_t partner;  ///< of a message: the other location
  uint32_t bytes;
  uint32_t match = kNone;  ///< while they are listed: a place in the list; then of the sorted ones
};

/// Returns enters and leaves by location, then by time, properly nested.
std::vector<Event> functions(const blame::Excerpt& excerpt) {
  std::vector<Event> events;
  std::vector<uint32_t> open;
  const auto add = [&](LocationId at, CallPathId path, Time time, Kind kind) {
    const auto place = static_cast<uint32_t>(events.size());
    events.push_back(
        {time.nanos(), at, kind, place, static_cast<uint32_t>(path.index()), kNone, 0});
    return place;
  };
  Nesting(excerpt).play([&](LocationId at, CallPathId path,
                            Time time) { open.push_back(add(at, path, time, Kind::enter)); },
                        [&](LocationId at, CallPathId path, Time time) {
                          const uint32_t leave = add(at, path, time, Kind::leave);
                          events[leave].match = open.back();
                          events[open.back()].match = leave;
                          open.pop_back();
                        });
  return events;
}

void add_messages(const blame::Excerpt& excerpt, std::vector<Event>& events) {
  for (const blame::ExcerptMessage& message : excerpt.messages) {
    const auto send = static_cast<uint32_t>(events.size());
    events.push_back({message.sent.nanos(), message.sender, Kind::send, send, kNone,
                      static_cast<uint32_t>(message.receiver.index()), message.bytes, send + 1});
    events.push_back({message.received.nanos(), message.receiver, Kind::receive, send + 1, kNone,
                      static_cast<uint32_t>(message.sender.index()), message.bytes, send});
  }
}

/// At one moment: what ends ends first (a receipt before the leave of its call), then what begins
/// (a send after the enter of its call).
int rank(Kind kind) {
  return kind == Kind::receive ? 0 : kind == Kind::leave ? 1 : kind == Kind::enter ? 2 : 3;
}

/// Returns the events sorted by time, with matches as indices into the result.
std::vector<Event> in_order(const std::vector<Event>& listed) {
  std::vector<uint32_t> order(listed.size()), place(listed.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const Event &x = listed[a], &y = listed[b];
    return std::tuple(x.time, rank(x.kind), x.order) < std::tuple(y.time, rank(y.kind), y.order);
  });
  for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::vector<Event> sorted;
  sorted.reserve(listed.size());
  for (const uint32_t i : order) {
    sorted.push_back(listed[i]);
    if (sorted.back().match != kNone) sorted.back().match = place[sorted.back().match];
  }
  return sorted;
}

/// Returns for each event the enter of the function in which it occurred; for an enter, that of its
/// caller.
std::vector<uint32_t> enclosing(const std::vector<Event>& events, size_t locations) {
  std::vector<std::vector<uint32_t>> open(locations);
  std::vector<uint32_t> enters(events.size(), kNone);
  for (uint32_t i = 0; i < events.size(); ++i) {
    std::vector<uint32_t>& stack = open[events[i].location.index()];
    if (events[i].kind == Kind::leave) {
      // At one moment something of no length may be left after what follows it was entered.
      const auto own = std::find(stack.rbegin(), stack.rend(), events[i].match);
      if (own != stack.rend()) stack.erase(std::next(own).base());
    }
    if (!stack.empty()) enters[i] = stack.back();
    if (events[i].kind == Kind::enter) stack.push_back(i);
  }
  return enters;
}

class Columns {
 public:
  template <class T>
  void add(const char* name, const char* type, const std::vector<T>& values) {
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    head_.push_back({{"name", name}, {"type", type}, {"at", bytes_.size()}});
    const size_t at = bytes_.size();
    bytes_.resize(at + values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes_.data() + at, values.data(), values.size() * sizeof(T));
  }
  const Json& head() const { return head_; }
  const std::string& bytes() const { return bytes_; }

 private:
  Json head_ = Json::array();
  std::string bytes_;
};

template <class T, class Get>
std::vector<T> column(const std::vector<Event>& events, const Get& get) {
  std::vector<T> values;
  values.reserve(events.size());
  for (const Event& event : events) values.push_back(static_cast<T>(get(event)));
  return values;
}

Json describe(const blame::Excerpt& excerpt) {
  Json paths = Json::array(), locations = Json::array();
  for (const blame::FoundCallPath& path : excerpt.callpaths) {
    paths.push_back({path.name, path.region, path.file, path.line,
                     path.parent.valid() ? Json(path.parent.index()) : Json(), path.model});
  }
  for (const blame::FoundLocation& location : excerpt.locations) {
    locations.push_back(
        {location.name, location.rank, location.thread, location.node, location.stream});
  }
  return {{"wall_ns", excerpt.wall.nanos()},
          {"kinds", kKinds},
          {"callpaths", paths},
          {"locations", locations}};
}

}  // namespace

Result<void> export_events(const blame::Excerpt& excerpt, const std::filesystem::path& output) {
  std::vector<Event> listed = functions(excerpt);
  add_messages(excerpt, listed);
  const std::vector<Event> events = in_order(listed);
  Columns columns;
  columns.add("time", "q", column<int64_t>(events, [](const Event& e) { return e.time; }));
  columns.add("location", "I",
              column<uint32_t>(events, [](const Event& e) { return e.location.index(); }));
  columns.add("path", "I", column<uint32_t>(events, [](const Event& e) { return e.path; }));
  columns.add("match", "I", column<uint32_t>(events, [](const Event& e) { return e.match; }));
  columns.add("enter", "I", enclosing(events, excerpt.locations.size()));
  columns.add("partner", "I", column<uint32_t>(events, [](const Event& e) { return e.partner; }));
  columns.add("bytes", "I", column<uint32_t>(events, [](const Event& e) { return e.bytes; }));
  columns.add("kind", "B", column<uint8_t>(events, [](const Event& e) { return e.kind; }));
  Json head = describe(excerpt);
  head["events"] = events.size();
  head["columns"] = columns.head();
  std::string text = head.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  std::string file = "culprit events 1";
  file.append(reinterpret_cast<const char*>(&length), sizeof length);
  return write_new_file(output, file + text + columns.bytes());
}

}  // namespace culprit::report
