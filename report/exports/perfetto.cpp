// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Perfetto's TrackEvent packets: a track for each thread and stream with its functions, one beside
// it with its waits, and one for the critical path. Arrows (flows) go from a message's send to its
// receipt, and from the location that ended a wait to the wait's end. Names are written once and
// then referred to. Field numbers are those of perfetto's protos: trace_packet, track_descriptor,
// track_event, interned_data.

#include <fmt/format.h>

#include <map>
#include <optional>
#include <protozero/pbf_builder.hpp>
#include <string>
#include <string_view>

#include "base/printable.h"
#include "report/exports/exports.h"
#include "report/exports/figures.h"
#include "report/exports/nesting.h"

namespace culprit::report {
namespace {

using Tag = protozero::pbf_tag_type;
enum class Trace : Tag { packet = 1 };
enum class Packet : Tag {
  timestamp = 8,
  sequence = 10,
  track_event = 11,
  interned = 12,
  flags = 13,
  track_descriptor = 60
};
enum class Track : Tag { uuid = 1, name = 2, process = 3, thread = 4, parent = 5 };
enum class Process : Tag { pid = 1, name = 6 };
enum class Thread : Tag { pid = 1, tid = 2, name = 5 };
enum class Event : Tag {
  annotation = 4,
  type = 9,
  name_id = 10,
  track = 11,
  flow = 47,
  last_flow = 48
};
enum class Annotation : Tag { text = 6, name = 10 };
enum class Interned : Tag { event_name = 2 };
enum class EventName : Tag { id = 1, name = 2 };

enum class EventType : uint64_t { begin = 1, end = 2, instant = 3 };
constexpr uint64_t kStateCleared = 1, kNeedsState = 2;  // flags of a packet

/// Writes the fields of one kind of message.
template <class Field>
using Message = protozero::pbf_builder<Field>;

template <class Field>
void add_text(Message<Field>& message, Field field, std::string_view text) {
  message.add_string(field, text.data(), text.size());
}

constexpr uint64_t kCriticalTrack = 1;

class Perfetto {
 public:
  explicit Perfetto(const blame::Excerpt& excerpt) : excerpt_(excerpt) {}

  std::string write() {
    describe_tracks();
    Nesting(excerpt_).play(
        [&](LocationId at, CallPathId path, Time time) { enter(at, path, time); },
        [&](LocationId at, CallPathId, Time time) { leave(thread_track(at), time); });
    for (const blame::ExcerptWait& wait : excerpt_.waits) add(wait);
    for (const blame::ExcerptMessage& message : excerpt_.messages) add(message);
    for (const blame::PathSegment& segment : excerpt_.critical) add(segment);
    return std::move(out_);
  }

 private:
  static uint64_t process_track(uint32_t rank) { return uint64_t{1} << 40 | rank; }
  static uint64_t thread_track(LocationId id) { return uint64_t{2} << 40 | id.index(); }
  static uint64_t wait_track(LocationId id) { return uint64_t{3} << 40 | id.index(); }

  const std::string& name_of(LocationId id) const { return excerpt_.locations[id.index()].name; }

  // --- packets ---

  /// `write` writes what the packet contains.
  template <class Write>
  void packet(const Write& write) {
    const uint64_t flags = out_.empty() ? kStateCleared : kNeedsState;
    Message<Trace> trace(out_);
    Message<Packet> content(trace, Trace::packet);
    write(content);
    content.add_uint64(Packet::sequence, 1);
    content.add_uint64(Packet::flags, flags);
  }

  /// `describe` writes the process or the thread that the track is.
  template <class Describe>
  void track(uint64_t id, std::string_view name, uint64_t parent, const Describe& describe) {
    packet([&](Message<Packet>& content) {
      Message<Track> track(content, Packet::track_descriptor);
      track.add_uint64(Track::uuid, id);
      if (!name.empty()) add_text(track, Track::name, name);
      if (parent != 0) track.add_uint64(Track::parent, parent);
      describe(track);
    });
  }
  void track(uint64_t id, std::string_view name, uint64_t parent) {
    track(id, name, parent, [](Message<Track>&) {});
  }

  /// Returns the locations that need a track, including left-out ones at which an arrow starts or
  /// ends.
  std::vector<bool> locations_with_events() const {
    std::vector<bool> shown(excerpt_.locations.size());
    const auto show = [&](LocationId id) {
      if (id.valid()) shown[id.index()] = true;
    };
    for (const auto& each : excerpt_.activities) show(each.location);
    for (const auto& each : excerpt_.waits) show(each.location), show(each.cause);
    for (const auto& each : excerpt_.messages) show(each.sender), show(each.receiver);
    return shown;
  }

  /// Processes and threads are numbered from 1 on: 0 is the kernel's idle thread.
  void describe_tracks() {
    track(kCriticalTrack, "critical path", 0);
    const std::vector<bool> shown = locations_with_events();
    std::vector<bool> waits(shown.size());
    for (const auto& each : excerpt_.waits) waits[each.location.index()] = true;
    std::map<uint32_t, bool> described;
    for (size_t i = 0; i < shown.size(); ++i) {
      if (!shown[i]) continue;
      const blame::FoundLocation& location = excerpt_.locations[i];
      if (!described[location.rank]) {
        described[location.rank] = true;
        describe_process(location);
      }
      describe_thread(i, location);
      if (waits[i]) {
        track(wait_track(LocationId(i)), "waits of " + location.name, process_track(location.rank));
      }
    }
  }

  void describe_process(const blame::FoundLocation& location) {
    track(process_track(location.rank), "", 0, [&](Message<Track>& track) {
      Message<Process> process(track, Track::process);
      process.add_uint64(Process::pid, location.rank + 1);
      const std::string on = location.node.empty() ? "" : " on " + location.node;
      add_text(process, Process::name, printable(fmt::format("rank {}{}", location.rank, on)));
    });
  }

  void describe_thread(size_t index, const blame::FoundLocation& location) {
    const std::string kind = location.stream.empty() ? "thread" : printable(location.stream);
    track(thread_track(LocationId(index)), "", process_track(location.rank),
          [&](Message<Track>& track) {
            Message<Thread> thread(track, Track::thread);
            thread.add_uint64(Thread::pid, location.rank + 1);
            thread.add_uint64(Thread::tid, index + 1);
            add_text(thread, Thread::name, kind + " " + location.name);
          });
  }

  /// The number of a name, which is in `content` if it is new.
  uint64_t intern(std::string_view name, Message<Packet>& content) {
    const auto [at, is_new] = names_.try_emplace(std::string(name), names_.size() + 1);
    if (is_new) {
      Message<Interned> interned(content, Packet::interned);
      Message<EventName> entry(interned, Interned::event_name);
      entry.add_uint64(EventName::id, at->second);
      add_text(entry, EventName::name, printable(name));
    }
    return at->second;
  }

  /// `more` writes what else is known of the event.
  template <class More>
  void event(Time time, uint64_t track, EventType type, std::optional<std::string_view> name,
             const More& more) {
    packet([&](Message<Packet>& content) {
      const uint64_t name_id = name ? intern(*name, content) : 0;
      content.add_uint64(Packet::timestamp, static_cast<uint64_t>(time.nanos()));
      Message<Event> what(content, Packet::track_event);
      what.add_uint64(Event::track, track);
      what.add_uint64(Event::type, static_cast<uint64_t>(type));
      if (name) what.add_uint64(Event::name_id, name_id);
      more(what);
    });
  }

  static void annotate(Message<Event>& what, std::string_view name, std::string_view text) {
    Message<Annotation> note(what, Event::annotation);
    add_text(note, Annotation::name, name);
    add_text(note, Annotation::text, text);
  }

  // --- events ---

  void enter(LocationId at, CallPathId path, Time time) {
    const blame::FoundCallPath& code = excerpt_.callpaths[path.index()];
    event(time, thread_track(at), EventType::begin, code.region, [&](Message<Event>& what) {
      if (!code.file.empty()) annotate(what, "source", printable(place(code)));
    });
  }

  static std::string place(const blame::FoundCallPath& code) {
    return code.line == 0 ? code.file : fmt::format("{}:{}", code.file, code.line);
  }

  void leave(uint64_t track, Time time) {
    event(time, track, EventType::end, std::nullopt, [](Message<Event>&) {});
  }

  void instant(uint64_t track, std::string_view name, Time time, Event flow_field, uint64_t flow) {
    event(time, track, EventType::instant, name,
          [&](Message<Event>& what) { what.add_fixed64(flow_field, flow); });
  }

  void add(const blame::ExcerptWait& wait) {
    const replay::PatternText& pattern = replay::text(wait.pattern);
    event(wait.begin, wait_track(wait.location), EventType::begin, pattern.name,
          [&](Message<Event>& what) {
            annotate(what, "pattern", pattern.id);
            annotate(what, "at", printable(excerpt_.callpaths[wait.path.index()].name));
            if (wait.cause.valid()) annotate(what, "waits for", name_of(wait.cause));
          });
    leave(wait_track(wait.location), wait.end);
    if (!wait.cause.valid()) return;
    const uint64_t flow = ++flows_;
    instant(thread_track(wait.cause), fmt::format("lets {} go on", name_of(wait.location)),
            wait.end, Event::flow, flow);
    instant(thread_track(wait.location), "goes on", wait.end, Event::last_flow, flow);
  }

  void add(const blame::ExcerptMessage& message) {
    const uint64_t flow = ++flows_;
    instant(thread_track(message.sender), "message sent", message.sent, Event::flow, flow);
    instant(thread_track(message.receiver), "message received", message.received, Event::last_flow,
            flow);
  }

  void add(const blame::PathSegment& segment) {
    const blame::FoundCallPath& code = excerpt_.callpaths[segment.path.index()];
    event(segment.begin, kCriticalTrack, EventType::begin, code.region,
          [&](Message<Event>& what) { annotate(what, "on", name_of(segment.location)); });
    leave(kCriticalTrack, segment.end);
  }

  const blame::Excerpt& excerpt_;
  std::map<std::string, uint64_t> names_;
  uint64_t flows_ = 0;
  std::string out_;
};

}  // namespace

Result<void> export_perfetto(const blame::Excerpt& excerpt, const std::filesystem::path& output) {
  return write_new_file(output, Perfetto(excerpt).write());
}

}  // namespace culprit::report
