// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Ranks ask the one that opens a file for their places in it, and it answers each; the first rank
// gets all that it has named, since it keeps the names of the run.
#include "assemble/ranks/name_together.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "assemble/names/kept_names.h"
#include "base/fnv.h"
#include "base/ranks/agree.h"
#include "base/ranks/fields.h"

namespace culprit::assemble {
namespace {

/// By path of the object file.
using PlacesInFiles = std::map<std::string, std::vector<uint64_t>>;

/// Which rank opens a file.
size_t opener_of(const std::string& path, size_t ranks) {
  return fnv1a(path) % ranks;
}

std::vector<Parcel> ask(Transport& ranks, const Symbols& symbols) {
  std::vector<PlacesInFiles> by_opener(ranks.size());
  const KeptNames announced = symbols.kept();
  for (const auto& [path, module] : announced.modules()) {
    std::vector<uint64_t>& places = by_opener[opener_of(path, ranks.size())][path];
    for (const auto& [offset, symbol] : module.symbols) places.push_back(offset);
  }
  std::vector<Packer> packers(ranks.size());
  for (size_t r = 0; r < packers.size(); ++r) pack(packers[r], by_opener[r]);
  return exchange(ranks, std::move(packers));
}

/// The answer to a rank that asked for these places.
std::string answer(const PlacesInFiles& asked, const KeptNames& names) {
  std::map<std::string, KeptModule, std::less<>> found;
  for (const auto& [path, offsets] : asked) {
    const KeptModule* const module = names.find(path);
    if (module == nullptr) continue;
    KeptModule& own = found[path];
    own.build_id = module->build_id;
    for (const uint64_t offset : offsets) {
      const auto symbol = module->symbols.find(offset);
      if (symbol != module->symbols.end()) own.symbols.insert(*symbol);
    }
  }
  return KeptNames(std::move(found)).pack();
}

}  // namespace

bool name_together(Transport& ranks, Symbols& symbols, const ResolveSymbols& resolve) {
  if (ranks.alone()) return resolve(symbols);
  std::vector<PlacesInFiles> asked;
  Symbols opened;
  for (const Parcel& parcel : ask(ranks, symbols)) {
    Unpacker unpacker(parcel);
    asked.push_back(unpack<PlacesInFiles>(unpacker));
    for (const auto& [path, offsets] : asked.back()) {
      for (const uint64_t offset : offsets) opened.add({path, offset});
    }
  }
  const bool in_time = resolve(opened);
  const KeptNames names = opened.kept();
  std::vector<Packer> answers(ranks.size());
  for (size_t r = 0; r < answers.size(); ++r) {
    answers[r].put(r == 0 ? names.pack() : answer(asked[r], names));
  }
  for (const Parcel& parcel : exchange(ranks, std::move(answers))) {
    symbols.take(KeptNames::unpack(Unpacker(parcel).get_string()));
  }
  return !any(ranks, !in_time);
}

}  // namespace culprit::assemble
