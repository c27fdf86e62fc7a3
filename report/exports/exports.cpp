// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "report/exports/exports.h"

namespace culprit::report {
namespace {

constexpr FindingsExport kFindingsExports[] = {
#define FINDINGS_EXPORT(id, summary) {#id, summary, export_##id},
#define EXCERPT_EXPORT(id, summary)
#include "report/exports/exports.def"
#undef FINDINGS_EXPORT
#undef EXCERPT_EXPORT
};

constexpr ExcerptExport kExcerptExports[] = {
#define FINDINGS_EXPORT(id, summary)
#define EXCERPT_EXPORT(id, summary) {#id, summary, export_##id},
#include "report/exports/exports.def"
#undef FINDINGS_EXPORT
#undef EXCERPT_EXPORT
};

}  // namespace

std::span<const FindingsExport> findings_exports() {
  return kFindingsExports;
}

std::span<const ExcerptExport> excerpt_exports() {
  return kExcerptExports;
}

}  // namespace culprit::report
