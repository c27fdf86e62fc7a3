// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The activities of one location: intervals at one call path, which tile its life. Two columns,
// twelve bytes each; where one ends the next begins, and the last ends with the run. Waits are not
// carved out of them: they are a list of their own (waits.h), at the call path of the activities
// that they lie in.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/column.h"
#include "base/ids.h"
#include "base/time.h"

namespace culprit::replay {

class Activities {
 public:
  size_t size() const { return begins_.size(); }
  bool empty() const { return begins_.empty(); }
  Time begin(size_t i) const { return begins_[i]; }
  Time end(size_t i) const { return i + 1 < begins_.size() ? begins_[i + 1] : end_; }
  CallPathId path(size_t i) const { return paths_[i]; }

  /// Returns the activity that contains the time right after `time`; the first if `time` is earlier
  /// than all.
  size_t after(Time time) const {
    const auto next = std::upper_bound(begins_.begin(), begins_.end(), time);
    return next == begins_.begin() ? 0 : static_cast<size_t>(next - begins_.begin()) - 1;
  }
  /// The same, searched forward from activity `from`, which must not begin later than `time`
  /// (unless it is the first). Cheap if the result is near.
  size_t after(Time time, size_t from) const {
    size_t step = 1, low = from;
    while (low + step < begins_.size() && begins_[low + step] <= time) low += step, step *= 2;
    const Time* end = begins_.begin() + std::min(low + step, begins_.size());
    const Time* next = std::upper_bound(begins_.begin() + low, end, time);
    return next == begins_.begin() ? 0 : static_cast<size_t>(next - begins_.begin()) - 1;
  }
  /// The same, searched backward from activity `from`, which must not end before `time`.
  size_t after_back(Time time, size_t from) const {
    size_t step = 1, high = from;
    while (high > 0 && begins_[high] > time) {
      high = high > step ? high - step : 0;
      step *= 2;
    }
    return after(time, high);
  }
  /// Returns the activity that contains the time right before `time`.
  size_t before(Time time) const {
    const auto next = std::lower_bound(begins_.begin(), begins_.end(), time);
    return next == begins_.begin() ? 0 : static_cast<size_t>(next - begins_.begin()) - 1;
  }

  void reserve(size_t size) {
    begins_.reserve(size);
    paths_.reserve(size);
  }
  void push_back(Time begin, CallPathId path) {
    begins_.push_back(begin);
    paths_.push_back(path);
  }
  void set_begin(size_t i, Time begin) { begins_[i] = begin; }
  void set_path(size_t i, CallPathId path) { paths_[i] = path; }
  /// Sets the end of the last activity.
  void set_end(Time end) { end_ = end; }

  /// For passes over all of them.
  Column<Time>& begins() { return begins_; }
  const Column<Time>& begins() const { return begins_; }
  Column<CallPathId>& paths() { return paths_; }
  const Column<CallPathId>& paths() const { return paths_; }

  /// Splits activities: each piece begins an activity of its own. Ascending, and none at a time
  /// where one begins already.
  struct Piece {
    Time begin;
    CallPathId path;
  };
  void split(std::span<const Piece> pieces) {
    size_t from = begins_.size();
    begins_.resize(from + pieces.size());
    paths_.resize(from + pieces.size());
    for (size_t to = begins_.size(), left = pieces.size(); left > 0;) {
      --to;
      if (from > 0 && begins_[from - 1] > pieces[left - 1].begin) {
        --from;
        begins_[to] = begins_[from];
        paths_[to] = paths_[from];
      } else {
        --left;
        begins_[to] = pieces[left].begin;
        paths_[to] = pieces[left].path;
      }
    }
  }

 private:
  Column<Time> begins_;
  Column<CallPathId> paths_;
  Time end_;
};

}  // namespace culprit::replay
