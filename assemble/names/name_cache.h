// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Names that were looked up before, on disk, one file for each build id: the same program is
// measured again and again, and debug information takes long to read. It is only an optimisation: a
// file that is missing, of another version or damaged counts as empty, and failures to write are
// ignored. Files appear whole or not at all, so any number of users may share a folder. Only names
// from debug information are kept; the rest is found quickly, and would hide debug information
// installed later.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "assemble/names/symbol.h"

namespace culprit::assemble {

/// The names of one object file.
class KnownNames {
 public:
  /// Reads what the cache has. An empty `file` knows nothing and keeps nothing.
  explicit KnownNames(std::filesystem::path file);

  const Symbol* find(uint64_t offset) const;
  void add(uint64_t offset, const Symbol& symbol);
  /// Writes the old and the added names, if it is worth it.
  void save() const;

 private:
  std::filesystem::path file_;
  std::map<uint64_t, Symbol> symbols_;
  bool worth_saving_ = false;
};

class NameCache {
 public:
  /// An empty folder: there is no cache. The folder is made when there is something to put into it.
  explicit NameCache(std::filesystem::path folder = {}, uint64_t max_bytes = kMaxBytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  /// The user's: where the setting `name_cache` says ("off": none), else in $XDG_CACHE_HOME or
  /// ~/.cache.
  static NameCache of_user();

  /// The names of the object file with this build id; none if that is empty.
  KnownNames open(const std::string& build_id) const;
  /// Removes those of its own files that were not used for longest until the rest is within bounds.
  void trim() const;

 private:
  static constexpr uint64_t kMaxBytes = uint64_t{256} << 20;

  std::filesystem::path folder_;
  uint64_t max_bytes_;
};

}  // namespace culprit::assemble
