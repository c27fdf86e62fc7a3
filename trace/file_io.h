// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The parts of file input and output, in MPI's terms (OTF2's Io* records): a handle is opened by a
// communicator, and transfers go through it. Which bytes of the file they touch is not kept.
#pragma once

#include <cstdint>

#include "base/ids.h"

namespace culprit::trace {

/// How a handle was opened, as a set. Without `read` and `write`: unknown.
enum class FileAccess : uint16_t {
  none = 0,
  read = 1,
  write = 2,
  create = 4,
  exclusive = 8,
  append = 16,
  delete_on_close = 32,
  unique = 64,       ///< no other process has it open
  sequential = 128,  ///< no seeking
};
constexpr FileAccess operator|(FileAccess a, FileAccess b) {
  return static_cast<FileAccess>(static_cast<uint16_t>(a) | static_cast<uint16_t>(b));
}
constexpr bool has(FileAccess set, FileAccess one) {
  return (static_cast<uint16_t>(set) & static_cast<uint16_t>(one)) != 0;
}

enum class FileMode : uint8_t { read, write, flush };

/// Says which transfer a completion completes; unique on a location.
enum class FileOpId : uint64_t {};

struct FileOperation {
  FileId file;
  FileMode mode = FileMode::read;
  bool collective = false;
  bool nonblocking = false;  ///< completes in another call; split collectives too
  uint64_t bytes = 0;        ///< asked for
  FileOpId id{};
};

}  // namespace culprit::trace
