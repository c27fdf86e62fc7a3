// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One member's part in a collective operation.
#pragma once

#include <cstdint>

#include "replay/model/run.h"

namespace culprit::replay {

/// Which group of an inter-communicator a member belongs to.
enum class Side : uint8_t { whole, first, second };

/// One member's part in one operation.
struct Part {
  const CollectiveOp* op;
  uint32_t rank;  ///< in the communicator; in an inter-communicator, in its own group
  Side side;
  LocationId posted_by, location;
  Call posted;
  Call completed;  ///< if polled for, from the first test that found nothing
};

}  // namespace culprit::replay
