// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Ranks pass the token on only when they have nothing to do. Each adds the parcels that it has sent
// less those that it has received. Where the sum is 0, and no rank has received anything since
// the token was there last, none is on its way, and the first rank says so to all.
#include "predict/rerun/ranks/hub_messages.h"

#include <utility>

namespace culprit::predict {

namespace {

constexpr size_t kParcel = size_t{1} << 16;

void append(Parcel& parcel, const void* data, size_t bytes) {
  const size_t before = parcel.size();
  parcel.resize_uninitialized(before + bytes);
  std::memcpy(parcel.data() + before, data, bytes);
}

}  // namespace

HubMessages::HubMessages(Transport& ranks, size_t times)
    : ranks_(ranks),
      times_(times),
      parcels_(ranks.size()),
      came_(times),
      has_token_(ranks.rank() == 0) {}

void HubMessages::send(size_t rank, uint32_t hub, const double* times) {
  Parcel& parcel = parcels_[rank];
  if (parcel.empty()) parcel.push_back(static_cast<std::byte>(Kind::messages));
  append(parcel, &hub, sizeof hub);
  append(parcel, times, times_ * sizeof(double));
  if (parcel.size() >= kParcel) flush(rank);
}

void HubMessages::flush() {
  for (size_t rank = 0; rank < parcels_.size(); ++rank) flush(rank);
}

void HubMessages::flush(size_t rank) {
  if (parcels_[rank].empty()) return;
  ++on_their_way_;
  stream_of(ranks_).send(rank, std::exchange(parcels_[rank], {}));
}

void HubMessages::give(size_t rank, Kind kind, std::span<const std::byte> content) {
  Parcel parcel;
  parcel.push_back(static_cast<std::byte>(kind));
  append(parcel, content.data(), content.size());
  stream_of(ranks_).send(rank, std::move(parcel));
}

bool HubMessages::next(Parcel& parcel) {
  if (ranks_.alone()) return false;
  flush();
  for (;;) {
    if (has_token_ && pass_token_on()) return false;
    parcel = stream_of(ranks_).receive();
    switch (static_cast<Kind>(parcel[0])) {
      case Kind::messages:
        --on_their_way_;
        stirred_ = true;
        return true;
      case Kind::token:
        std::memcpy(&token_, parcel.data() + 1, sizeof token_);
        has_token_ = true;
        break;
      case Kind::end:
        return false;
    }
  }
}

bool HubMessages::pass_token_on() {
  const bool first = ranks_.rank() == 0;
  token_.on_their_way += on_their_way_;
  token_.stirred |= stirred_;
  if (first) {
    if (!is_first_round_ && !token_.stirred && token_.on_their_way == 0) {
      for (size_t rank = 1; rank < ranks_.size(); ++rank) give(rank, Kind::end, {});
      return true;
    }
    token_ = {};
    is_first_round_ = false;
  }
  stirred_ = false;
  has_token_ = false;
  give((ranks_.rank() + 1) % ranks_.size(), Kind::token, std::as_bytes(std::span(&token_, 1)));
  return false;
}

}  // namespace culprit::predict
