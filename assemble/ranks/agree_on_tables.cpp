// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Tables are joined in the order of ranks, by all. Regions come first, since pools refer to them;
// and once more, since sleeps that the joined pools show have names of their own.
#include "assemble/ranks/agree_on_tables.h"

#include "base/ranks/exchange.h"

namespace culprit::assemble {
namespace {

void agree_on_regions(Transport& ranks, const PlayedTables& tables) {
  Packer packer;
  tables.regions.pack(packer);
  const std::vector<RegionId> number =
      tables.regions.join(gather_everywhere(ranks, packer.take()), ranks.rank());
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
  join(ranks, tables.folding);
  name_sleeps(tables);
  agree_on_regions(ranks, tables);
  join(ranks, tables.metrics);
  join(ranks, tables.rank_sets);
}

}  // namespace culprit::assemble
