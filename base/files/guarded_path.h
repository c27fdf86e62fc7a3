// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A path inside a folder that others may write to, such as an experiment that somebody sent. The
// folder is held open, and entries below are reached from it name by name, never through a link,
// neither at the end of the path nor in the middle, so that nothing outside is read or written.
// Only regular files are opened, without waiting for a writer. New content comes under a name that
// cannot be guessed or made beforehand, and is renamed: files appear whole, and an existing file is
// replaced, not written to. MT: safe.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/regular_file.h"
#include "base/result.h"

namespace culprit {

/// A new file under an unguessable name, until it is complete; it is removed if it never is.
class Draft {
 public:
  Draft(Draft&& other) noexcept = default;
  Draft& operator=(Draft&&) = delete;
  ~Draft();

  /// Open for reading and writing.
  int descriptor() const { return file_.number(); }
  bool write(std::string_view content);
  /// Gives the file its name, in place of an existing one.
  Result<void> publish();

 private:
  friend class GuardedPath;
  Draft(Descriptor folder, Descriptor file, std::string draft, std::filesystem::path path)
      : folder_(std::move(folder)),
        file_(std::move(file)),
        draft_(std::move(draft)),
        path_(std::move(path)) {}

  Descriptor folder_;  ///< none: it was published
  Descriptor file_;
  std::string draft_;           ///< its name until then
  std::filesystem::path path_;  ///< what it will be
};

class GuardedPath {
 public:
  /// Nothing is there.
  GuardedPath() : root_(std::make_shared<const Descriptor>()) {}
  /// The folder itself. Users name it: links on the way to it are followed. It may be missing.
  explicit GuardedPath(const std::filesystem::path& folder);
  /// A file that a user named, in a folder of others: links are followed to its folder only.
  static GuardedPath of_file(const std::filesystem::path& file);

  /// The entry of this name in the folder. Names that lead elsewhere ("..", "a/b") are never found.
  GuardedPath operator/(std::string_view name) const;

  /// The plain path, for messages, and for libraries that open files themselves.
  const std::filesystem::path& path() const { return path_; }
  std::string name() const { return path_.filename().string(); }

  /// Anything, were it a link that leads nowhere.
  bool exists() const;
  bool is_folder() const;
  bool is_file() const;
  /// Names in this folder, in order; none if it is no folder. Of very many the first that come.
  std::vector<std::string> list() const;

  std::optional<RegularFile> open() const;
  /// The whole content; none if it is no regular file or larger than `most`.
  std::optional<std::string> read(uint64_t most = kLargestText) const;

  /// A file to be filled that will replace an existing one.
  Result<Draft> draft() const;
  /// Puts a file with this content in place of an existing one.
  Result<void> replace(std::string_view content) const;
  /// Makes a new file; an error if there is anything under this name.
  Result<void> create(std::string_view content) const;
  /// Writes over the beginning of the existing file, if it belongs to this process's user and has
  /// no other name, or else makes one. Needs no room on a disk that is full.
  void overwrite(std::string_view content) const;
  /// Makes a new folder; an error if there is anything under this name.
  Result<void> make_folder() const;
  /// Renames this folder to `to`, beside it. It takes the place of an empty folder, of nothing
  /// else.
  Result<void> rename_folder(std::string_view to) const;
  /// A file or a link; the latter itself.
  void remove() const;

 private:
  Descriptor parent() const;
  Descriptor open_as(int flags) const;

  std::shared_ptr<const Descriptor> root_;
  std::vector<std::string> names_;  ///< below the root
  std::filesystem::path path_;
};

/// An unguessable part of a name.
std::string unguessable();

}  // namespace culprit
