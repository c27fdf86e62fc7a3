// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "report/exports/exports.h"

namespace culprit::report {
namespace {

constexpr FindingsExport kFindingsExports[] = {
#define FINDINGS_EXPORT(id, summary) {#id, summary, export_##id},
#define EXCERPT_EXPORT(id, summary)
#define RUN_EXPORT(id, summary)
#include "report/exports/exports.def"
#undef FINDINGS_EXPORT
#undef EXCERPT_EXPORT
#undef RUN_EXPORT
};

constexpr ExcerptExport kExcerptExports[] = {
#define FINDINGS_EXPORT(id, summary)
#define EXCERPT_EXPORT(id, summary) {#id, summary, export_##id},
#define RUN_EXPORT(id, summary)
#include "report/exports/exports.def"
#undef FINDINGS_EXPORT
#undef EXCERPT_EXPORT
#undef RUN_EXPORT
};

constexpr RunExport kRunExports[] = {
#define FINDINGS_EXPORT(id, summary)
#define EXCERPT_EXPORT(id, summary)
#define RUN_EXPORT(id, summary) {#id, summary, export_##id},
#include "report/exports/exports.def"
#undef FINDINGS_EXPORT
#undef EXCERPT_EXPORT
#undef RUN_EXPORT
};

}  // namespace

std::span<const FindingsExport> findings_exports() {
  return kFindingsExports;
}

std::span<const ExcerptExport> excerpt_exports() {
  return kExcerptExports;
}

std::span<const RunExport> run_exports() {
  return kRunExports;
}

}  // namespace culprit::report
