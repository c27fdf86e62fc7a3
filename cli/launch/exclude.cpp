// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which word of a launcher's command line is the program is the launcher's knowledge. So each word
// is looked at: what is no program that was compiled for this is no matter.
#include "cli/launch/exclude.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <system_error>

#include "assemble/names/functions.h"
#include "base/glob.h"
#include "cli/launch/child.h"
#include "trace/raw/filter.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;
using trace::RawFilter;

std::set<uint64_t> excluded_in(const std::string& program, const std::string& patterns) {
  std::set<uint64_t> addresses;
  for (const assemble::NamedFunction& function : assemble::instrumented_functions(program)) {
    if (matches_one_of(patterns, function.name) || matches_one_of(patterns, function.linkage_name))
      addresses.insert(function.address);
  }
  return addresses;
}

bool write_table(const fs::path& file, const std::set<uint64_t>& addresses) {
  RawFilter head{RawFilter::kMagic, 1};
  while ((uint64_t{1} << head.bits) < 2 * addresses.size()) ++head.bits;
  if (head.bits > trace::kMaxRawFilterBits) return false;
  std::vector<uint64_t> slots(size_t{1} << head.bits);
  for (const uint64_t address : addresses) {
    size_t slot = trace::raw_filter_slot(address, head.bits);
    while (slots[slot] != 0) slot = (slot + 1) % slots.size();
    slots[slot] = address;
  }
  // The ranks of a launcher write the same at the same time.
  const fs::path temporary = fmt::format("{}.{}", file.string(), getpid());
  std::ofstream stream(temporary, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(&head), sizeof head);
  stream.write(reinterpret_cast<const char*>(slots.data()),
               static_cast<std::streamsize>(slots.size() * sizeof slots[0]));
  stream.close();
  std::error_code code;
  if (stream) fs::rename(temporary, file, code);
  return stream && !code;
}

}  // namespace

Result<size_t> exclude_functions(const std::vector<std::string>& command,
                                 const std::string& patterns, const fs::path& experiment) {
  size_t count = 0;
  std::set<fs::path> seen;
  for (const std::string& word : command) {
    const fs::path program = find_program(word);
    struct stat state{};
    if (program.empty() || !seen.insert(program).second) continue;
    const std::set<uint64_t> addresses = excluded_in(program, patterns);
    if (addresses.empty() || stat(program.c_str(), &state) != 0) continue;
    const fs::path folder = experiment / "exclude";
    std::error_code code;
    fs::create_directory(folder, code);
    if (!write_table(folder / fmt::format("{}.{}", state.st_ino, state.st_size), addresses)) {
      return Error{fmt::format("cannot write into '{}'", folder.string())};
    }
    count += addresses.size();
  }
  return count;
}

}  // namespace culprit::cli
