// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the text form calls things: names of collectives, and what a region's name says of it.
#pragma once

#include <optional>
#include <string_view>

#include "trace/definitions.h"
#include "trace/events.h"

namespace culprit::trace {

/// Of "0.1ms"; 0 if that is no time from 1 ns to 1000 s.
int64_t nanos_of_unit(std::string_view text);
std::optional<CollectiveOp> collective_named(std::string_view name);
bool is_rooted(CollectiveOp op);

/// The role and paradigm that a region of this name has in Score-P's traces.
Region region_from_name(std::string_view name);

}  // namespace culprit::trace
