// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "collector/sampling/sampler.h"
#include "collector/sampling/sleeps.h"
#include "collector/sampling/thread_waits.h"

namespace culprit::collector::sampling {

void load() {
  find_sleeping_calls();
  find_thread_calls();
}

}  // namespace culprit::collector::sampling
