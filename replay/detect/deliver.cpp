// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Delivers findings to the locations that they concern: from thread to thread, and from rank to
// rank. A group is sent as its list of members, because each rank numbers groups by itself.
#include <algorithm>
#include <utility>

#include "base/flat_map.h"
#include "base/parallel.h"
#include "replay/detect/detection.h"

namespace culprit::replay {

void Outbox::wait(LocationId at, Pattern pattern, const Call& call, Time until, LocationId cause) {
  waits_.push_back({at, pattern, cause, call, until, false});
}

void Outbox::tie(LocationId at, Pattern pattern, const Call& call, Time until, LocationId cause) {
  waits_.push_back({at, pattern, cause, call, until, true});
}

SyncGroupId Detection::group_of(const std::vector<LocationId>& members) {
  const std::lock_guard lock(mutex_);
  const auto [it, fresh] = group_ids_.try_emplace(members, SyncGroupId(groups.size()));
  if (fresh) groups.push_back({members});
  return it->second;
}

void Detection::deliver(std::span<Outbox> outboxes, unsigned threads) {
  std::vector<Outbox> received;
  if (!run_.ranks->alone()) received = exchange_told(outboxes);
  threads = thread_count(threads);
  parallel_for(threads, threads, [&](size_t share) {
    const auto mine = [&](LocationId at) { return at.index() % threads == share; };
    for (const std::span<Outbox> boxes : {outboxes, std::span(received)}) {
      for (const Outbox& box : boxes) {
        for (const Outbox::RemoteWait& told : box.waits_) {
          if (!mine(told.at)) continue;
          const auto tell = told.is_tie ? &LocationWaits::tie : &LocationWaits::wait;
          (at(told.at).*tell)(told.pattern, told.call.path, told.call.enter, told.call.leave,
                              told.until, told.cause);
        }
        for (const Outbox::RemoteSync& told : box.syncs_) {
          if (mine(told.at)) at(told.at).sync(told.sync);
        }
        for (const Outbox::ToldMessage& told : box.messages_) {
          if (mine(told.at)) at(told.at).message(told.more);
        }
        for (const Assisted& told : box.assisted_) {
          if (mine(told.at)) at(told.at).assisted.push_back(told);
        }
      }
    }
  });
  for (Outbox& box : outboxes) box = {};
}

/// Takes the findings about other ranks' locations out of the outboxes and sends them. Returns the
/// findings received, by rank.
std::vector<Outbox> Detection::exchange_told(std::span<Outbox> outboxes) {
  std::vector<Outbox> to(run_.ranks->size());
  const auto sort_out = [&](auto list) {
    for (Outbox& box : outboxes) {
      size_t kept = 0;
      for (const auto& told : box.*list) {
        if (const size_t owner = run_.owner(told.at); owner != run_.ranks->rank()) {
          (to[owner].*list).push_back(told);
        } else {
          (box.*list)[kept++] = told;
        }
      }
      (box.*list).resize_uninitialized(kept);
    }
  };
  sort_out(&Outbox::waits_);
  sort_out(&Outbox::syncs_);
  sort_out(&Outbox::messages_);
  sort_out(&Outbox::assisted_);
  std::vector<Packer> packers(to.size());
  for (size_t rank = 0; rank < to.size(); ++rank) {
    pack_told(to[rank], packers[rank]);
    to[rank] = {};
  }
  const std::vector<Parcel> parcels = exchange(*run_.ranks, std::move(packers));
  for (size_t rank = 0; rank < to.size(); ++rank) to[rank] = unpack_told(parcels[rank]);
  return to;
}

/// The groups that occur come first, by the sender's numbers, terminated by an invalid number.
void Detection::pack_told(const Outbox& told, Packer& packer) const {
  std::vector<bool> packed(groups.size());
  for (const auto& [at, sync] : told.syncs_) {
    if (!sync.of_group() || packed[sync.group().index()]) continue;
    packed[sync.group().index()] = true;
    packer.put(sync.group());
    packer.put_list(std::span(groups[sync.group().index()].members));
  }
  packer.put(SyncGroupId::none());
  packer.put_list(std::span<const Outbox::RemoteWait>(told.waits_));
  packer.put_list(std::span<const Outbox::RemoteSync>(told.syncs_));
  packer.put_list(std::span<const Outbox::ToldMessage>(told.messages_));
  packer.put_list(std::span<const Assisted>(told.assisted_));
}

Outbox Detection::unpack_told(const Parcel& parcel) {
  Unpacker unpacker(parcel);
  FlatMap own;
  for (auto id = unpacker.get<SyncGroupId>(); id.valid(); id = unpacker.get<SyncGroupId>()) {
    own.set(id.index(), static_cast<uint32_t>(group_of(unpacker.get_list<LocationId>()).index()));
  }
  Outbox told;
  unpacker.get_list<Outbox::RemoteWait>(
      [&](const Outbox::RemoteWait& wait) { told.waits_.push_back(wait); });
  unpacker.get_list<Outbox::RemoteSync>([&](Outbox::RemoteSync sync) {
    if (sync.sync.of_group()) {
      sync.sync = sync.sync.renumbered(SyncGroupId(own.find(sync.sync.group().index())));
    }
    told.syncs_.push_back(sync);
  });
  unpacker.get_list<Outbox::ToldMessage>(
      [&](const Outbox::ToldMessage& message) { told.messages_.push_back(message); });
  unpacker.get_list<Assisted>(
      [&](const Assisted& operation) { told.assisted_.push_back(operation); });
  return told;
}

}  // namespace culprit::replay
