// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rows that several ranks know parts of.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/ranks/exchange.h"

namespace culprit::blame {

/// Joins all ranks' rows on the first, in the order of their keys; other ranks get none.
template <class Row>
std::vector<Row> gather_rows(Transport& ranks, std::vector<Row> own) {
  if (!ranks.alone()) {
    Packer packer;
    packer.put_list(std::span<const Row>(own));
    own.clear();
    for (const Parcel& parcel : gather(ranks, packer.take())) {
      if (parcel.empty()) continue;
      Unpacker(parcel).get_list<Row>([&](const Row& row) { own.push_back(row); });
    }
  }
  if (ranks.rank() != 0) return {};
  std::stable_sort(own.begin(), own.end(),
                   [](const Row& a, const Row& b) { return a.key() < b.key(); });
  return own;
}

}  // namespace culprit::blame
