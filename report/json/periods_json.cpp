// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "report/json/periods_json.h"

#include "base/printable.h"
#include "report/json/rows.h"

namespace culprit::report {

std::string periods_json(const std::vector<blame::FoundPeriod>& periods,
                         std::optional<double> now_s) {
  const blame::Findings none;
  Json object = Json::object();
  if (now_s) object["now_s"] = *now_s;
  object["periods"] = JsonValues{none}.rows(periods);
  return printable_json(object.dump(now_s ? -1 : 2, ' ', false, Json::error_handler_t::replace)) +
         "\n";
}

}  // namespace culprit::report
