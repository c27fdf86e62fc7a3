// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Tables by location of which an analysis rank fills in its own locations only. Those of others
// share one empty entry, so that they cost no more than a number each (docs/decisions/0010).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"

namespace culprit::replay {

/// The places of a rank's own locations in its tables. One for all tables of a run.
class OwnPlaces {
 public:
  static constexpr uint32_t kForeign = UINT32_MAX;

  /// `owned`: by LocationId.
  explicit OwnPlaces(const std::vector<bool>& owned) : all_(owned.size()) {
    for (const bool own : owned) count_ += own ? 1 : 0;
    if (count_ == all_) return;
    places_.resize(all_, kForeign);
    uint32_t next = 0;
    for (size_t i = 0; i < all_; ++i) {
      if (owned[i]) places_[i] = next++;
    }
  }

  size_t all() const { return all_; }
  size_t own() const { return count_; }
  uint32_t place(size_t location) const {
    return places_.empty() ? static_cast<uint32_t>(location) : places_[location];
  }

 private:
  size_t all_ = 0, count_ = 0;
  std::vector<uint32_t> places_;  ///< by LocationId; empty: all are own
};

template <class T>
class OwnTable {
 public:
  /// An empty entry for each location, all of which are own.
  void resize(size_t all) { reset(std::make_shared<OwnPlaces>(std::vector<bool>(all, true))); }
  /// An empty entry for each location that is this rank's.
  void reset(std::shared_ptr<const OwnPlaces> places) {
    places_ = std::move(places);
    entries_ = std::vector<T>(places_->own());
  }

  /// How many locations there are on all ranks.
  size_t size() const { return places_ == nullptr ? 0 : places_->all(); }
  /// Only own ones can be changed.
  T& operator[](size_t location) {
    const uint32_t place = places_->place(location);
    CULPRIT_CHECK(place != OwnPlaces::kForeign);
    return entries_[place];
  }
  const T& operator[](size_t location) const {
    static const T kNothing = T();
    const uint32_t place = places_->place(location);
    return place == OwnPlaces::kForeign ? kNothing : entries_[place];
  }

 private:
  std::shared_ptr<const OwnPlaces> places_;
  std::vector<T> entries_;
};

}  // namespace culprit::replay
