// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The detectors by number, and which of them are to run. The table is detectors.def.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace culprit::replay {

enum class Detector : uint8_t {
#define DETECTOR(id, what) id,
#include "replay/model/detectors.def"
#undef DETECTOR
};

/// A row of detectors.def, which explains the columns.
struct DetectorText {
  std::string_view id, what;
};

inline constexpr std::array kDetectors = {
#define DETECTOR(id, what) DetectorText{#id, what},
#include "replay/model/detectors.def"
#undef DETECTOR
};

/// By Detector.
using DetectorSet = std::bitset<kDetectors.size()>;
using DetectorTimes = std::array<double, kDetectors.size()>;  ///< seconds

}  // namespace culprit::replay
