// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What culprit attach has seen, for people and for programs.
#pragma once

#include <cstddef>
#include <string>

#include "assemble/attach/seen.h"

namespace culprit::cli {

/// `top`: lines of each list, 0: all.
std::string seen_page(const assemble::attach::Seen& seen, size_t top);
std::string seen_json(const assemble::attach::Seen& seen);

}  // namespace culprit::cli
