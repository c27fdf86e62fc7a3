// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The counter by which recorded runs tell, function by function, for how many nanoseconds a thread
// could have run and had no core.
#pragma once

#include <string_view>

namespace culprit {

inline constexpr std::string_view kNoCoreCounter = "no core";

}  // namespace culprit
