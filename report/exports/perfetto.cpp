// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Perfetto's TrackEvent packets: a track for each thread and stream with its functions, one beside
// it with its waits, and one for the critical path. Arrows (flows) go from a message's send to its
// receipt, and from who ended a wait to the wait's end. Names are told once and then referred to.
// Field numbers are those of perfetto's protos: trace_packet, track_descriptor, track_event,
// interned_data.

#include <fmt/format.h>

#include <map>
#include <string>

#include "base/printable.h"
#include "report/exports/exports.h"
#include "report/exports/figures.h"
#include "report/exports/nesting.h"
#include "report/exports/protobuf.h"

namespace culprit::report {
namespace {

namespace trace_packet {
constexpr uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12, kFlags = 13,
                   kTrackDescriptor = 60;
constexpr uint64_t kCleared = 1, kNeedsState = 2;
}  // namespace trace_packet
namespace descriptor {
constexpr uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5;
}
namespace event {
constexpr uint32_t kAnnotation = 4, kType = 9, kNameId = 10, kTrack = 11, kFlow = 47,
                   kLastFlow = 48;
constexpr uint64_t kBegin = 1, kEnd = 2, kInstant = 3;
}  // namespace event
namespace annotation {
constexpr uint32_t kText = 6, kName = 10;
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

  void packet(ProtoMessage& content) {
    content.number(trace_packet::kSequence, 1);
    content.number(trace_packet::kFlags,
                   out_.empty() ? trace_packet::kCleared : trace_packet::kNeedsState);
    ProtoMessage trace;
    trace.message(1, content);
    out_ += trace.bytes();
  }

  void track(uint64_t id, std::string_view name, uint64_t parent, const ProtoMessage* process,
             const ProtoMessage* thread) {
    ProtoMessage description, content;
    description.number(descriptor::kUuid, id);
    if (!name.empty()) description.text(descriptor::kName, name);
    if (parent != 0) description.number(descriptor::kParent, parent);
    if (process != nullptr) description.message(descriptor::kProcess, *process);
    if (thread != nullptr) description.message(descriptor::kThread, *thread);
    content.message(trace_packet::kTrackDescriptor, description);
    packet(content);
  }

  /// Those that have a track: also who is left out, if an arrow comes from there or goes there.
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
    track(kCriticalTrack, "critical path", 0, nullptr, nullptr);
    const std::vector<bool> shown = locations_with_events();
    std::vector<bool> waits(shown.size());
    for (const auto& each : excerpt_.waits) waits[each.location.index()] = true;
    std::map<uint32_t, bool> described;
    for (size_t i = 0; i < shown.size(); ++i) {
      if (!shown[i]) continue;
      const blame::FoundLocation& location = excerpt_.locations[i];
      if (!described[location.rank]) {
        described[location.rank] = true;
        ProtoMessage process;
        process.number(1, location.rank + 1);
        const std::string on = location.node.empty() ? "" : " on " + location.node;
        process.text(6, printable(fmt::format("rank {}{}", location.rank, on)));
        track(process_track(location.rank), "", 0, &process, nullptr);
      }
      ProtoMessage thread;
      thread.number(1, location.rank + 1);
      thread.number(2, i + 1);
      thread.text(5, location.stream.empty() ? "thread " + location.name
                                             : printable(location.stream) + " " + location.name);
      track(thread_track(LocationId(i)), "", process_track(location.rank), nullptr, &thread);
      if (waits[i]) {
        track(wait_track(LocationId(i)), "waits of " + location.name, process_track(location.rank),
              nullptr, nullptr);
      }
    }
  }

  /// The number of a name; `content` tells it if it is new.
  uint64_t intern(std::string_view name, ProtoMessage& content) {
    const auto [at, fresh] = names_.try_emplace(std::string(name), names_.size() + 1);
    if (fresh) {
      ProtoMessage entry, interned;
      entry.number(1, at->second);
      entry.text(2, printable(name));
      interned.message(2, entry);
      content.message(trace_packet::kInterned, interned);
    }
    return at->second;
  }

  void send(ProtoMessage& content, Time time, const ProtoMessage& what) {
    content.number(trace_packet::kTimestamp, static_cast<uint64_t>(time.nanos()));
    content.message(trace_packet::kTrackEvent, what);
    packet(content);
  }

  static ProtoMessage event_on(uint64_t track, uint64_t type) {
    ProtoMessage what;
    what.number(event::kTrack, track);
    what.number(event::kType, type);
    return what;
  }

  static void annotate(ProtoMessage& what, std::string_view name, std::string_view text) {
    ProtoMessage note;
    note.text(annotation::kName, name);
    note.text(annotation::kText, text);
    what.message(event::kAnnotation, note);
  }

  // --- events ---

  void enter(LocationId at, CallPathId path, Time time) {
    const blame::FoundCallPath& code = excerpt_.callpaths[path.index()];
    ProtoMessage content, what = event_on(thread_track(at), event::kBegin);
    what.number(event::kNameId, intern(code.region, content));
    if (!code.file.empty()) annotate(what, "source", printable(place(code)));
    send(content, time, what);
  }

  static std::string place(const blame::FoundCallPath& code) {
    return code.line == 0 ? code.file : fmt::format("{}:{}", code.file, code.line);
  }

  void leave(uint64_t track, Time time) {
    ProtoMessage content;
    send(content, time, event_on(track, event::kEnd));
  }

  void instant(uint64_t track, std::string_view name, Time time, uint32_t flow_field,
               uint64_t flow) {
    ProtoMessage content, what = event_on(track, event::kInstant);
    what.number(event::kNameId, intern(name, content));
    what.fixed64(flow_field, flow);
    send(content, time, what);
  }

  void add(const blame::ExcerptWait& wait) {
    const replay::PatternText& pattern = replay::text(wait.pattern);
    ProtoMessage content, what = event_on(wait_track(wait.location), event::kBegin);
    what.number(event::kNameId, intern(pattern.name, content));
    annotate(what, "pattern", pattern.id);
    annotate(what, "at", printable(excerpt_.callpaths[wait.path.index()].name));
    if (wait.cause.valid()) annotate(what, "waits for", name_of(wait.cause));
    send(content, wait.begin, what);
    leave(wait_track(wait.location), wait.end);
    if (!wait.cause.valid()) return;
    const uint64_t flow = ++flows_;
    instant(thread_track(wait.cause), fmt::format("lets {} go on", name_of(wait.location)),
            wait.end, event::kFlow, flow);
    instant(thread_track(wait.location), "goes on", wait.end, event::kLastFlow, flow);
  }

  void add(const blame::ExcerptMessage& message) {
    const uint64_t flow = ++flows_;
    instant(thread_track(message.sender), "message sent", message.sent, event::kFlow, flow);
    instant(thread_track(message.receiver), "message received", message.received, event::kLastFlow,
            flow);
  }

  void add(const blame::PathSegment& segment) {
    const blame::FoundCallPath& code = excerpt_.callpaths[segment.path.index()];
    ProtoMessage content, what = event_on(kCriticalTrack, event::kBegin);
    what.number(event::kNameId, intern(code.region, content));
    annotate(what, "on", name_of(segment.location));
    send(content, segment.begin, what);
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
