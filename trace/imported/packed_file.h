// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The text of a regular file, plain or packed by gzip, in pieces: a trace may be larger than the
// memory. What its author could do to the reader is limited: only regular files are opened, and a
// damaged or cut packing ends the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/files/regular_file.h"
#include "base/result.h"

namespace culprit::trace {

class PackedFile {
 public:
  /// Links are followed, as users expect of files that they name.
  static Result<PackedFile> open(const std::filesystem::path& file);
  PackedFile(PackedFile&&) noexcept;
  PackedFile& operator=(PackedFile&&) = delete;
  ~PackedFile();

  /// Puts the next bytes of the text into `to`; 0 at its end.
  size_t read(char* to, size_t bytes);
  /// The packing is damaged, or ends too early. The text before is what it was.
  bool damaged() const { return damaged_; }
  /// Bytes on disk.
  uint64_t size() const { return file_.size(); }

 private:
  struct Unpacker;
  explicit PackedFile(RegularFile file);
  size_t unpack(char* to, size_t bytes);

  RegularFile file_;
  uint64_t at_ = 0;
  std::unique_ptr<Unpacker> unpacker_;  ///< none: the file is plain
  bool damaged_ = false;
};

}  // namespace culprit::trace
