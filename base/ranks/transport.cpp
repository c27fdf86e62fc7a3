// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "base/ranks/transport.h"

#include <unistd.h>

#include <array>

namespace culprit {

std::string Transport::node() const {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace culprit
