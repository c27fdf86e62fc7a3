// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/names/others/python_module.h"

#include <algorithm>

namespace culprit::assemble {
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

std::string dotted(std::string_view path) {
  constexpr std::string_view kPackage = "/__init__";
  if (path.ends_with(kPackage)) path.remove_suffix(kPackage.size());
  std::string name(path);
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

}  // namespace

PythonModule python_module(std::string_view path) {
  const size_t name = path.rfind('/') + 1;
  const size_t end = end_of_name(path, name);
  if (end == path.npos || end <= name) return {};
  for (const std::string_view packages : kPackages) {
    const size_t found = path.rfind(packages);
    if (found == path.npos) continue;
    const size_t begin = found + packages.size();
    return {dotted(path.substr(begin, end - begin)), false};
  }
  const size_t begin = end_of_library(path);
  if (begin == path.npos || begin > name) return {dotted(path.substr(name, end - name)), false};
  return {dotted(path.substr(begin, end - begin)), true};
}

}  // namespace culprit::assemble
