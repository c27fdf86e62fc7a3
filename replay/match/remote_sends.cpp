// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Most sends are one call from posting to completion, by one thread: then each is 21 to 26 bytes.
#include "replay/match/remote_sends.h"

#include <algorithm>
#include <tuple>

#include "base/parallel.h"
#include "base/ranks/exchange.h"

namespace culprit::replay {

namespace {

RemoteSend remote_send(const Run& run, OpRef ref) {
  RemoteSend send{channel_of(run, ref, true), run.at(ref.location).sends[ref.op].bytes,
                  post_of(run, ref, true), sent_message(run, ref)};
  if (!send.message.completed_at.valid()) send.message.completed = send.message.met;
  return send;
}

struct Header {
  ProcessId from, to;
  bool ordered;
};

/// Everything that one process sent to those of one other rank.
struct Bundle {
  size_t rank;
  Packer packer;
};

std::vector<Bundle> pack(const Run& run, ProcessId process, const MessageEnds& ends) {
  std::vector<Bundle> bundles;
  CompactWriter writer;
  for (size_t i = 0; i < ends.peers.size(); ++i) {
    const size_t rank = run.owner(ends.peers[i]);
    if (rank == run.ranks->rank()) continue;
    if (bundles.empty() || bundles.back().rank != rank) bundles.push_back({rank, {}});
    writer.clear();
    RemoteSend before;
    for (OpRef ref : ends.of(i)) {
      RemoteSend send = remote_send(run, ref);
      code_send(writer, send, before);
      before = send;
    }
    bundles.back().packer.put(Header{process, ends.peers[i], ends.ordered});
    bundles.back().packer.put_list(writer.bytes());
  }
  return bundles;
}

}  // namespace

RemoteSends::RemoteSends(const Run& run, const std::vector<MessageEnds>& sends, unsigned threads) {
  if (run.ranks->alone()) return;
  std::vector<std::vector<Bundle>> bundles(sends.size());
  parallel_for(sends.size(), threads,
               [&](size_t p) { bundles[p] = pack(run, ProcessId(p), sends[p]); });
  std::vector<Packer> to(run.ranks->size());
  for (std::vector<Bundle>& of_process : bundles) {
    for (Bundle& bundle : of_process) to[bundle.rank].append(bundle.packer.take());
    of_process.clear();
  }
  parcels_ = exchange(*run.ranks, std::move(to));
  for (const Parcel& parcel : parcels_) {
    for (Unpacker unpacker(parcel); !unpacker.done();) {
      const auto header = unpacker.get<Header>();
      pairs_.push_back({header.from, header.to, header.ordered, unpacker.get_bytes()});
    }
  }
}

const RemoteSends::Pair* RemoteSends::find(ProcessId from, ProcessId to) const {
  const auto found = std::lower_bound(
      pairs_.begin(), pairs_.end(), std::tuple(from, to),
      [](const Pair& pair, const auto& wanted) { return std::tuple(pair.from, pair.to) < wanted; });
  return found != pairs_.end() && found->from == from && found->to == to ? &*found : nullptr;
}

void RemoteSends::unpack(const Pair& pair, std::vector<RemoteSend>& sends) {
  sends.clear();
  RemoteSend before;
  for (CompactReader reader(pair.bytes); !reader.done();) {
    code_send(reader, sends.emplace_back(), before);
    before = sends.back();
  }
}

}  // namespace culprit::replay
