// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A parcel has the hubs, meetings and holdings that its marks refer to before the marks.
#include "predict/rerun/ranks/marks.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "base/flat_map.h"
#include "base/ranks/exchange.h"
#include "replay/model/compact.h"

namespace culprit::predict {

namespace {

using replay::CompactReader;
using replay::CompactWriter;
using replay::Run;

/// A hub as it is sent to another rank.
struct SentHub {
  uint32_t there = 0;  ///< its number
  uint32_t signals = 0;
  Time time;
  uint32_t meeting = Hub::kNone;
  CommId comm;
  LocationId last;  ///< only if it is one of that rank's
  Time others;
  bool has_last = false, of_progress = false, at_gate = false;
};

template <class Code>
void code_hub(Code& code, SentHub& hub, const SentHub& before) {
  code(hub.there, before.there);
  code(hub.signals, before.signals);
  code(hub.time, before.time);
  code(hub.meeting, before.meeting);
  code(hub.comm, before.comm);
  code(hub.has_last, before.has_last);
  code(hub.of_progress, before.of_progress);
  code(hub.at_gate, before.at_gate);
  if (!hub.has_last) return;
  code(hub.last, LocationId());
  code(hub.others, hub.time);
}

struct SentHolding {
  uint32_t there;
  Holding holding;
};

/// A mark; `target`: a place in the lists of its parcel.
struct SentMark {
  LocationId location;
  Time time;
  uint32_t since = 0, target = 0;
  uint8_t kind = 0;
  bool has_data = false;
};

template <class Code>
void code_mark(Code& code, SentMark& mark, const SentMark& before) {
  code(mark.location, before.location);
  code(mark.time, before.time);
  code(mark.since, before.since);
  code(mark.target, before.target);
  code(mark.kind, before.kind);
  code(mark.has_data, before.has_data);
}

bool is_of_hub(MarkKind kind) {
  return kind == MarkKind::signal || kind == MarkKind::gate;
}

/// Packs what one other rank gets.
class MarkWriter {
 public:
  MarkWriter(const Run& run, Dependences& found, size_t rank)
      : run_(run), found_(found), rank_(rank) {}

  void add(const Mark& mark) {
    const bool of_hub = is_of_hub(mark.kind());
    SentMark sent{mark.location,
                  mark.time,
                  mark.since,
                  of_hub ? place_of_hub(mark.target) : place_of_holding(mark.target),
                  static_cast<uint8_t>(mark.kind()),
                  mark.delivery != Deliveries::kNone};
    code_mark(marks_, sent, mark_before_);
    mark_before_ = sent;
  }

  Packer take() {
    Packer packer;
    packer.put_list(hubs_.bytes());
    packer.put_list(std::span<const SentHolding>(holdings_));
    packer.put_list(marks_.bytes());
    return packer;
  }

 private:
  uint32_t place_of_hub(uint32_t number) {
    const uint32_t fresh = static_cast<uint32_t>(places_.size());
    const uint32_t place = places_.at(number, fresh);
    if (place != fresh) return place;
    Hub& hub = found_.hubs[number];
    hub.reach = Hub::Reach::shared;
    SentHub sent;
    sent.there = number;
    sent.signals = hub.signals;
    sent.time = hub.time;
    sent.of_progress = hub.of_progress;
    if (hub.meeting != Hub::kNone) {
      const Meeting& meeting = found_.meetings[hub.meeting];
      CULPRIT_CHECK(meeting.of == Meeting::Of::ranks);  // teams belong to one process
      sent.meeting = hub.meeting;
      sent.at_gate = meeting.at_gate;
      sent.comm = meeting.comm;
    }
    if (hub.last != Hub::kNone && run_.owner(found_.lasts[hub.last].location) == rank_) {
      sent.has_last = true;
      sent.last = found_.lasts[hub.last].location;
      sent.others = found_.lasts[hub.last].others;
    }
    code_hub(hubs_, sent, hub_before_);
    hub_before_ = sent;
    return place;
  }

  uint32_t place_of_holding(uint32_t number) {
    holdings_.push_back({number, found_.holdings[number]});
    return static_cast<uint32_t>(holdings_.size() - 1);
  }

  const Run& run_;
  Dependences& found_;
  const size_t rank_;
  FlatMap places_;  ///< of hubs
  CompactWriter hubs_, marks_;
  SentHub hub_before_;
  SentMark mark_before_;
  std::vector<SentHolding> holdings_;
};

/// Takes what one other rank has sent.
class MarkTaker {
 public:
  MarkTaker(Dependences& found, uint32_t rank) : found_(found), rank_(rank) {}

  void take(const Parcel& parcel) {
    Unpacker unpacker(parcel);
    SentHub before;
    for (CompactReader reader(unpacker.get_bytes()); !reader.done();) {
      SentHub sent;
      code_hub(reader, sent, before);
      before = sent;
      add_hub(sent);
    }
    unpacker.get_list<SentHolding>([&](const SentHolding& sent) {
      holdings_.push_back(static_cast<uint32_t>(found_.holdings.size()));
      found_.holdings_elsewhere.push_back({holdings_.back(), rank_, sent.there});
      found_.holdings.push_back(sent.holding);
    });
    const uint32_t data = found_.deliveries.add({.near_hops = 1});
    SentMark mark_before;
    for (CompactReader reader(unpacker.get_bytes()); !reader.done();) {
      SentMark sent;
      code_mark(reader, sent, mark_before);
      mark_before = sent;
      const bool of_hub = is_of_hub(static_cast<MarkKind>(sent.kind));
      found_.marks.push_back({sent.time, sent.location, sent.since,
                              of_hub ? hubs_[sent.target] : holdings_[sent.target], sent.kind,
                              sent.has_data ? data : Deliveries::kNone});
    }
  }

 private:
  void add_hub(const SentHub& sent) {
    const HubId id = found_.add_hub();
    hubs_.push_back(static_cast<uint32_t>(id.index()));
    found_.hubs_elsewhere.push_back({hubs_.back(), rank_, sent.there});
    Hub& hub = found_.hubs[id.index()];
    hub.signals = sent.signals;
    hub.time = sent.time;
    hub.of_progress = sent.of_progress;
    hub.reach = Hub::Reach::elsewhere;
    if (sent.has_last) {
      hub.last = static_cast<uint32_t>(found_.lasts.size());
      found_.lasts.push_back({sent.last, sent.others});
    }
    if (sent.meeting == Hub::kNone) return;
    found_.meetings_elsewhere.push_back(
        {static_cast<uint32_t>(found_.meetings.size()), rank_, sent.meeting});
    found_.meet(id, {.at_gate = sent.at_gate, .comm = sent.comm});
  }

  Dependences& found_;
  const uint32_t rank_;
  std::vector<uint32_t> hubs_, holdings_;  ///< by place in the parcel, the numbers here
};

}  // namespace

void route_marks(const Run& run, Dependences& found) {
  Transport& ranks = *run.ranks;
  if (ranks.alone()) return;
  std::vector<uint32_t> owner;  // by LocationId
  for (size_t id = 0; id < run.timelines.size(); ++id) {
    owner.push_back(static_cast<uint32_t>(run.owner(LocationId(id))));
  }
  std::vector<MarkWriter> writers;
  for (size_t r = 0; r < ranks.size(); ++r) writers.emplace_back(run, found, r);
  size_t kept = 0;
  for (const Mark mark : found.marks) {
    const uint32_t rank = owner[mark.location.index()];
    if (rank == ranks.rank()) {
      found.marks[kept++] = mark;
    } else {
      writers[rank].add(mark);
    }
  }
  found.marks.resize(kept);
  std::vector<Packer> to;
  for (MarkWriter& writer : writers) to.push_back(writer.take());
  writers.clear();
  const std::vector<Parcel> parcels = exchange(ranks, std::move(to));
  for (size_t r = 0; r < parcels.size(); ++r) {
    if (r != ranks.rank()) MarkTaker(found, static_cast<uint32_t>(r)).take(parcels[r]);
  }
}

namespace {

/// What a rank with locations at another's hub sends to that rank.
struct SentPart {
  uint32_t there, here;  ///< the receiver's number of the hub, and the sender's
  bool signals, awaits;
};

std::vector<bool> find_awaited(const Dependences& found) {
  std::vector<bool> awaited(found.hubs.size());
  for (const Mark& mark : found.marks) {
    if (mark.kind() == MarkKind::gate) awaited[mark.target] = true;
  }
  return awaited;
}

}  // namespace

Audience count_elsewhere(const Run& run, Dependences& found, std::vector<uint32_t>& signals) {
  Transport& ranks = *run.ranks;
  Audience audience;
  if (ranks.alone()) return audience;
  const std::vector<bool> awaited = find_awaited(found);
  std::vector<Column<SentPart>> parts(ranks.size());
  for (HubElsewhere& hub : found.hubs_elsewhere) {
    hub.awaited = awaited[hub.here];
    parts[hub.rank].push_back({hub.there, hub.here, signals[hub.here] > 0, hub.awaited});
  }
  parts = exchange(ranks, std::move(parts));
  for (size_t r = 0; r < parts.size(); ++r) {
    for (const SentPart& part : parts[r]) {
      if (part.signals) ++signals[part.there];
      if (part.awaits) audience.push_back({part.there, static_cast<uint32_t>(r), part.here});
    }
  }
  std::stable_sort(audience.begin(), audience.end(),
                   [](const Elsewhere& a, const Elsewhere& b) { return a.here < b.here; });
  // Whether any location comes at all: at a hub without signals none waits.
  std::vector<Column<uint8_t>> comes(parts.size());
  for (size_t r = 0; r < parts.size(); ++r) {
    for (const SentPart& part : parts[r]) comes[r].push_back(signals[part.there] > 0 ? 1 : 0);
  }
  comes = exchange(ranks, std::move(comes));
  std::vector<size_t> next(comes.size());
  for (HubElsewhere& hub : found.hubs_elsewhere) {
    const bool opens = comes[hub.rank][next[hub.rank]++] != 0;
    hub.awaited &= opens;
    if (hub.awaited) ++signals[hub.here];
  }
  std::erase_if(audience, [&](const Elsewhere& one) { return signals[one.here] == 0; });
  return audience;
}

}  // namespace culprit::predict
