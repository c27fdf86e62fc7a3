// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Parcels that ranks send each other one by one, where one step depends on the last, wherever that
// was. Everything else goes in bulk (transport.h). All transports between ranks can do both.
#pragma once

#include "base/ranks/transport.h"

namespace culprit {

class Stream {
 public:
  virtual ~Stream() = default;

  /// Sends a parcel to another rank, without waiting for it. All that was sent must be received
  /// before ranks exchange again.
  virtual void send(size_t to, Parcel parcel) = 0;
  /// Waits for the next parcel that any rank has sent to this one. Those of one rank come in order.
  virtual Parcel receive() = 0;
};

/// Not of a rank that is alone.
inline Stream& stream_of(Transport& ranks) {
  return dynamic_cast<Stream&>(ranks);
}

}  // namespace culprit
