// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What comes with an event beside its fields. Most events have nothing; the others one to ten.
#pragma once

#include <otf2/otf2.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace culprit::trace {

class Attributes {
 public:
  bool empty() const { return entries_.empty(); }
  void clear() { entries_.clear(); }
  /// Numbers and references as they are, extended to 64 bits. False if it was there.
  bool add(OTF2_AttributeRef ref, OTF2_Type type, uint64_t value) {
    if (find(ref)) return false;
    entries_.push_back({ref, type, value});
    return true;
  }

  /// Of any type. An archive that does not define an attribute has OTF2_UNDEFINED_ATTRIBUTE for it.
  bool has(OTF2_AttributeRef ref) const {
    return ref != OTF2_UNDEFINED_ATTRIBUTE && find(ref) != nullptr;
  }
  /// Nothing as well if its type is another one.
  std::optional<uint64_t> value(OTF2_AttributeRef ref, OTF2_Type type) const {
    const Entry* found = find(ref);
    if (ref == OTF2_UNDEFINED_ATTRIBUTE || !found || found->type != type) return std::nullopt;
    return found->value;
  }

 private:
  struct Entry {
    OTF2_AttributeRef ref;
    OTF2_Type type;
    uint64_t value;
  };
  const Entry* find(OTF2_AttributeRef ref) const {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return entry.ref == ref; });
    return found == entries_.end() ? nullptr : &*found;
  }

  std::vector<Entry> entries_;
};

}  // namespace culprit::trace
