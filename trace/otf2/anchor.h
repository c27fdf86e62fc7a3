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

/// Which of the archive's other files OTF2 must not open: it opens them by name, and links, pipes
/// and devices would lead it elsewhere or block it. Empty if all are files.
std::string refusal_of_files(const std::filesystem::path& anchor);

/// A feature of the archive without which the OTF2 library may have been built, as a clause for an
/// error message; for an anchor file that OTF2 does not open. Empty if there is no such feature.
std::string needed_of_library(const std::filesystem::path& anchor);

/// The anchor file in `folder`: traces.otf2, as most tools name it, or the only one there is. Empty
/// if there is none, or more than one.
std::filesystem::path find_anchor(const std::filesystem::path& folder);

}  // namespace culprit::trace
