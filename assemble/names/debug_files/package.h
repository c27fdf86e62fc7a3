// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which package of the system a file came with, by the lists that dpkg keeps.
#pragma once

#include <filesystem>
#include <string>

namespace culprit::assemble {

/// Empty if none, or if this system has no such lists. Looks through all of them: some 10 ms.
std::string package_of(const std::filesystem::path& file,
                       const std::filesystem::path& lists = "/var/lib/dpkg/info");

}  // namespace culprit::assemble
