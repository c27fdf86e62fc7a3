// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which functions of CUDA's runtime and driver matter, and their actions. They are recognised by
// their names, as CUPTI lists them at run time, so that functions of other versions of the toolkit
// are found, too.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "gpu/cuda/cupti_library.h"
#include "gpu/face.h"

namespace culprit::gpu::cuda {

enum class CallKind : uint8_t {
  none,        ///< of no interest
  first,       ///< only if the runtime starts up in it
  plain,       ///< may take long, hands nothing over
  hands_over,  ///< an operation
  asks         ///< whether an event has come, or a stream is empty
};

/// The object for which a call waits before it returns. For a stream or an event, CUPTI's record of
/// the call has its number; for other waits that record may be missing, or of another type.
enum class CallWaits : uint8_t {
  no,
  own_operation,    ///< a blocking copy
  event,            ///< its last recording
  stream,           ///< all of it
  device,           ///< all of it; CUPTI should have a record
  device_untracked  ///< likewise, and CUPTI has none: freeing memory
};

struct Call {
  const char* name = nullptr;  ///< without the version at its end; lives for ever
  CallKind kind = CallKind::none;
  DeviceOpKind operation = DeviceOpKind::other;
  /// For what it waits, or asks. Those that ask name an event or a stream as their first argument.
  CallWaits waits = CallWaits::no;
  bool begins_capture = false, ends_capture = false;  ///< trace::DeviceTrait's
  bool has_length = false;  ///< the third argument is how many bytes or elements it is for
};

/// The action of a function of this name (as CUPTI has it).
Call call_named(std::string_view name);

/// All functions of the two domains, by number.
class Calls {
 public:
  static constexpr uint32_t kMost = 2048;
  /// Asks CUPTI for all names, and for callbacks of those that are of interest.
  void enable(const Cupti& cupti, CUpti_SubscriberHandle subscriber);
  const Call& find(CUpti_CallbackDomain domain, uint32_t number) const {
    static constexpr Call kNone;
    if (number >= kMost) return kNone;
    return domain == CUPTI_CB_DOMAIN_RUNTIME_API  ? runtime_[number]
           : domain == CUPTI_CB_DOMAIN_DRIVER_API ? driver_[number]
                                                  : kNone;
  }

 private:
  std::array<Call, kMost> runtime_;
  std::array<Call, kMost> driver_;
};

}  // namespace culprit::gpu::cuda
