// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A file per build id, replaced as a whole by renaming. Files that were not used for long go first
// when the folder grows too large.
#include "assemble/names/name_cache.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "assemble/names/symbol_pack.h"
#include "base/files/guarded_path.h"
#include "base/settings.h"

namespace culprit::assemble {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHead = "culprit names 8, " CULPRIT_VERSION "\n";
constexpr std::string_view kAnyHead = "culprit names ";  // of every version
constexpr std::string_view kSuffix = ".culprit-names";   // after the build id

std::map<uint64_t, Symbol> read_symbols_of(const fs::path& file) {
  const std::string all = read_regular_file(file, Owner::self).value_or("");
  SymbolUnpacker unpacker(unsealed(kHead, all));
  return unpacker.symbols();
}

/// Whether the cache has made this file: its name is a build id's, it is this user's, and it opens
/// as our files do. Users may point the cache at a folder that holds their own.
bool is_ours(const fs::path& file) {
  const std::string name = file.filename();
  const size_t end = name.size() - std::min(name.size(), kSuffix.size());
  const auto is_digit = [](unsigned char c) { return std::isxdigit(c) != 0; };
  if (end == 0 || name.substr(end) != kSuffix ||
      !std::all_of(name.begin(), name.begin() + static_cast<ptrdiff_t>(end), is_digit) ||
      !is_own_file(file)) {
    return false;
  }
  std::string head(kAnyHead.size(), '\0');
  const auto opened = open_regular_file(file, Owner::self);
  return opened && opened->read_at(0, head.data(), head.size()) == head.size() && head == kAnyHead;
}

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace

KnownNames::KnownNames(fs::path file) : file_(std::move(file)) {
  if (file_.empty()) return;
  symbols_ = read_symbols_of(file_);
  std::error_code ignored;
  if (!symbols_.empty()) fs::last_write_time(file_, fs::file_time_type::clock::now(), ignored);
}

const Symbol* KnownNames::find(uint64_t offset) const {
  const auto known = symbols_.find(offset);
  return known == symbols_.end() ? nullptr : &known->second;
}

void KnownNames::add(uint64_t offset, const Symbol& symbol) {
  if (file_.empty()) return;
  symbols_[offset] = symbol;
  worth_saving_ = worth_saving_ || symbol.from_debug_info;
}

void KnownNames::save() const {
  if (!worth_saving_) return;
  SymbolPacker packer;
  packer.symbols(symbols_);
  std::error_code ignored;
  fs::create_directories(file_.parent_path(), ignored);
  static_cast<void>(GuardedPath::of_file(file_).replace(sealed(kHead, packer.take())).ok());
}

NameCache NameCache::of_user() {
  if (const auto chosen = variable(culprit::variable(Setting::name_cache))) {
    return NameCache(*chosen == "off" ? fs::path() : fs::path(*chosen));
  }
  if (const auto caches = variable("XDG_CACHE_HOME")) {
    return NameCache(fs::path(*caches) / "culprit" / "names");
  }
  if (const auto home = variable("HOME")) {
    return NameCache(fs::path(*home) / ".cache" / "culprit" / "names");
  }
  return NameCache();
}

KnownNames NameCache::open(const std::string& build_id) const {
  if (folder_.empty() || build_id.empty()) return KnownNames({});
  return KnownNames(folder_ / (build_id + std::string(kSuffix)));
}

void NameCache::trim() const {
  struct File {
    fs::file_time_type used;
    uint64_t bytes;
    fs::path path;
  };
  std::vector<File> files;
  uint64_t total = 0;
  std::error_code error;
  if (folder_.empty()) return;
  for (const std::string& name : GuardedPath(folder_).list()) {
    const fs::path file = folder_ / name;
    if (!is_ours(file)) continue;
    const uint64_t bytes = fs::file_size(file, error);
    if (error) continue;
    files.push_back({fs::last_write_time(file, error), bytes, file});
    total += bytes;
  }
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.used < b.used; });
  for (const File& file : files) {
    if (total <= max_bytes_) return;
    fs::remove(file.path, error);
    total -= file.bytes;
  }
}

}  // namespace culprit::assemble
