// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A file is a line that names format and version, a checksum of all that follows, the strings, and
// the symbols that refer to them.
#include "assemble/names/name_cache.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "assemble/names/object_file.h"
#include "base/fnv.h"
#include "base/regular_file.h"
#include "base/settings.h"

namespace culprit::assemble {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHead = "culprit names 1, " CULPRIT_VERSION "\n";
constexpr std::string_view kAnyHead = "culprit names ";  // of every version
constexpr std::string_view kSuffix = ".culprit-names";   // after the build id
constexpr uint8_t kProgram = 1;
constexpr uint8_t kNamed = 2;
constexpr uint8_t kFromDebugInfo = 4;

class Packer {
 public:
  template <class Number>
  void number(Number value) {
    static_assert(std::is_integral_v<Number>);
    body_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(const std::string& text) {
    const auto [it, added] = numbers_.try_emplace(text, static_cast<uint32_t>(numbers_.size()));
    if (added) {
      const auto length = static_cast<uint32_t>(text.size());
      texts_.append(reinterpret_cast<const char*>(&length), sizeof length).append(text);
    }
    number(it->second);
  }
  std::string take() const {
    const auto count = static_cast<uint32_t>(numbers_.size());
    std::string all(reinterpret_cast<const char*>(&count), sizeof count);
    return all + texts_ + body_;
  }

 private:
  std::map<std::string, uint32_t> numbers_;
  std::string texts_;
  std::string body_;
};

/// Reads what Packer has written; once something does not fit, it is damaged() for good.
class Unpacker {
 public:
  explicit Unpacker(std::string_view rest) : rest_(rest) {
    const auto count = number<uint32_t>();
    for (uint32_t i = 0; i < count && !damaged_; ++i) texts_.push_back(take(number<uint32_t>()));
  }
  template <class Number>
  Number number() {
    Number value = 0;
    const std::string_view bytes = take(sizeof value);
    if (!damaged_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string text() {
    const auto index = number<uint32_t>();
    damaged_ = damaged_ || index >= texts_.size();
    return damaged_ ? std::string() : std::string(texts_[index]);
  }
  bool damaged() const { return damaged_; }

 private:
  std::string_view take(size_t bytes) {
    damaged_ = damaged_ || bytes > rest_.size();
    if (damaged_) return {};
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  std::string_view rest_;
  std::vector<std::string_view> texts_;
  bool damaged_ = false;
};

void pack(Packer& packer, uint64_t offset, const Symbol& symbol) {
  packer.number(offset);
  packer.number(symbol.address);
  packer.number(symbol.into_function);
  packer.number(symbol.line);
  packer.text(symbol.file);
  packer.number(static_cast<uint8_t>((symbol.program ? kProgram : 0) | (symbol.named ? kNamed : 0) |
                                     (symbol.from_debug_info ? kFromDebugInfo : 0)));
  packer.number(static_cast<uint32_t>(symbol.frames.size()));
  for (const SourceFrame& frame : symbol.frames) {
    packer.text(frame.function);
    packer.text(frame.file);
    packer.number(frame.line);
  }
}

std::pair<uint64_t, Symbol> unpack(Unpacker& unpacker) {
  Symbol symbol;
  const auto offset = unpacker.number<uint64_t>();
  symbol.address = unpacker.number<uint64_t>();
  symbol.into_function = unpacker.number<uint64_t>();
  symbol.line = unpacker.number<uint32_t>();
  symbol.file = unpacker.text();
  const auto flags = unpacker.number<uint8_t>();
  symbol.program = (flags & kProgram) != 0;
  symbol.named = (flags & kNamed) != 0;
  symbol.from_debug_info = (flags & kFromDebugInfo) != 0;
  const auto frames = unpacker.number<uint32_t>();
  for (uint32_t i = 0; i < frames && !unpacker.damaged(); ++i) {
    SourceFrame& frame = symbol.frames.emplace_back();
    frame.function = unpacker.text();
    frame.file = unpacker.text();
    frame.line = unpacker.number<uint32_t>();
  }
  return {offset, std::move(symbol)};
}

std::map<uint64_t, Symbol> read_symbols_of(const fs::path& file) {
  const std::string all = read_regular_file(file, Owner::self).value_or("");
  std::string_view rest = all;
  uint64_t sum = 0;
  if (!rest.starts_with(kHead) || rest.size() < kHead.size() + sizeof sum) return {};
  rest.remove_prefix(kHead.size());
  std::memcpy(&sum, rest.data(), sizeof sum);
  rest.remove_prefix(sizeof sum);
  if (fnv1a(rest) != sum) return {};
  Unpacker unpacker(rest);
  std::map<uint64_t, Symbol> symbols;
  const auto count = unpacker.number<uint32_t>();
  for (uint32_t i = 0; i < count && !unpacker.damaged(); ++i) symbols.insert(unpack(unpacker));
  return unpacker.damaged() ? std::map<uint64_t, Symbol>() : symbols;
}

/// Under a name of its own first, so that nobody ever sees half a file.
void replace(const fs::path& file, std::string_view content) {
  std::string unfinished = file.string() + ".XXXXXX";
  const int descriptor = mkstemp(unfinished.data());
  if (descriptor < 0) return;
  std::error_code ignored;
  size_t written = 0;
  while (written < content.size()) {
    const ssize_t bytes = write(descriptor, content.data() + written, content.size() - written);
    if (bytes <= 0) break;
    written += static_cast<size_t>(bytes);
  }
  const bool complete = close(descriptor) == 0 && written == content.size();
  if (!complete || rename(unfinished.c_str(), file.c_str()) != 0) fs::remove(unfinished, ignored);
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
  std::ifstream(file, std::ios::binary)
      .read(head.data(), static_cast<std::streamsize>(head.size()));
  return head == kAnyHead;
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
  Packer packer;
  packer.number(static_cast<uint32_t>(symbols_.size()));
  for (const auto& [offset, symbol] : symbols_) pack(packer, offset, symbol);
  const std::string packed = packer.take();
  const uint64_t sum = fnv1a(packed);
  std::string content(kHead);
  content.append(reinterpret_cast<const char*>(&sum), sizeof sum).append(packed);
  std::error_code ignored;
  fs::create_directories(file_.parent_path(), ignored);
  replace(file_, content);
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

KnownNames NameCache::open(const std::string& path) const {
  if (folder_.empty()) return KnownNames({});
  const std::string id = build_id_of(path);
  return KnownNames(id.empty() ? fs::path() : folder_ / (id + std::string(kSuffix)));
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
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (!is_ours(entry.path())) continue;
    const uint64_t bytes = entry.file_size(error);
    if (error) continue;
    files.push_back({entry.last_write_time(error), bytes, entry.path()});
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
