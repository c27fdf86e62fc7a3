// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Tables are joined in the order of ranks, by all. Regions come first, since pools refer to them;
// and once more, since sleeps that the joined pools show have names of their own.
#include "assemble/ranks/agree_on_tables.h"

#include <map>
#include <tuple>
#include <utility>

#include "base/ranks/fields.h"

namespace culprit::trace {

template <class Way>
void fields(Way& way, Region& region) {
  way(region.name, region.role, region.paradigm, region.file, region.line);
}

}  // namespace culprit::trace

namespace culprit::assemble {
namespace {

/// Regions of all ranks, each once.
class RegionUnion {
 public:
  RegionId add(trace::Region region) {
    const auto [at, is_new] = ids_.try_emplace({region.name, region.file, region.line, region.role},
                                               RegionId(all_.size()));
    // One rank may have met only calls of it that are not instrumented.
    const bool instrumented = region.paradigm == trace::Paradigm::compiler;
    if (is_new) {
      all_.push_back(std::move(region));
    } else if (instrumented) {
      all_[at->second.index()].paradigm = trace::Paradigm::compiler;
    }
    return at->second;
  }
  std::vector<trace::Region> take() { return std::move(all_); }

 private:
  std::map<std::tuple<std::string, std::string, uint32_t, trace::RegionRole>, RegionId> ids_;
  std::vector<trace::Region> all_;
};

void agree_on_regions(Transport& ranks, const PlayedTables& tables) {
  Packer packer;
  auto known = tables.regions.known();
  pack(packer, known);
  const std::vector<Parcel> parcels = gather_everywhere(ranks, packer.take());
  RegionUnion all;
  std::vector<RegionId> number;
  for (size_t rank = 0; rank < parcels.size(); ++rank) {
    Unpacker unpacker(parcels[rank]);
    for (trace::Region& region : unpack<std::vector<trace::Region>>(unpacker)) {
      const RegionId id = all.add(std::move(region));
      if (rank == ranks.rank()) number.push_back(id);
    }
  }
  tables.regions.renumber(all.take(), number);
  for (ProcessCode& code : tables.code) code.renumber(number);
  tables.folding.renumber(number);
  tables.not_sampled = number[tables.not_sampled.index()];
  tables.blocked = number[tables.blocked.index()];
}

/// A table that packs and joins.
template <class Table>
void join(Transport& ranks, Table& table) {
  Packer packer;
  table.pack(packer);
  table.join(gather_everywhere(ranks, packer.take()));
}

void join_pools(Transport& ranks, Folding& folding) {
  Packer packer;
  folding.pack_common(packer);
  folding.join(gather_everywhere(ranks, packer.take()));
}

void name_sleeps(const PlayedTables& tables) {
  tables.folding.name_sleeps(
      [&](const StretchEnds& ends) { return tables.regions.blocked_between(ends); });
}

}  // namespace

void agree_on_tables(Transport& ranks, const PlayedTables& tables) {
  if (ranks.alone()) {
    name_sleeps(tables);
    return;
  }
  agree_on_regions(ranks, tables);
  join_pools(ranks, tables.folding);
  name_sleeps(tables);
  agree_on_regions(ranks, tables);
  join(ranks, tables.metrics);
  join(ranks, tables.rank_sets);
}

}  // namespace culprit::assemble
