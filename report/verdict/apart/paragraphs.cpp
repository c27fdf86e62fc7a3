// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each file of this folder has words for one of them.
#include "report/verdict/apart/paragraphs.h"

#include "report/verdict/apart/spare_threads.h"
#include "report/verdict/apart/start_up.h"

namespace culprit::report {

std::string paragraphs_apart(const blame::Findings& findings, const PageNames& names,
                             const TimeFormat& time) {
  std::string page;
  for (const std::string& text :
       {start_up_sentence(findings, time), spare_threads_sentence(findings, names, time),
        start_skew_section(findings, names, time)}) {
    if (!text.empty()) page += '\n' + wrapped(text, 0);
  }
  return page;
}

}  // namespace culprit::report
