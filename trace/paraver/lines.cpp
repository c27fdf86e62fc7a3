// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "trace/paraver/lines.h"

#include <cstring>

namespace culprit::trace {

bool LineReader::next(std::string_view& line) {
  size_t looked = 0;
  for (;;) {
    const char* const first = buffer_.data() + begin_;
    const size_t there = end_ - begin_;
    const void* const end = std::memchr(first + looked, '\n', there - looked);
    if (end != nullptr) {
      line = {first, static_cast<size_t>(static_cast<const char*>(end) - first)};
      begin_ += line.size() + 1;
      return true;
    }
    looked = there;
    if (!done_ && refill()) continue;
    done_ = true;
    cut_ |= there > 0;
    line = {buffer_.data() + begin_, there};
    begin_ = end_;
    return there > 0;
  }
}

/// False: there is no more text, or no room for a longer line.
bool LineReader::refill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) {
    if (buffer_.size() >= kLongest) return false;
    buffer_.resize(2 * buffer_.size());
  }
  const size_t got = file_.read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += got;
  return got > 0;
}

}  // namespace culprit::trace
