// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fuzz/folder_pack.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

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
};
constexpr const char* kProcesses[] = {"node1.1.a", "node1.2.b"};

void write_entry(const Entry& entry, const fs::path& path, const fs::path& root,
                 const fs::path& outside) {
  constexpr uintmax_t kLong = uintmax_t{20} << 30;
  std::error_code code;
  fs::create_directories(path.parent_path(), code);
  switch (entry.kind) {
    case EntryKind::file:
    case EntryKind::sparse:
      std::ofstream(path, std::ios::binary) << entry.content;
      if (entry.kind == EntryKind::sparse) fs::resize_file(path, kLong, code);
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

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
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
  // Files first: what stands in the place of a folder replaces it, and what was in that is gone.
  for (const auto& [number, entry] : folder) {
    const fs::path path = place / place_name(number);
    std::error_code code;
    fs::remove_all(path, code);
    write_entry(entry, path, place, outside);
  }
}

Folder read_folder(const fs::path& experiment) {
  std::set<std::string> processes;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(experiment / "raw", code)) {
    if (entry.is_directory()) processes.insert(entry.path().filename());
  }
  std::map<std::string, std::string> folders;  // by what they are called in a string of bytes
  for (const std::string& process : processes) {
    if (folders.size() < std::size(kProcesses)) folders[kProcesses[folders.size()]] = process;
  }
  Folder folder;
  for (uint8_t number = 0; number < kPlaces; ++number) {
    fs::path path = experiment;
    for (const fs::path& part : fs::path(place_name(number))) {
      const auto process = folders.find(part.string());
      path /= process == folders.end() ? part : fs::path(process->second);
    }
    if (fs::is_regular_file(path, code)) folder[number].content = content_of(path);
  }
  return folder;
}

}  // namespace culprit::fuzz
