// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Users' own patterns come first: one may concern a library that a table knows.
#include "assemble/names/others/not_the_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "assemble/names/cxx_library.h"
#include "base/files/regular_file.h"
#include "base/glob.h"
#include "base/settings.h"
#include "trace/device_calls.h"
#include "trace/python/python_module.h"

namespace culprit::assemble {
namespace {

constexpr uint64_t kLargestFile = uint64_t{1} << 20;

struct Library {
  std::string_view beginning;
  LibraryUse use;
};

constexpr Library kLibraries[] = {
#define LIBRARY(beginning, kind, shown) {beginning, {CodeKind::kind, Shown::shown}},
#include "assemble/names/others/libraries.def"
};

constexpr std::string_view kWrappers[] = {
#define WRAPPER(beginning) beginning,
#include "assemble/names/others/wrappers.def"
};

constexpr std::string_view kDeviceRuntimeParts[] = {
#define DEVICE_RUNTIME_PART(beginning) beginning,
#define DEVICE_RUNTIME_CALL(name)
#include "assemble/names/others/device_runtime.def"
};

/// In the order of the alphabet.
constexpr std::string_view kDeviceRuntimeCalls[] = {
#define DEVICE_RUNTIME_PART(beginning)
#define DEVICE_RUNTIME_CALL(name) name,
#include "assemble/names/others/device_runtime.def"
};
static_assert(std::is_sorted(std::begin(kDeviceRuntimeCalls), std::end(kDeviceRuntimeCalls)));

constexpr std::string_view kSpinWaits[] = {
#define SPIN_WAIT(function, source) function,
#include "assemble/names/others/spin_waits.def"
};

bool fits_one_of(const std::vector<std::string>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [name](const std::string& pattern) { return matches_glob(pattern, name); });
}

}  // namespace

Result<NotThePrograms> NotThePrograms::read(const std::filesystem::path& file) {
  const auto text = read_regular_file(file, Owner::anybody, kLargestFile);
  if (!text) return Error{fmt::format("cannot read the list of wrappers, {}", file.string())};
  NotThePrograms lists;
  std::istringstream lines(*text);
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string what, pattern;
    if (!(words >> what)) continue;
    std::getline(words >> std::ws, pattern);
    pattern.resize(pattern.find_last_not_of(" \t\r") + 1);
    const bool known = what == "function" || what == "library" || what == "wait";
    if (pattern.empty() || !known) {
      return Error{
          fmt::format("{}:{}: expected 'function PATTERN', 'library PATTERN' or 'wait PATTERN'",
                      file.string(), number)};
    }
    auto& list = what == "library"    ? lists.libraries_
                 : what == "function" ? lists.functions_
                                      : lists.waits_;
    list.push_back(pattern);
  }
  return lists;
}

Result<NotThePrograms> NotThePrograms::of_user() {
  const char* const file = std::getenv(variable(Setting::wrappers));
  if (file == nullptr || *file == '\0') return NotThePrograms();
  return read(file);
}

LibraryUse NotThePrograms::library(std::string_view file, std::string_view python) const {
  const auto is_listed = [&](std::string_view name) {
    return !name.empty() && fits_one_of(libraries_, name);
  };
  if (is_listed(file) || is_listed(python)) return {CodeKind::system, Shown::always};
  const std::string module = fmt::format("{}.", python);  // what is in a package begins like this
  const trace::PythonOwner owner = trace::owner_of_python(python);
  if (owner == trace::PythonOwner::helper) return {CodeKind::system, Shown::always};
  if (owner == trace::PythonOwner::framework) return {CodeKind::framework, Shown::always};
  for (const Library& each : kLibraries) {
    if (file.starts_with(each.beginning) || module.starts_with(each.beginning)) return each.use;
  }
  return {};
}

bool NotThePrograms::is_wrapper(std::string_view function) const {
  if (is_called_as_cxx_library(function) || fits_one_of(functions_, function)) return true;
  return std::any_of(
      std::begin(kWrappers), std::end(kWrappers),
      [function](std::string_view beginning) { return function.starts_with(beginning); });
}

bool NotThePrograms::is_of_device_runtime(std::string_view function) {
  const bool is_part = std::any_of(
      std::begin(kDeviceRuntimeParts), std::end(kDeviceRuntimeParts),
      [function](std::string_view beginning) { return function.starts_with(beginning); });
  return is_part ||
         std::binary_search(std::begin(kDeviceRuntimeCalls), std::end(kDeviceRuntimeCalls),
                            trace::without_version(function.substr(0, function.find('<'))));
}

bool NotThePrograms::is_spin_wait(std::string_view function) const {
  return fits_one_of(waits_, function) ||
         std::find(std::begin(kSpinWaits), std::end(kSpinWaits), function) != std::end(kSpinWaits);
}

}  // namespace culprit::assemble
