// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "report/words/displayed.h"

#include "base/printable.h"
#include "blame/findings/findings_fields.h"

namespace culprit::report {

blame::Findings displayed(const blame::Findings& findings) {
  blame::Findings safe = findings;
  blame::visit_texts(safe, [](std::string& text) { text = printable(text); });
  safe.losses = {};
  for (const auto& [name, loss] : findings.losses.all()) {
    safe.losses.restore(printable(name), {loss.count, loss.severity, printable(loss.advice)});
  }
  return safe;
}

}  // namespace culprit::report
