// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The terminal while culprit top has it: keys one by one, a page of its own in place of what stood
// there. However the command ends, by a key, a signal or an error, the terminal is as it was.
#pragma once

#include <termios.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/top/top_view.h"

namespace culprit::cli {

class Screen {
 public:
  /// stdin and stdout must be terminals.
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  struct Size {
    size_t rows = 24;
    size_t columns = 80;
  };
  Size size() const;
  /// False if the terminal is gone.
  bool show(std::string_view page) const;

  /// Waits for a key, a signal, or something to read from `also`, for so long at most.
  void wait(int also, int milliseconds);
  /// A key that has been pressed; none if there is none.
  TopKey key();
  /// Ctrl-C, or another wish to end.
  static bool is_to_end();
  /// After Ctrl-Z: stops this process with the terminal as it was, and takes it again afterwards.
  void stop_if_asked();

 private:
  void enter() const;
  void leave() const;

  termios before_ = {};
  std::string typed_;
  bool closed_ = false;  ///< no more keys will come
};

}  // namespace culprit::cli
