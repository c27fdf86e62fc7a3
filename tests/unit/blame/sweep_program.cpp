// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A process waits for a message from when it enters its receive (or the one call that completes
// both) until the sender enters its send. A refill is such a wait for the first block of a sweep
// that goes the other way in a dimension than the sweep before it. Sends take one character, and so
// does what is left of a receive.
#include "tests/unit/blame/sweep_program.h"

#include <algorithm>
#include <optional>
#include <random>

namespace culprit::testing_support {

namespace {

class Player {
 public:
  explicit Player(const SweepProgram& program)
      : program_(program), lanes_(program.size[0] * program.size[1]) {}

  PlayedSweeps play() {
    judge_directions();
    if (program_.setup) halo(0, "stqr");
    for (size_t s = 0; s < program_.sweeps.size(); ++s) {
      sweep(s);
      if (program_.between == SweepProgram::Between::barrier) barrier();
      if (program_.between == SweepProgram::Between::halo) halo(0, "STRQ");
      if (program_.between == SweepProgram::Between::halo_elsewhere) halo(1, "STRQ");
      if (program_.between == SweepProgram::Between::halo_called_elsewhere) halo(0, "stqr");
    }
    played_.picture = picture();
    return std::move(played_);
  }

 private:
  using Sweep = SweepProgram::Sweep;
  struct Receive {
    uint32_t from;
    uint64_t at, sent;
  };

  uint32_t count() const { return static_cast<uint32_t>(lanes_.size()); }
  std::array<uint32_t, 2> place(uint32_t p) const {
    return {p / program_.size[1], p % program_.size[1]};
  }
  /// The neighbor one step along a dimension.
  std::optional<uint32_t> neighbor(uint32_t p, size_t dimension, bool up) const {
    auto at = place(p);
    if (up ? at[dimension] + 1 == program_.size[dimension] : at[dimension] == 0) return {};
    at[dimension] += up ? 1u : ~0u;
    return at[0] * program_.size[1] + at[1];
  }
  uint32_t corner(const Sweep& sweep) const {
    return (sweep.up[0] ? 0 : program_.size[0] - 1) * program_.size[1] +
           (sweep.up[1] ? 0 : program_.size[1] - 1);
  }
  /// One after the other they look like one sweep: no process sees a difference.
  bool same_way(const Sweep& a, const Sweep& b) const { return corner(a) == corner(b); }

  /// Which sweeps begin after one that went another way, of those that can be known as sweeps: with
  /// a process in between, and a grid or several blocks.
  void judge_directions() {
    const std::vector<Sweep>& sweeps = program_.sweeps;
    std::vector<size_t> begins;  // of sweeps in a row that go the same way
    std::map<uint32_t, bool> known;
    for (size_t s = 0, blocks = 0; s < sweeps.size(); ++s) {
      const bool begin = s == 0 || !same_way(sweeps[s - 1], sweeps[s]) || cuts();
      if (begin) begins.push_back(s), blocks = 0;
      blocks += sweeps[s].blocks;
      const bool deep = program_.size[0] + program_.size[1] >= 4;
      known[corner(sweeps[s])] |= deep && (program_.grid || blocks >= 2);
    }
    turned_.assign(sweeps.size(), false);
    const Sweep* last = nullptr;
    for (size_t s : begins) {
      if (!known[corner(sweeps[s])]) continue;
      turned_[s] = last != nullptr && !same_way(*last, sweeps[s]);
      last = &sweeps[s];
    }
  }
  /// Whether what is between sweeps tells them apart on their own communicator.
  bool cuts() const {
    return program_.between == SweepProgram::Between::halo ||
           program_.between == SweepProgram::Between::halo_called_elsewhere;
  }

  char draw(uint32_t p, std::string_view letters, uint64_t length) {
    std::string& lane = lanes_[p];
    const char letter =
        !lane.empty() && lane.back() == letters.front() ? letters.back() : letters.front();
    lane.append(length, letter);
    return letter;
  }
  uint64_t now(uint32_t p) const { return lanes_[p].size(); }
  static std::string lane_name(uint32_t p) { return std::to_string(p) + ".0"; }

  void sweep(size_t s) {
    const Sweep& sweep = program_.sweeps[s];
    std::vector<uint32_t> order(count());
    for (uint32_t p = 0; p < count(); ++p) order[p] = p;
    const auto distance = [&](uint32_t p) {
      uint32_t sum = 0;
      for (size_t d = 0; d < 2; ++d) {
        sum += sweep.up[d] ? place(p)[d] : program_.size[d] - 1 - place(p)[d];
      }
      return sum;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return distance(a) < distance(b); });
    sent_.clear();
    for (uint32_t p : order) {
      for (uint32_t block = 0; block < sweep.blocks; ++block) {
        receive(p, s, block);
        draw(p, "w", program_.work[p][s]);
        for (size_t d : dimensions()) {
          const auto to = neighbor(p, d, sweep.up[d]);
          if (!to) continue;
          sent_[{p, *to}].push_back(now(p));
          draw(p, "ST", 1);
        }
      }
    }
  }

  std::array<size_t, 2> dimensions() const {
    return program_.second_first ? std::array<size_t, 2>{1, 0} : std::array<size_t, 2>{0, 1};
  }

  void receive(uint32_t p, size_t s, uint32_t block) {
    const Sweep& sweep = program_.sweeps[s];
    std::vector<Receive> receives;
    for (size_t d : dimensions()) {
      const auto from = neighbor(p, d, !sweep.up[d]);
      if (!from) continue;
      receives.push_back({*from, now(p), sent_[{*from, p}][block]});
      if (program_.waitall) {
        draw(p, "IJ", 1);
      } else {
        tell(receives.back(), p, "");
        wait(p, now(p), receives.back().sent, turned_[s] && block == 0 ? &sweep : nullptr, "RQ");
      }
    }
    if (receives.empty() || !program_.waitall) return;
    const uint64_t begin = now(p);
    uint64_t latest = 0;
    for (const Receive& each : receives) {
      tell(each, p, " wait " + std::to_string(begin));
      latest = std::max(latest, each.sent);
    }
    wait(p, begin, latest, turned_[s] && block == 0 ? &sweep : nullptr, "AB");
  }

  void tell(const Receive& receive, uint32_t to, const std::string& wait) {
    events_ += "  send " + lane_name(receive.from) + "@" + std::to_string(receive.sent) + " -> " +
               (wait.empty() ? "" : "i") + (wait.empty() ? "" : "recv ") + lane_name(to) + "@" +
               std::to_string(receive.at) + wait + "\n";
  }

  void wait(uint32_t p, uint64_t begin, uint64_t sent, const Sweep* turned,
            std::string_view letters) {
    const uint64_t waited = sent > begin ? sent - begin : 0;
    draw(p, letters, waited + 1);
    played_.waiting += waited;
    if (turned == nullptr || waited == 0) return;
    SweepWaits& sum = played_.refills[corner(*turned)];
    ++sum.waits;
    sum.time += waited;
  }

  void barrier() {
    uint64_t last = 0;
    for (uint32_t p = 0; p < count(); ++p) last = std::max(last, now(p));
    events_ += "  barrier";
    for (uint32_t p = 0; p < count(); ++p) {
      events_ += " " + lane_name(p) + "@" + std::to_string(now(p));
      draw(p, "b", last + 1 - now(p));
    }
    events_ += "\n";
  }

  /// Each sends to all neighbors, then receives from all; with the letters for that.
  void halo(uint32_t comm, std::string_view letters) {
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> sent;
    const auto each_neighbor = [&](uint32_t p, const auto& visit) {
      for (size_t d = 0; d < 2; ++d) {
        for (const bool up : {false, true}) {
          if (const auto peer = neighbor(p, d, up)) visit(*peer);
        }
      }
    };
    for (uint32_t p = 0; p < count(); ++p) {
      each_neighbor(p, [&](uint32_t to) {
        sent[{p, to}] = now(p);
        draw(p, letters.substr(0, 2), 1);
      });
    }
    for (uint32_t p = 0; p < count(); ++p) {
      each_neighbor(p, [&](uint32_t from) {
        events_ += "  send " + lane_name(from) + "@" + std::to_string(sent[{from, p}]) + " -> " +
                   lane_name(p) + "@" + std::to_string(now(p)) + " comm " + std::to_string(comm) +
                   "\n";
        wait(p, now(p), sent[{from, p}], nullptr, letters.substr(2));
      });
    }
  }

  std::string picture() const {
    std::string text =
        "unit 1ms\nregions\n  w main/work\n  S main/MPI_Send\n  T main/MPI_Send\n"
        "  R main/MPI_Recv\n  Q main/MPI_Recv\n  I main/MPI_Irecv\n  J main/MPI_Irecv\n"
        "  s main/other/MPI_Send\n  t main/other/MPI_Send\n"
        "  q main/other/MPI_Recv\n  r main/other/MPI_Recv\n"
        "  A main/MPI_Waitall\n  B main/MPI_Waitall\n  b main/MPI_Barrier\n  e main/end\nlanes\n";
    for (uint32_t p = 0; p < count(); ++p) text += "  " + lane_name(p) + " |" + lanes_[p] + "e\n";
    text += "comms\n  1:";
    for (uint32_t p = 0; p < count(); ++p) text += " " + std::to_string(p);
    if (program_.grid) {
      text += "\ngrids\n  0: " + std::to_string(program_.size[0]) + " " +
              std::to_string(program_.size[1]);
    }
    return text + "\nevents\n" + events_ + "---\n";
  }

  const SweepProgram& program_;
  std::vector<std::string> lanes_;
  std::vector<bool> turned_;                                             // by sweep
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint64_t>> sent_;  // of this sweep
  std::string events_;
  PlayedSweeps played_;
};

}  // namespace

SweepProgram SweepProgram::random(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  SweepProgram program;
  program.size = {1 + below(4), 1 + below(4)};
  const uint32_t sweeps = 1 + below(6);
  const uint32_t most_blocks = 1 + below(4);
  for (uint32_t s = 0; s < sweeps; ++s) {
    program.sweeps.push_back({{below(2) == 0, below(2) == 0}, 1 + below(most_blocks)});
  }
  program.work.resize(size_t{program.size[0]} * program.size[1]);
  for (auto& of_process : program.work) {
    for (uint32_t s = 0; s < sweeps; ++s) of_process.push_back(1 + below(below(10) == 0 ? 40 : 6));
  }
  program.grid = below(2) == 0;
  program.waitall = below(3) == 0;
  program.second_first = below(2) == 0;
  constexpr Between kAll[] = {Between::nothing, Between::barrier, Between::halo,
                              Between::halo_elsewhere};
  program.between = kAll[below(4)];
  return program;
}

PlayedSweeps play(const SweepProgram& program) {
  return Player(program).play();
}

}  // namespace culprit::testing_support
