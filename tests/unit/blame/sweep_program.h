// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A sweep code whose waits are known without culprit: processes on a grid, sweeps from corners one
// after the other, blocks that are received from both neighbors upstream, worked on, and sent to
// both downstream. It is played process by process, and drawn as a picture
// (tests/support/text/text.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace culprit::testing_support {

struct SweepProgram {
  struct Sweep {
    std::array<bool, 2> up;  ///< by dimension: from low coordinates to high ones
    uint32_t blocks;
  };
  /// What all processes do after a sweep.
  enum class Between { nothing, barrier, halo, halo_elsewhere, halo_called_elsewhere };

  std::array<uint32_t, 2> size;
  std::vector<Sweep> sweeps;
  std::vector<std::vector<uint32_t>> work;  ///< by process and sweep, of one block
  bool grid = true;                         ///< the picture tells of it
  bool waitall = false;                     ///< receives are posted first
  bool second_first = false;                ///< dimension 1 before dimension 0
  Between between = Between::nothing;
  bool setup = false;  ///< a halo_called_elsewhere before all sweeps

  static SweepProgram random(uint32_t seed);
};

struct SweepWaits {
  uint64_t waits = 0, time = 0;
  bool operator==(const SweepWaits&) const = default;
};

struct PlayedSweeps {
  std::string picture;                     ///< one character is 1 ms
  std::map<uint32_t, SweepWaits> refills;  ///< ms, by rank of the corner
  uint64_t waiting = 0;                    ///< of all receives
};

PlayedSweeps play(const SweepProgram& program);

}  // namespace culprit::testing_support
