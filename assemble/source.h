// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A run that was prepared, as a trace: each location is played from its records when it is asked
// for.
#pragma once

#include <memory>

#include "assemble/recorded_run.h"
#include "trace/source.h"

namespace culprit::assemble {

std::unique_ptr<trace::Source> source_of(std::unique_ptr<RecordedRun> run);

}  // namespace culprit::assemble
