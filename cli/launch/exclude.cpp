// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Only the launcher knows which word of its command line is the program. So each word is examined:
// words that are not instrumented programs are ignored.
#include "cli/launch/exclude.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <set>
#include <string>

#include "assemble/names/functions.h"
#include "base/files/guarded_path.h"
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

Result<void> write_table(const GuardedPath& file, const std::set<uint64_t>& addresses) {
  RawFilter head{RawFilter::kMagic, 1};
  while ((uint64_t{1} << head.bits) < 2 * addresses.size()) ++head.bits;
  if (head.bits > trace::kMaxRawFilterBits) return Error{"too many functions are excluded"};
  std::vector<uint64_t> slots(size_t{1} << head.bits);
  for (const uint64_t address : addresses) {
    size_t slot = trace::raw_filter_slot(address, head.bits);
    while (slots[slot] != 0) slot = (slot + 1) % slots.size();
    slots[slot] = address;
  }
  // The ranks of a launcher write the same at the same time.
  std::string table(reinterpret_cast<const char*>(&head), sizeof head);
  table.append(reinterpret_cast<const char*>(slots.data()), slots.size() * sizeof slots[0]);
  return file.replace(table);
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
    const GuardedPath folder = GuardedPath(experiment) / "exclude";
    static_cast<void>(folder.make_folder().ok());  // other ranks may have made it
    auto written =
        write_table(folder / fmt::format("{}.{}", state.st_ino, state.st_size), addresses);
    if (!written) return written.error();
    count += addresses.size();
  }
  return count;
}

}  // namespace culprit::cli
