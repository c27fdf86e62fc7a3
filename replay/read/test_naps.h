// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Naps between tests for a message: who sleeps until the next test does nothing else meanwhile.
#pragma once

#include "base/column.h"
#include "replay/model/run.h"
#include "replay/model/waits.h"

namespace culprit::replay {

/// Within the location's pollings, makes naps a part of the tests (Wait::path). To be called before
/// the waits' amounts are measured. MT: for different locations at the same time.
void take_naps_for_tests(const Column<Wait>& waits, LocationId id, Run& run);

}  // namespace culprit::replay
