// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The names of NVTX's regions: the message, behind the name of its domain ("NCCL:
// ncclAllReduce") if that has one. Names of domains and registered strings are kept for ever, equal
// ones once. Nothing here locks or throws: a forked child finds what there was, whatever other
// threads were at, and where memory ends, or there are more names than are kept (some thousands of
// strings), the answer is that of a process without a tool. MT: safe.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "gpu/nvtx/abi.h"

namespace culprit::gpu::nvtx {

/// Regions' names are cut here; so are these.
inline constexpr size_t kMostBytes = 255;

struct Text {
  std::array<char, kMostBytes> bytes;
  size_t length = 0;

  std::string_view view() const { return {bytes.data(), length}; }
  void add(std::string_view more);
  /// Appends the text as UTF-8.
  void add(const wchar_t* more);
};

/// A name that is kept; its bytes follow.
struct Kept {
  size_t length;
  std::string_view view() const { return {reinterpret_cast<const char*>(this + 1), length}; }
};
/// Handles of domains and registered strings point to these. A string contains its domain's name.
struct Domain : Kept {};
struct Registered : Kept {};

/// The domain of this name; nullptr, which is the program's default domain, if it cannot be kept.
const Domain* domain_named(std::string_view name);
/// Keeps the string; nullptr if it cannot be kept: ranges that refer to it are unnamed.
const Registered* register_string(const Domain* domain, const Text& string);

Text message(const Domain* domain, const char* text);
Text message(const Domain* domain, const wchar_t* text);
Text message(const Domain* domain, const abi::Attributes* attributes);

}  // namespace culprit::gpu::nvtx
