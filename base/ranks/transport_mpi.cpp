// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Analysis ranks on MPI: a library of its own for each MPI that the build found, opened by culprit
// when a launcher of that MPI has started it several times. A parcel may be larger than MPI's
// counts say, so it goes in pieces; most pairs of ranks have nothing for each other, so only what
// is there is sent. Errors end all ranks, as MPI does by default.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>

#include "base/ranks/stream.h"

namespace culprit {

namespace {

class MpiTransport final : public Transport, public Stream {
 public:
  MpiTransport() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiTransport() override {
    for (Sent& sent : on_their_way_) MPI_Wait(&sent.request, MPI_STATUS_IGNORE);
    MPI_Finalize();
  }

  size_t rank() const override { return static_cast<size_t>(rank_); }
  size_t size() const override { return static_cast<size_t>(size_); }
  void give_up(const char* why) override {
    std::fprintf(stderr, "culprit: %s (rank %d of the analysis, on %s)\n", why, rank_,
                 node().c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  std::vector<Parcel> exchange(std::vector<Parcel> to) override {
    std::vector<Parcel> got(to.size());
    std::swap(got[rank()], to[rank()]);
    const std::vector<uint64_t> sizes = exchange_sizes(to);
    std::vector<MPI_Request> requests;
    for (size_t r = 0; r < to.size(); ++r) {
      if (r == rank()) continue;
      got[r].resize_uninitialized(sizes[r]);
      in_pieces(got[r], [&](std::byte* piece, int bytes) {
        MPI_Irecv(piece, bytes, MPI_BYTE, static_cast<int>(r), kTag, MPI_COMM_WORLD,
                  &requests.emplace_back());
      });
    }
    for (size_t r = 0; r < to.size(); ++r) {
      in_pieces(to[r], [&](std::byte* piece, int bytes) {
        MPI_Isend(piece, bytes, MPI_BYTE, static_cast<int>(r), kTag, MPI_COMM_WORLD,
                  &requests.emplace_back());
      });
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    return got;
  }

  void send(size_t to, Parcel parcel) override {
    std::erase_if(on_their_way_, [](Sent& sent) {
      int done = 0;
      MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
    Sent& sent = on_their_way_.emplace_back();
    sent.parcel = std::move(parcel);
    MPI_Isend(sent.parcel.data(), static_cast<int>(sent.parcel.size()), MPI_BYTE,
              static_cast<int>(to), kStreamTag, MPI_COMM_WORLD, &sent.request);
  }

  Parcel receive() override {
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    wait_sparingly([&](int& there) {
      MPI_Improbe(MPI_ANY_SOURCE, kStreamTag, MPI_COMM_WORLD, &there, &message, &status);
    });
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    Parcel parcel;
    parcel.resize_uninitialized(static_cast<size_t>(bytes));
    MPI_Mrecv(parcel.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    return parcel;
  }

  std::vector<RoundTrip> ping_pong(const PingPong& what) override {
    const auto partner = static_cast<int>(what.partner);
    const auto bytes = static_cast<int>(std::min(what.bytes, kPiece));
    std::vector<std::byte> out(what.bytes), in(what.bytes);
    const auto send = [&] { MPI_Send(out.data(), bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD); };
    const auto receive = [&] {
      MPI_Recv(in.data(), bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    };
    std::vector<RoundTrip> trips;
    for (size_t i = 0; i < what.repeats; ++i) {
      if (rank() > what.partner) {
        receive();
        send();
        continue;
      }
      const Time begin = now();
      send();
      const Time sent = now();
      while (now() - sent < what.hold) {
      }
      const Time ready = now();
      receive();
      const Time end = now();
      trips.push_back({end - begin, sent - begin, end - ready});
    }
    return trips;
  }

 private:
  static Time now() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return Time::from_nanos(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
  }

  static constexpr int kTag = 0, kStreamTag = 1;
  static constexpr size_t kPiece = size_t{1} << 28;

  /// How many bytes each has for this one.
  static std::vector<uint64_t> exchange_sizes(const std::vector<Parcel>& to) {
    std::vector<uint64_t> given, got(to.size());
    for (const Parcel& parcel : to) given.push_back(parcel.size());
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ialltoall(given.data(), 1, MPI_UINT64_T, got.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD, &all);
    wait_sparingly([&](int& done) { MPI_Test(&all, &done, MPI_STATUS_IGNORE); });
    return got;
  }

  /// One rank may have much to do alone (sorting what all found), and its threads can use the cores
  /// on which the others would spin in MPI. Where ranks take turns, a sleep at each turn would take
  /// longer than all that they do, so they only make way for others at first.
  template <class Test>
  static void wait_sparingly(const Test& test) {
    constexpr int kSpins = 100;
    constexpr Duration kPatience = Duration::from_nanos(2'000'000);
    int done = 0;
    Time begin;
    for (int i = 0; test(done), done == 0; ++i) {
      if (i < kSpins) continue;
      if (i == kSpins) begin = now();
      if (now() - begin < kPatience) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    }
  }

  template <class Transfer>
  static void in_pieces(Parcel& parcel, const Transfer& transfer) {
    for (size_t at = 0; at < parcel.size(); at += kPiece) {
      transfer(parcel.data() + at, static_cast<int>(std::min(kPiece, parcel.size() - at)));
    }
  }

  /// A parcel that MPI may still need.
  struct Sent {
    Parcel parcel;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  int rank_ = 0, size_ = 1;
  std::vector<Sent> on_their_way_;
};

}  // namespace

}  // namespace culprit

/// Starts MPI; deleting what it returns ends MPI. Once in a process.
extern "C" __attribute__((visibility("default"))) culprit::Transport* culprit_open_ranks() {
  return new culprit::MpiTransport;
}
