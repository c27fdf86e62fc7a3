// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit view: a page for the browser, in one file. The findings are in it whole; of single
// activities and messages as many as a page can hold, the longest ones and those around the worst
// waits.

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <vector>

#include "assemble/sampled_lines.h"
#include "cli/commands/part_options.h"
#include "cli/commands/subcommands.h"
#include "cli/experiment.h"
#include "cli/find_sources.h"
#include "cli/message.h"
#include "cli/open_findings.h"
#include "cli/pipeline.h"
#include "cli/serve/loopback.h"
#include "cli/terminal.h"
#include "report/exports/figures.h"
#include "report/page_data/html.h"
#include "report/page_data/pack.h"
#include "report/page_data/reduce.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

constexpr log::Component kLog("view");

struct ViewArguments {
  fs::path input;
  fs::path output;
  unsigned threads = 0;
  std::optional<uint64_t> window;
  bool no_events = false;
  std::vector<fs::path> sources;  ///< folders with the program's
  bool serve = false;
  uint16_t port = 0;
};

/// The largest number of events of a part that a served page requests: as many as it draws.
constexpr size_t kMostOfPart = 60'000;

/// Returns the run's single events, if its trace is still there. Without them the page shows the
/// findings only.
std::optional<blame::Excerpt> excerpt_for(const ViewArguments& arguments,
                                          const OpenFindings& opened) {
  std::error_code code;
  const auto info = read_info(opened.folder);
  if (arguments.no_events || !info || !fs::exists(trace_of(opened.folder, *info), code)) return {};
  Losses losses;
  auto excerpt = open_excerpt(opened.folder, {}, arguments.threads, losses, arguments.window);
  if (!excerpt) {
    kLog.warning("the page has no single events: {}", excerpt.error().sentence);
    return {};
  }
  if (!report::same_run(*excerpt, opened.findings)) {
    kLog.warning(
        "the page has no single events: the findings are of another analysis; run "
        "`culprit analyze {}`",
        for_display(opened.folder).string());
    return {};
  }
  return std::move(*excerpt);
}

/// The lines that samples found, if the run's records are there, and the files that they are of.
report::PageSources sources_for(const ViewArguments& arguments, const fs::path& folder) {
  report::PageSources sources;
  if (arguments.no_events || !has_raw_records(folder)) return sources;
  const auto lines = assemble::sampled_lines(folder, arguments.threads);
  if (!lines) return sources;
  std::set<std::string> files;
  for (const assemble::SampledLine& each : *lines) {
    sources.lines.push_back(
        {each.rank, each.function, each.file, each.line, each.samples, each.with_callees});
    files.insert(each.file);
  }
  sources.texts = find_sources(arguments.sources, files);
  return sources;
}

bool is_there(const fs::path& file) {
  std::error_code code;
  return fs::exists(fs::symlink_status(file, code));
}

/// Nothing is overwritten: the experiment may hold pages of earlier analyses.
fs::path unused_name(const fs::path& folder) {
  fs::path file = folder / "view.html";
  for (int n = 2; is_there(file); ++n) file = folder / fmt::format("view-{}.html", n);
  return file;
}

Result<std::string> page_of(const OpenFindings& opened,
                            const std::optional<blame::Excerpt>& excerpt,
                            const report::PageSources& sources) {
  if (!excerpt) return report::html_page(report::pack_page(opened.findings, nullptr, sources));
  blame::Excerpt some = *excerpt;
  report::reduce(some, opened.findings);
  return report::html_page(report::pack_page(opened.findings, &some, sources));
}

/// A number of the query; none if it is not there, or is none.
std::optional<double> number(const WebRequest& request, const char* name) {
  const auto given = request.query.find(name);
  if (given == request.query.end()) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(given->second.c_str(), &end);
  return end == given->second.c_str() ? std::nullopt : std::optional(value);
}

/// Returns the run's events in the part that the query names, packed as in the page.
WebAnswer part_for(const WebRequest& request, const OpenFindings& opened,
                   const std::optional<blame::Excerpt>& excerpt) {
  PartOptions options;
  options.from_s = number(request, "from");
  options.to_s = number(request, "to");
  if (const auto ranks = request.query.find("ranks"); ranks != request.query.end()) {
    options.ranks = ranks->second;
  }
  const auto selection = selected_part(options);
  if (!excerpt || !selection) return {404, "text/plain", "there is no such part\n"};
  blame::Excerpt part = report::part_of(*excerpt, *selection);
  report::reduce(part, opened.findings, kMostOfPart);
  auto packed = report::gzip(report::pack_part(part));
  if (!packed) return {404, "text/plain", packed.error().sentence};
  return {200, "application/octet-stream", std::move(*packed)};
}

int serve(const ViewArguments& arguments, const OpenFindings& opened,
          const std::optional<blame::Excerpt>& excerpt, const std::string& page) {
  const auto token = random_token();
  if (!token) return fail(token.error());
  const auto ready = [&](uint16_t port) {
    static_cast<void>(print(fmt::format("http://127.0.0.1:{}/?token={}\n", port, *token)));
    kLog.info(
        "serving on this machine alone until interrupted; behind ssh: ssh -L {0}:127.0.0.1:{0}",
        port);
  };
  const auto done =
      serve_loopback(arguments.port, *token, ready, [&](const WebRequest& request) -> WebAnswer {
        if (request.path == "/") return {.body = page};
        if (request.path == "/part") return part_for(request, opened, excerpt);
        return {404, "text/plain", "there is no such page\n"};
      });
  return done ? 0 : fail(done.error());
}

int view(const ViewArguments& arguments) {
  if (!arguments.output.empty() && is_there(arguments.output)) {  // said before anything is read
    return fail({"'" + arguments.output.string() + "' already exists: name a new one with -o"});
  }
  const auto opened = open_findings(arguments.input, arguments.window, arguments.threads);
  if (!opened) return fail(opened.error());
  const auto excerpt = excerpt_for(arguments, *opened);
  const auto page = page_of(*opened, excerpt, sources_for(arguments, opened->folder));
  if (!page) return fail(page.error());
  if (arguments.serve) return serve(arguments, *opened, excerpt, *page);
  const fs::path file =
      arguments.output.empty() ? unused_name(opened->folder) : fs::absolute(arguments.output);
  if (auto written = report::write_new_file(file, *page); !written) return fail(written.error());
  return print(for_display(file).string() + "\n") ? 0 : fail(lost_output());
}

}  // namespace

Action add_view(CLI::App& command, const Program&) {
  auto arguments = std::make_shared<ViewArguments>();
  command.add_option("experiment", arguments->input,
                     "an experiment folder, or its findings.db (default: the newest one here)");
  command.add_option("-o,--output", arguments->output,
                     "the HTML file to write (default: view.html in the experiment, or view-2.html "
                     "and so on); its path is printed");
  command.add_flag("--no-events", arguments->no_events,
                   "the findings alone: do not read the trace for single activities and messages");
  command.add_option("--sources", arguments->sources,
                     "folders with the program's sources, which are packed into the page as far as "
                     "samples found their lines: who gets the page can read them");
  command
      .add_flag("--serve", arguments->serve,
                "instead of writing a file, serve the page on this machine's loopback interface, "
                "with all single events wherever one looks; prints the address")
      ->excludes("--output");
  command.add_option("--port", arguments->port, "the port to serve on (default: any)")
      ->needs("--serve");
  command.add_option("--window", arguments->window,
                     "of a long run, one of its windows alone (0: the part from its begin of which "
                     "everything is recorded)");
  command.add_option("-j,--jobs", arguments->threads, "threads to use (default: all cores)");
  return [arguments] { return view(*arguments); };
}

}  // namespace culprit::cli
