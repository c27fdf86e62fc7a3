// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where functions begin in a stripped file: its .eh_frame_hdr is a sorted table of them, which
// exception handling needs and no strip removes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace culprit::assemble {

/// The beginning of the function that `address` lies in. `table`: the contents of .eh_frame_hdr,
/// which lies at `table_address`. Knows the one encoding that linkers write.
std::optional<uint64_t> find_function_begin(std::span<const std::byte> table,
                                            uint64_t table_address, uint64_t address);

}  // namespace culprit::assemble
