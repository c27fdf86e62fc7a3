// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fuzz/folder_pack.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "trace/raw/bursts.h"
#include "trace/raw/profile.h"

namespace culprit::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNames[kPlaces] = {
    "experiment.json",
    "findings.db",
    "findings.db-journal",
    "findings.db-wal",
    "names",
    "raw/heartbeat",
    "raw/node1.1.a/process",
    "raw/node1.1.a/events.0",
    "raw/node1.1.a/events.0.tail",
    "raw/node1.1.a/events.1",
    "raw/node1.1.a/maps.0",
    "raw/node1.2.b/process",
    "raw/node1.2.b/events.0",
    "raw/node1.2.b/events.0.tail",
    "raw/node1.2.b/events.1",
    "raw/node1.2.b/maps.0",
    "trace/traces.otf2",
    "trace/traces.def",
    "trace/traces/0.def",
    "trace/traces/0.evt",
    "raw",
    "trace",
    "module.so",
    "raw/node1.1.a/events.0.packed",
    "raw/node1.2.b/events.0.packed",
    "raw/node1.1.a/profile",
    "raw/node1.1.a/defines.0",
    "raw/node1.1.a/carry.0",
    "raw/bursts/node1/page",
    "raw/bursts/node1/burst",
};
constexpr const char* kProcesses[] = {"node1.1.a", "node1.2.b"};
constexpr const char* kNode = "node1";
constexpr const char* kPage = "raw/bursts/node1/page";
constexpr const char* kBurst = "raw/bursts/node1/burst";
constexpr const char* kProfile = "profile";
constexpr size_t kMostOfProfile = size_t{256} << 10;  ///< rows of the first log come first

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The file of the first burst of a page is named after its slot.
std::string burst_name(const std::string& page) {
  trace::RawNodePage read{};
  std::memcpy(&read, page.data(), std::min(page.size(), sizeof read));
  const auto* const burst =
      std::find_if(std::begin(read.bursts), std::end(read.bursts),
                   [](const trace::RawBurst& each) { return each.slot != 0; });
  return burst == std::end(read.bursts) ? "0" : std::to_string(burst->slot - 1);
}

/// Most of a profile is a hole, which a string of bytes should not contain.
void restore_hole(const fs::path& profile) {
  constexpr uintmax_t kWhole = trace::kProfilePage + trace::kProfileQuotaOfFirst;
  std::error_code code;
  if (fs::file_size(profile, code) < kWhole) fs::resize_file(profile, kWhole, code);
}

void write_entry(const Entry& entry, const fs::path& path, const fs::path& root,
                 const fs::path& outside) {
  constexpr uintmax_t kLong = uintmax_t{20} << 30;
  std::error_code code;
  fs::create_directories(path.parent_path(), code);
  switch (entry.kind) {
    case EntryKind::file:
    case EntryKind::sparse:
      std::ofstream(path, std::ios::binary) << entry.content;
      if (entry.kind == EntryKind::sparse) return fs::resize_file(path, kLong, code);
      if (path.filename() == kProfile) restore_hole(path);
      return;
    case EntryKind::link_outside:
      return fs::create_symlink(outside / "file", path, code);
    case EntryKind::link_folder:
      return fs::create_symlink(outside / "folder", path, code);
    case EntryKind::link_inside: {
      const uint8_t to = entry.content.empty() ? 0 : static_cast<uint8_t>(entry.content.front());
      return fs::create_symlink(root / place_name(to), path, code);
    }
    case EntryKind::pipe:
      static_cast<void>(mkfifo(path.c_str(), 0600));
      return;
    default:
      fs::create_directory(path, code);
  }
}

/// Where a place is in an experiment whose processes, node and burst are called `names`.
fs::path path_of(uint8_t number, const std::map<std::string, std::string>& names) {
  fs::path path;
  for (const fs::path& part : fs::path(place_name(number))) {
    const auto name = names.find(part.string());
    path /= name == names.end() ? part : fs::path(name->second);
  }
  return path;
}

/// What `kProcesses`, `kNode` and the burst are called in this experiment.
std::map<std::string, std::string> names_in(const fs::path& experiment) {
  std::set<std::string> processes;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(experiment / "raw", code)) {
    const fs::path name = entry.path().filename();
    if (entry.is_directory() && name != trace::kRawBurstsFolder) processes.insert(name);
  }
  std::map<std::string, std::string> names;
  for (const std::string& process : processes) {
    if (names.size() < std::size(kProcesses)) names[kProcesses[names.size()]] = process;
  }
  for (const auto& node :
       fs::directory_iterator(experiment / "raw" / trace::kRawBurstsFolder, code)) {
    names[kNode] = node.path().filename();
    names[fs::path(kBurst).filename()] = burst_name(content_of(node.path() / trace::kRawPageFile));
  }
  return names;
}

}  // namespace

std::string place_name(uint8_t place) {
  return kNames[place % kPlaces];
}

Folder unpack_folder(std::span<const uint8_t> bytes) {
  constexpr size_t kHead = 6;
  Folder folder;
  while (bytes.size() >= kHead) {
    constexpr auto kKinds = static_cast<uint8_t>(EntryKind::count);
    Entry& entry = folder[static_cast<uint8_t>(bytes[1] % kPlaces)];
    entry.kind = static_cast<EntryKind>(bytes[0] % kKinds);
    size_t length = 0;
    for (size_t i = 0; i < 4; ++i) length |= size_t{bytes[2 + i]} << (8 * i);
    bytes = bytes.subspan(kHead);
    length = std::min(length, bytes.size());
    entry.content.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    bytes = bytes.subspan(length);
  }
  return folder;
}

std::string pack_folder(const Folder& folder) {
  std::string bytes;
  for (const auto& [place, entry] : folder) {
    bytes.push_back(static_cast<char>(entry.kind));
    bytes.push_back(static_cast<char>(place));
    for (size_t i = 0; i < 4; ++i) {
      bytes.push_back(static_cast<char>(entry.content.size() >> (8 * i)));
    }
    bytes += entry.content;
  }
  return bytes;
}

void write_folder(const Folder& folder, const fs::path& place, const fs::path& outside) {
  fs::remove_all(place);
  fs::create_directories(place);
  std::map<std::string, std::string> names;
  for (const auto& [number, entry] : folder) {
    if (place_name(number) == kPage) {
      names[fs::path(kBurst).filename()] = burst_name(entry.content);
    }
  }
  // Files first: what stands in the place of a folder replaces it, and what was in that is gone.
  for (const auto& [number, entry] : folder) {
    const fs::path path = place / path_of(number, names);
    std::error_code code;
    fs::remove_all(path, code);
    write_entry(entry, path, place, outside);
  }
}

Folder read_folder(const fs::path& experiment) {
  const std::map<std::string, std::string> names = names_in(experiment);
  Folder folder;
  std::error_code code;
  for (uint8_t number = 0; number < kPlaces; ++number) {
    const fs::path path = experiment / path_of(number, names);
    if (!fs::is_regular_file(path, code)) continue;
    std::string& content = folder[number].content;
    content = content_of(path);
    if (path.filename() == kProfile) {
      content.resize(std::min(content.find_last_not_of('\0') + 1, kMostOfProfile));
    }
  }
  return folder;
}

}  // namespace culprit::fuzz
