// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Events that OTF2's own reader unpacks. It calls back for each record.
#pragma once

#include <otf2/otf2.h>

#include "trace/otf2/events.h"
#include "trace/otf2/records/attributes.h"

namespace culprit::trace {

/// The user data of the callbacks.
struct CallbackData {
  EventDecoder& decoder;
  Attributes attributes = {};  ///< of the event at hand
};

/// The callbacks to register with an EvtReader.
const OTF2_EvtReaderCallbacks* event_callbacks();

}  // namespace culprit::trace
