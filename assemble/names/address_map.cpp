// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/names/address_map.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <sstream>
#include <utility>

namespace culprit::assemble {

AddressMap AddressMap::read(const std::vector<GuardedPath>& copies, std::string generated) {
  std::vector<std::string> texts;
  for (const GuardedPath& copy : copies) texts.push_back(copy.read(kLargestMaps).value_or(""));
  return of(texts, std::move(generated));
}

AddressMap AddressMap::of(const std::vector<std::string>& copies, std::string generated) {
  AddressMap map;
  map.generated_ = std::move(generated);
  for (const std::string& copy : copies) {
    std::vector<Mapping> mappings;
    std::istringstream in(copy);
    for (std::string line; std::getline(in, line);) {
      Mapping mapping;
      char permissions[8] = "";
      int name = 0;
      const int fields =
          std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n",
                      &mapping.begin, &mapping.end, permissions, &mapping.offset, &name);
      if (fields != 4 || name == 0 || permissions[2] != 'x') continue;
      mapping.module = line.substr(static_cast<size_t>(name));
      if (!mapping.module.empty()) mappings.push_back(std::move(mapping));
    }
    std::sort(mappings.begin(), mappings.end(),
              [](const Mapping& a, const Mapping& b) { return a.begin < b.begin; });
    map.copies_.push_back(std::move(mappings));
  }
  return map;
}

std::optional<CodePlace> AddressMap::find(uint64_t address) const {
  for (const auto& mappings : copies_) {
    auto it = std::upper_bound(mappings.begin(), mappings.end(), address,
                               [](uint64_t a, const Mapping& m) { return a < m.begin; });
    if (it == mappings.begin()) continue;
    --it;
    if (address < it->end) return CodePlace{it->module, address - it->begin + it->offset};
  }
  if (generated_.empty()) return std::nullopt;
  return CodePlace{generated_, address};
}

}  // namespace culprit::assemble
