// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The byte with which a packed record begins (trace/raw/packed.h). For what packs and unpacks only.
#pragma once

#include <cstdint>

namespace culprit::trace::raw_packed {

inline constexpr uint8_t kRawDiffersShape = 1, kRawDiffersArg = 2, kRawDiffersFlags = 4,
                         kRawDiffersWords = 8;
inline constexpr unsigned kRawTimeShift = 4;
/// A time of more bytes takes eight, and one more than this is noted.
inline constexpr unsigned kRawShortTime = 6;

}  // namespace culprit::trace::raw_packed
