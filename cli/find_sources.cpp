// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One walk over each folder, which takes what is called like a file that samples found.

#include "cli/find_sources.h"

#include <system_error>

#include "base/files/guarded_path.h"
#include "base/log.h"
#include "base/printable.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

constexpr log::Component kLog("view");

/// A page with more text than this would be no fun to open.
constexpr uint64_t kLargestFile = 2'000'000;
constexpr uint64_t kLargestAll = 16'000'000;

/// Somebody may name the root of a file system.
constexpr size_t kMostEntries = 1'000'000;

class Finder {
 public:
  explicit Finder(const std::set<std::string>& names) : names_(names) {}

  void look_in(const fs::path& folder) {
    std::error_code code;
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied,
                                        code);
    if (code) {
      kLog.warning("there are no sources in '{}': {}", printable(folder.string()), code.message());
      return;
    }
    for (const fs::recursive_directory_iterator end; !code && at != end && entries_ < kMostEntries;
         at.increment(code)) {
      ++entries_;
      std::error_code gone;
      const std::string name = at->path().filename().string();
      if (name.starts_with('.') && at->is_directory(gone)) at.disable_recursion_pending();
      if (names_.contains(name) && !at->is_symlink(gone) && at->is_regular_file(gone)) take(*at);
    }
  }

  std::map<std::string, std::string> texts;

 private:
  void take(const fs::path& file) {
    const std::string name = file.filename().string();
    if (texts.contains(name)) {
      kLog.warning("there are several files '{}': the page has the first, not '{}'",
                   printable(name), printable(file.string()));
      return;
    }
    auto text = GuardedPath::of_file(file).read(kLargestFile);
    if (!text || bytes_ + text->size() > kLargestAll) {
      kLog.warning("'{}' is not in the page: it cannot be read, or is too large",
                   printable(file.string()));
      return;
    }
    bytes_ += text->size();
    texts.emplace(name, std::move(*text));
  }

  const std::set<std::string>& names_;
  size_t entries_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace

std::map<std::string, std::string> find_sources(const std::vector<fs::path>& folders,
                                                const std::set<std::string>& names) {
  Finder finder(names);
  for (const fs::path& folder : folders) finder.look_in(folder);
  return std::move(finder.texts);
}

}  // namespace culprit::cli
