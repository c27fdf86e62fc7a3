// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Several processes that analyse one trace together ("analysis ranks"), as they see each other. All
// run the same passes in the same order; each owns a share of the trace's processes (shares.h).
// Mostly every rank sends every rank a parcel of bytes, since replay and blame look beyond a
// process at a few places, and there in bulk. Single parcels go through stream.h. Besides, two of
// them can time messages between them, for those who measure machines.
//
// exchange.h makes parcels of types. The implementation on MPI is a library of its own, opened at
// run time (transport_mpi.cpp), so that culprit runs where there is no MPI; Alone is all that is
// needed without. Tests use threads (tests/support/rank_threads.h).
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/column.h"
#include "base/time.h"

namespace culprit {

using Parcel = Column<std::byte>;

/// Messages back and forth between two ranks.
struct PingPong {
  size_t partner = 0;
  size_t bytes = 0;
  size_t repeats = 0;
  Duration hold;  ///< that the lower rank keeps from receiving after it has sent
};
/// One of them, as the lower rank sees it.
struct RoundTrip {
  Duration whole;               ///< with `hold` in it
  Duration sending, receiving;  ///< in the call that sent, and in the one that received
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual size_t rank() const = 0;
  virtual size_t size() const = 0;  ///< at least 1

  /// Collective: all ranks call it, with one parcel for each rank, by rank. Returns what each rank
  /// had for this one, by rank. MT: by one thread of a rank at a time.
  virtual std::vector<Parcel> exchange(std::vector<Parcel> to) = 0;

  /// Ends all ranks at once: this one cannot go on, and the others would wait for it forever.
  /// Does nothing where there are no others.
  virtual void give_up(const char* why) = 0;

  /// Both ranks call it, with the same but for the partner. Returns the repeats to the lower rank,
  /// and nothing to the higher; nothing to either where messages cannot be timed.
  virtual std::vector<RoundTrip> ping_pong(const PingPong&) { return {}; }

  /// The name of the machine that this rank runs on.
  virtual std::string node() const;

  bool alone() const { return size() == 1; }
};

/// The only rank.
class Alone final : public Transport {
 public:
  size_t rank() const override { return 0; }
  size_t size() const override { return 1; }
  std::vector<Parcel> exchange(std::vector<Parcel> to) override { return to; }
  void give_up(const char*) override {}
};

}  // namespace culprit
