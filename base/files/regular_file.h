// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Regular files, opened so that their author cannot mislead the reader: a pipe without a writer
// does not block, a device is not touched, and no more is read than the caller can use. Files that
// are not as expected count as missing. Files inside an experiment are reached by GuardedPath
// (guarded_path.h); here are those that users name, and the code that both have in common.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace culprit {

/// The descriptor of a file or a folder; closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }
  /// The caller must close the number.
  int release() { return std::exchange(number_, -1); }
  /// False if written data may not have arrived.
  bool close();

 private:
  int number_;
};

/// More than any text that culprit reads in one piece.
inline constexpr uint64_t kLargestText = uint64_t{1} << 30;

/// Bytes of a file.
struct Extent {
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// A regular file, open for reading.
class RegularFile {
 public:
  /// None if `descriptor` refers to anything but a regular file.
  static std::optional<RegularFile> of(Descriptor descriptor);

  int descriptor() const { return descriptor_.number(); }
  /// When it was opened.
  uint64_t size() const { return size_; }
  uid_t owner() const { return owner_; }
  /// The parts of the file that are no holes, according to the file system, in order. If there are
  /// very many, the last one reaches to the end of the file.
  std::vector<Extent> data() const;
  /// How many of `bytes` from `offset` on were read into `to`.
  size_t read_at(uint64_t offset, void* to, size_t bytes) const;
  /// The whole content, a text or the like; none if there is more of it than `most`, if it is full
  /// of holes, or if reading fails.
  std::optional<std::string> read(uint64_t most = kLargestText) const;

 private:
  RegularFile(Descriptor descriptor, uint64_t size, uid_t owner)
      : descriptor_(std::move(descriptor)), size_(size), owner_(owner) {}

  Descriptor descriptor_;
  uint64_t size_;
  uid_t owner_;
};

enum class Owner {
  anybody,  ///< links are followed, as users expect of files that they name themselves
  self,     ///< of this process's user, and no link
};

std::optional<RegularFile> open_regular_file(const std::filesystem::path& file, Owner owner);

/// The whole content of a regular file; none if it is no such file, cannot be read, or is larger.
std::optional<std::string> read_regular_file(const std::filesystem::path& file, Owner owner,
                                             uint64_t most = kLargestText);

/// A regular file of this process's user, and no link.
bool is_own_file(const std::filesystem::path& file);

/// A folder of this process's user, and no link.
bool is_own_folder(const std::filesystem::path& folder);

}  // namespace culprit
