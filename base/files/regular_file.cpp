// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The file type is read from the open file: its name may meanwhile refer to another one. Opening
// has no effect on anything but regular files, and for these O_NONBLOCK has none.
#include "base/files/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace culprit {
namespace {

bool is_own(const std::filesystem::path& path, mode_t type) {
  struct stat found = {};
  return lstat(path.c_str(), &found) == 0 && (found.st_mode & S_IFMT) == type &&
         found.st_uid == geteuid();
}

ssize_t read_once(int file, void* to, size_t bytes, uint64_t offset) {
  ssize_t got = 0;
  do {
    got = pread(file, to, bytes, static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  return got;
}

/// Many large files of nothing cost who makes them nothing, and who reads them hours.
bool is_mostly_hole(const RegularFile& file) {
  constexpr uint64_t kLarge = 1 << 20;
  if (file.size() < kLarge) return false;
  uint64_t data = 0;
  for (const Extent& extent : file.data()) data += extent.end - extent.begin;
  return data < file.size() / 2;
}

}  // namespace

Descriptor::~Descriptor() {
  close();
}

bool Descriptor::close() {
  return number_ < 0 || ::close(std::exchange(number_, -1)) == 0;
}

std::optional<RegularFile> RegularFile::of(Descriptor descriptor) {
  struct stat found = {};
  if (!descriptor || fstat(descriptor.number(), &found) != 0 || !S_ISREG(found.st_mode)) {
    return std::nullopt;
  }
  return RegularFile(std::move(descriptor), static_cast<uint64_t>(found.st_size), found.st_uid);
}

std::vector<Extent> RegularFile::data() const {
  constexpr size_t kMostExtents = 1 << 16;
  std::vector<Extent> extents;
  off_t at = 0;
  while (static_cast<uint64_t>(at) < size_) {
    const off_t begin = lseek(descriptor(), at, SEEK_DATA);
    if (begin < 0) break;  // the rest is a hole
    const off_t end =
        extents.size() + 1 < kMostExtents ? lseek(descriptor(), begin, SEEK_HOLE) : -1;
    const uint64_t until = end > begin ? static_cast<uint64_t>(end) : size_;
    extents.push_back({static_cast<uint64_t>(begin), std::min(until, size_)});
    at = static_cast<off_t>(until);
  }
  // Kernels say that all is data where they do not know; this is for those that say nothing.
  if (extents.empty() && size_ > 0 && errno != ENXIO) extents.push_back({0, size_});
  return extents;
}

size_t RegularFile::read_at(uint64_t offset, void* to, size_t bytes) const {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        read_once(descriptor(), static_cast<char*>(to) + done, bytes - done, offset + done);
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

std::optional<std::string> RegularFile::read(uint64_t most) const {
  if (size_ > most || is_mostly_hole(*this)) return std::nullopt;
  std::string content;
  char piece[1 << 16];
  // The size says little: files of the kernel's have none, and others may still grow.
  for (;;) {
    const ssize_t got = read_once(descriptor(), piece, sizeof piece, content.size());
    if (got == 0) return content;
    if (got < 0 || content.size() + static_cast<size_t>(got) > most) return std::nullopt;
    content.append(piece, static_cast<size_t>(got));
  }
}

std::optional<RegularFile> open_regular_file(const std::filesystem::path& file, Owner owner) {
  // Opening a pipe without O_NONBLOCK would wait for a writer.
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  auto opened = RegularFile::of(
      Descriptor(::open(file.c_str(), flags | (owner == Owner::self ? O_NOFOLLOW : 0))));
  if (opened && owner == Owner::self && opened->owner() != geteuid()) return std::nullopt;
  return opened;
}

std::optional<std::string> read_regular_file(const std::filesystem::path& file, Owner owner,
                                             uint64_t most) {
  const auto opened = open_regular_file(file, owner);
  return opened ? opened->read(most) : std::nullopt;
}

bool is_own_file(const std::filesystem::path& file) {
  return is_own(file, S_IFREG);
}

bool is_own_folder(const std::filesystem::path& folder) {
  return is_own(folder, S_IFDIR);
}

}  // namespace culprit
