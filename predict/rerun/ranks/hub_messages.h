// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Times at hubs on their way between ranks, each of which walks its own locations. A rank that can
// do nothing else waits for what others send. When all wait and nothing is on its way, the walk is
// over, whether or not all have come to their ends: a token goes round that adds up what was sent
// and received (E. Dijkstra: Shmuel Safra's version of termination detection, EWD 998, 1987).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/ranks/stream.h"

namespace culprit::predict {

class HubMessages {
 public:
  /// A message has a hub and this number of times.
  HubMessages(Transport& ranks, size_t times);

  /// `hub`: the receiver's number of it.
  void send(size_t rank, uint32_t hub, const double* times);
  /// Waits for messages and calls take(hub, times) for each. Returns false, on all ranks, when
  /// there will be no more. All parcels have been received then.
  template <class Take>
  bool receive(const Take& take) {
    Parcel parcel;
    if (!next(parcel)) return false;
    const size_t size = sizeof(uint32_t) + times_ * sizeof(double);
    for (size_t at = 1; at < parcel.size(); at += size) {
      uint32_t hub = 0;
      std::memcpy(&hub, parcel.data() + at, sizeof hub);
      std::memcpy(came_.data(), parcel.data() + at + sizeof hub, times_ * sizeof(double));
      take(hub, came_.data());
    }
    return true;
  }

 private:
  enum class Kind : uint8_t { messages, token, end };
  struct Token {
    int64_t on_their_way = 0;  ///< parcels sent, less those received, of ranks that it has passed
    bool stirred = false;      ///< one of them has received something meanwhile
  };

  bool next(Parcel& parcel);
  void flush();
  void flush(size_t rank);
  /// Returns whether it is known that all is over.
  bool pass_token_on();
  void give(size_t rank, Kind kind, std::span<const std::byte> content);

  Transport& ranks_;
  const size_t times_;
  std::vector<Parcel> parcels_;  ///< by rank, what has not been sent
  std::vector<double> came_;
  int64_t on_their_way_ = 0;
  bool stirred_ = false;
  bool has_token_, is_first_round_ = true;
  Token token_;
};

}  // namespace culprit::predict
