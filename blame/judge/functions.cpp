// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/judge/functions.h"

#include <map>
#include <utility>

#include "blame/findings/function_id.h"
#include "blame/findings/path_meaning.h"
#include "trace/pseudo_regions.h"

namespace culprit::blame {

Functions::Functions(const Findings& findings) : findings_(findings) {
  constexpr FunctionNumber kAnyCaller = SIZE_MAX;
  std::map<std::pair<FunctionId, FunctionNumber>, FunctionNumber> numbers;
  for (const FoundCallPath& path : findings.callpaths) {
    if (is_in_call_of_system(path)) {
      of_.push_back(of(path.parent));
      continue;
    }
    const bool part = trace::pseudo_region(path.region) != nullptr && path.parent.valid();
    const FunctionNumber caller = part ? of(path.parent) : kAnyCaller;
    const auto [known, fresh] = numbers.try_emplace({function_of(path), caller}, numbers.size());
    of_.push_back(known->second);
  }
}

CallPathId Functions::own_path(CallPathId path) const {
  while (is_in_call_of_system(findings_.callpaths[path.index()])) path = parent(path);
  return path;
}

CallPathId Functions::caller(CallPathId path) const {
  CallPathId above = parent(own_path(path));
  while (above.valid() && !is_function(findings_.callpaths[above.index()])) above = parent(above);
  return above;
}

bool is_function(const FoundCallPath& path) {
  if (is_of(path, trace::Paradigm::library) && path.parent.valid()) return false;
  return !is_of(path, trace::Paradigm::openmp) && !is_of(path, trace::Paradigm::mpi) &&
         trace::pseudo_region(path.region) == nullptr;
}

bool is_in_call_of_system(const FoundCallPath& path) {
  if (!path.parent.valid()) return false;
  return is_of(path, trace::Paradigm::pthread) || is_of(path, trace::Paradigm::library) ||
         trace::is_part_of_caller(path.region);
}

}  // namespace culprit::blame
