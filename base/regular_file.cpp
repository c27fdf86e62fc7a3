// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "base/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace culprit {
namespace {

bool is_own(const std::filesystem::path& path, mode_t type) {
  struct stat found = {};
  return lstat(path.c_str(), &found) == 0 && (found.st_mode & S_IFMT) == type &&
         found.st_uid == geteuid();
}

}  // namespace

std::optional<std::string> read_regular_file(const std::filesystem::path& file, Owner owner) {
  // Opening a pipe without O_NONBLOCK waits for somebody to write to it.
  const int descriptor = open(
      file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | (owner == Owner::self ? O_NOFOLLOW : 0));
  if (descriptor < 0) return std::nullopt;
  struct stat found = {};
  bool good = fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode) &&
              (owner == Owner::anybody || found.st_uid == geteuid());
  std::string content;
  char piece[1 << 16];
  ssize_t bytes = 0;
  while (good && (bytes = read(descriptor, piece, sizeof piece)) > 0) {
    content.append(piece, static_cast<size_t>(bytes));
  }
  good = good && bytes == 0;
  close(descriptor);
  return good ? std::optional(std::move(content)) : std::nullopt;
}

bool is_own_file(const std::filesystem::path& file) {
  return is_own(file, S_IFREG);
}

bool is_own_folder(const std::filesystem::path& folder) {
  return is_own(folder, S_IFDIR);
}

}  // namespace culprit
