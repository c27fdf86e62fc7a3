// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which call launched which operation, where only order and time are known: calls launch in the
// order of their enters (join_device.cpp sees to those of several threads) to a queue that executes
// in that order, an operation does not begin before its call, and has ended when a call returns
// that waited for it. Operations may be missing.
//
// An operation belongs to a call for certain if it does so in every way in which all operations can
// be laid onto calls. Of these ways the one that takes the earliest calls and the one that takes
// the latest suffice: where these two agree, all agree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"

namespace culprit::replay {

/// A call that hands an operation over. In the order of `enter`, in which `done` must not fall.
struct HandedOver {
  Time enter;
  Time done = Time::max();  ///< the first call that waited for it returned
};

/// An operation that a queue executed. Lists are in order.
struct Executed {
  Time begin, end;
};

inline constexpr uint32_t kNoCall = UINT32_MAX;

/// How much the clocks of calls and operations must at least disagree, in steps that double from 1
/// us, so that all operations can be laid onto calls. Time::max() - Time() if that would be more
/// than 128 us.
Duration clock_disagreement(std::span<const HandedOver> calls, std::span<const Executed> executed);

/// By operation, its call, or kNoCall if that is not certain. Where operations that could be of the
/// same calls cannot all be laid onto them, none of those is. `slack`: what clocks may disagree.
std::vector<uint32_t> match_in_order(std::span<const HandedOver> calls,
                                     std::span<const Executed> executed, Duration slack);

}  // namespace culprit::replay
