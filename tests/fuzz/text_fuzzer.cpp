// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The text form of traces: any bytes are a picture or an error that names its line.
#include <string_view>

#include "tests/fuzz/fuzz_target.h"
#include "tests/support/text/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace culprit;
  const auto trace =
      trace::TextTrace::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!trace) {
    fuzz::require_sentence(trace.error());
  } else {
    fuzz::analyse(*trace.value(), {});
  }
  return 0;
}
