// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A look at the anchor file before OTF2 reads it. OTF2 believes the number of properties that it
// finds there and loops over it: one damaged byte costs minutes and gigabytes.
#pragma once

#include <filesystem>
#include <string>

namespace culprit::trace {

/// Why the file cannot be an OTF2 anchor; empty if it looks like one.
std::string anchor_refusal(const std::filesystem::path& anchor);

}  // namespace culprit::trace
