// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The losses from before a trace became an archive, as properties of the archive, so that later
// analyses report them. "CULPRIT::LOSS::0" is "dropped_records 3 data loss: Some records ...".
// (OTF2 writes the names of properties in capitals.)
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/losses.h"

namespace culprit::trace {

/// Names and values.
std::vector<std::pair<std::string, std::string>> properties_of(const Losses& losses);

/// Counts in `losses` what the property tells. False if it is another kind of property.
bool restore_loss(std::string_view name, std::string_view value, Losses& losses);

}  // namespace culprit::trace
