// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Folders of packages and of the library are known by their usual names. Tables tell the rest.
#include "trace/python/python_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace culprit::trace {
namespace {

constexpr std::string_view kPackages[] = {"/site-packages/", "/dist-packages/"};

/// Where the name of a file without its ending is over; npos: it is no module's.
size_t end_of_name(std::string_view path, size_t name) {
  for (const std::string_view ending : {".cpython-", ".abi3."}) {
    const size_t found = path.find(ending, name);
    if (found != path.npos) return found;
  }
  constexpr std::string_view kSource = ".py";
  return path.ends_with(kSource) ? path.size() - kSource.size() : path.npos;
}

/// Where the library's own folder, ".../lib/python3.11/", is over; npos: it is another folder.
size_t end_of_library(std::string_view path) {
  for (const std::string_view folder : {"/lib/python3.", "/lib64/python3."}) {
    const size_t found = path.find(folder);
    if (found == path.npos) continue;
    const size_t end = path.find('/', found + folder.size());
    if (end != path.npos) return end + 1;
  }
  return path.npos;
}

PythonModule module_of(std::string_view path, bool standard) {
  PythonModule module{"", standard, PythonModule::Part::file};
  constexpr std::pair<std::string_view, PythonModule::Part> kParts[] = {
      {"/__init__", PythonModule::Part::package}, {"/__main__", PythonModule::Part::main}};
  for (const auto& [file, part] : kParts) {
    if (!path.ends_with(file)) continue;
    path.remove_suffix(file.size());
    module.part = part;
  }
  module.name = path;
  std::replace(module.name.begin(), module.name.end(), '/', '.');
  return module;
}

constexpr std::string_view kStandard[] = {
#define STANDARD_MODULE(name) name,
#include "trace/python/standard_modules.def"
};

bool is_standard(std::string_view module) {
  const std::string_view first = module.substr(0, module.find('.'));
  return std::find(std::begin(kStandard), std::end(kStandard), first) != std::end(kStandard);
}

struct Package {
  std::string_view name;
  PythonOwner owner;
};

constexpr Package kOwners[] = {
#define PACKAGE(name, kind) {name, PythonOwner::kind},
#include "trace/python/packages.def"
};

}  // namespace

PythonModule python_module(std::string_view path) {
  const size_t name = path.rfind('/') + 1;
  const size_t end = end_of_name(path, name);
  if (end == path.npos || end <= name) return {};
  for (const std::string_view packages : kPackages) {
    const size_t found = path.rfind(packages);
    if (found == path.npos) continue;
    const size_t begin = found + packages.size();
    return module_of(path.substr(begin, end - begin), false);
  }
  const size_t begin = end_of_library(path);
  if (begin != path.npos && begin <= name) return module_of(path.substr(begin, end - begin), true);
  // Of the program's own only the file is known, and the folder that a package is.
  PythonModule module = module_of(path.substr(0, end), false);
  module.name.erase(0, module.name.rfind('.') + 1);
  return module;
}

PythonModule python_module_found_as(std::string_view path) {
  if (path.starts_with("<frozen ")) return {std::string(path), true, PythonModule::Part::file};
  PythonModule module = python_module(path);
  if (module.name.empty() || module.standard || path.starts_with('/')) return module;
  const size_t end = end_of_name(path, path.rfind('/') + 1);
  module = module_of(path.substr(0, end), false);
  module.standard = is_standard(module.name);
  return module;
}

PythonOwner owner_of_python(std::string_view module) {
  const std::string_view first = module.substr(0, module.find('.'));
  for (const Package& each : kOwners) {
    if (each.name == first) return each.owner;
  }
  return PythonOwner::program;
}

namespace {
constexpr std::string_view kWholeModule = "<module>";
}

bool is_import(std::string_view name, const PythonModule& module) {
  if (name != kWholeModule || module.name.empty()) return false;
  if (module.part != PythonModule::Part::file) return module.part == PythonModule::Part::package;
  return module.standard || owner_of_python(module.name) != PythonOwner::program;
}

std::string python_function_name(std::string_view name, const PythonModule& module) {
  if (is_import(name, module)) return "import " + module.name;
  const bool is_main = name == kWholeModule && module.part == PythonModule::Part::main;
  return is_main ? fmt::format("{} of {}", name, module.name) : std::string(name);
}

}  // namespace culprit::trace
