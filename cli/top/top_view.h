// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What culprit top shows, as text, and what keys do to it. Knows nothing of terminals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/top/now.h"
#include "report/table/selection.h"
#include "report/table/tables.h"

namespace culprit::cli {

enum class TopKey : uint8_t {
  none,
  up,
  down,
  page_up,
  page_down,
  first,
  last,
  next_view,
  previous_view,
  next_column,
  previous_column,
  reverse,
  into,
  back,
  pause,
  help,
  quit,
};

class TopView {
 public:
  explicit TopView(std::string experiment) : experiment_(std::move(experiment)) {}

  void set(Now now);
  /// Why the newest look showed nothing; the page goes on showing the one before.
  void set_problem(std::string sentence) { problem_ = std::move(sentence); }
  /// Another look at a program that has ended would show the same.
  bool is_over() const { return now_ && !now_->runs; }
  bool is_paused() const { return paused_; }

  /// False: it is time to end.
  bool press(TopKey key);

  /// A page of at most this number of lines and columns, with the chosen row marked.
  std::string page(size_t rows, size_t columns, double now_s) const;
  /// The same for a file or a pipe: all that matters, nothing marked.
  std::string plain(double now_s) const;

 private:
  /// One step on the way down.
  struct Level {
    report::GroupBy by = report::GroupBy::region;
    report::Selection selection;
    std::vector<std::string> callpaths;  ///< these alone; empty: all
    std::string name;                    ///< what was chosen to come here
    size_t chosen = 0;
    size_t sort = 0;  ///< column; 0: as the table is
    bool reversed = false;
  };
  Level& level() { return levels_.back(); }
  const Level& level() const { return levels_.back(); }

  std::optional<report::ReportTable> table() const;
  void change_view(int by);
  void change_column(int by);
  void descend();
  std::vector<std::string> head(size_t columns, double now_s) const;
  std::string way() const;

  std::string experiment_;
  std::optional<Now> now_;
  std::string problem_;
  std::vector<Level> levels_{1};
  bool paused_ = false;
  bool helps_ = false;
};

}  // namespace culprit::cli
