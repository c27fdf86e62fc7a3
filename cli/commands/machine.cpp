// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit machine: how much time the operating system takes from programs here and, behind a
// launcher, how long messages take. The copies that a launcher started measure together; only the
// first reports.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "base/printable.h"
#include "base/ranks/exchange.h"
#include "cli/commands/subcommands.h"
#include "cli/experiment.h"
#include "cli/installation.h"
#include "cli/message.h"
#include "cli/ranks.h"
#include "predict/machine/detours.h"
#include "predict/machine/ping_pong.h"
#include "report/exports/figures.h"
#include "report/words/layout.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

struct MachineArguments {
  fs::path output;
  double seconds = 2;
  std::string quantum = "1ms";
  std::string format = "text";
};

/// Operating systems take a few percent at most: if more was lost, other programs ran.
constexpr double kBusy = 0.1;

/// Three digits and a unit.
std::string in_words(double ns) {
  constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
  size_t unit = 0;
  for (; ns >= 999.5 && unit + 1 < std::size(kUnits); ++unit) ns /= 1000;
  return fmt::format("{:.3g} {}", ns, kUnits[unit]);
}
std::string in_words(Duration time) {
  return in_words(static_cast<double>(time.nanos()));
}

std::string noise_in_words(const predict::MachineNoise& noise) {
  const predict::Distribution& length = noise.detours.length;
  const auto worst =
      std::max_element(noise.cores.begin(), noise.cores.end(),
                       [](const auto& a, const auto& b) { return a.largest < b.largest; });
  std::string text =
      fmt::format("{} lost in detours, {:.0f} of them in a second of work. ",
                  report::percent(blame::Proportion::by_itself(noise.detours.share())),
                  noise.detours.per_second_of_work);
  if (length.samples() > 0) {
    text += fmt::format("Half take less than {}, the longest took {}, on core {} of {}. ",
                        in_words(length.quantile_ns(0.5)), in_words(worst->largest), worst->cpu,
                        worst->host);
  }
  const auto lost = [&](double quantile) {
    return blame::Proportion::by_itself(noise.stolen.quantile_ns(quantile) /
                                        static_cast<double>(noise.quantum.nanos()));
  };
  text += fmt::format(
      "Of {} quanta of {} half lose less than {} against the best of their core, and one in a "
      "hundred loses more than {}, slower clocks and shared caches included.",
      noise.stolen.samples(), in_words(noise.quantum), report::percent(lost(0.5)),
      report::percent(lost(0.99)));
  return text;
}

/// "3.2 GB/s". Where large messages seemed no slower than small ones, something else took the time.
std::string bandwidth_in_words(const predict::Link& link) {
  const double rate = link.bytes_per_second();
  if (rate <= 0) return "bandwidth unknown: the processes were disturbed, so measure again";
  return rate >= 1e9 ? fmt::format("{:.3g} GB/s", rate * 1e-9)
                     : fmt::format("{:.3g} MB/s", rate * 1e-6);
}

std::string link_in_words(const predict::Link& link) {
  std::string text =
      fmt::format("latency {}, {}. ", in_words(link.latency), bandwidth_in_words(link));
  if (link.send_overhead > Duration::zero()) {
    text += fmt::format("Of the latency, a small message takes {} to send and {} to receive. ",
                        in_words(link.send_overhead), in_words(link.receive_overhead));
  }
  if (link.step_bytes > 0) {
    text += fmt::format("From {} bytes on, messages take {} more than their size explains.",
                        link.step_bytes, in_words(link.step));
  }
  return text;
}

std::string page_of(const predict::Machine& machine) {
  constexpr size_t kColumn = 14;
  std::string page;
  const auto line = [&](std::string_view what, const std::string& words) {
    std::string lines = report::wrapped(printable(words), kColumn);
    lines.replace(0, kColumn, report::left(what, kColumn));
    page += lines;
  };
  line("measured", fmt::format("{} of {}, each for {:.2g} s",
                               report::counted(machine.noise.cores.size(), "core"),
                               report::listed(machine.hosts), machine.noise.measured.seconds()));
  if (const double share = machine.noise.detours.share(); share > kBusy) {
    line("busy", fmt::format("Other programs took {} of the cores while this was measured: the "
                             "figures below are theirs more than the machine's. Measure again when "
                             "nothing else runs.",
                             report::percent(blame::Proportion::by_itself(share))));
  }
  line("noise", noise_in_words(machine.noise));
  for (const predict::Link& link : machine.links) {
    line(predict::name_of(link.kind), link_in_words(link));
  }
  if (machine.links.empty()) {
    line("messages", "not measured: for that, mpirun -n 2 culprit machine");
  }
  return page;
}

/// Measures on all ranks; only the first rank's result is used.
predict::Machine measure(Transport& ranks, const predict::NoiseSettings& settings) {
  predict::Machine machine;
  const auto hosts = predict::watch_cores(ranks, settings);
  machine.links = predict::measure_links(ranks, {});
  machine.culprit = std::string(kVersion);
  machine.date = time_for_people();
  machine.mpi =
      launched_by([](const char* name) -> const char* { return std::getenv(name); }).value().mpi;
  for (const predict::HostRecords& each : hosts) {
    if (std::find(machine.hosts.begin(), machine.hosts.end(), each.host) == machine.hosts.end()) {
      machine.hosts.push_back(each.host);
    }
  }
  machine.noise = predict::summarize(settings, hosts);
  return machine;
}

Result<predict::NoiseSettings> settings_of(const MachineArguments& arguments) {
  const auto quantum = predict::parse_duration(arguments.quantum);
  if (!quantum) return quantum.error();
  const auto measured = Duration::from_nanos(static_cast<int64_t>(arguments.seconds * 1e9));
  if (*quantum < Duration::from_nanos(10'000) || measured < *quantum) {
    return Error{"a quantum must last at least 10 us, and the measurement at least one quantum"};
  }
  return predict::NoiseSettings{measured, *quantum};
}

Result<void> look_for_output(const MachineArguments& arguments) {
  std::error_code code;
  if (arguments.output.empty() || !fs::exists(fs::symlink_status(arguments.output, code))) {
    return {};
  }
  return Error{"'" + arguments.output.string() + "' already exists: name a new one with -o"};
}

int tell(const MachineArguments& arguments, const predict::Machine& machine) {
  if (machine.noise.cores.empty()) {
    return fail({"no thread could be bound to a core: does something (a container) forbid it?"});
  }
  const std::string json = predict::to_json(machine);
  if (!arguments.output.empty()) {
    if (auto written = report::write_new_file(arguments.output, json); !written) {
      return fail(written.error());
    }
  }
  std::fputs((arguments.format == "json" ? json : page_of(machine)).c_str(), stdout);
  return 0;
}

int run_machine(const MachineArguments& arguments) {
  const auto opened = open_ranks(false);
  if (!opened) return fail(opened.error());
  Transport& ranks = *opened.value();
  const bool first = ranks.rank() == 0;
  const auto settings = settings_of(arguments);
  const auto ready = !settings ? Result<void>(settings.error())
                     : first   ? look_for_output(arguments)
                               : Result<void>();
  if (first && !ready) fail(ready.error());
  const std::vector<bool> all_ready = gather_everywhere(ranks, ready.ok());
  if (std::find(all_ready.begin(), all_ready.end(), false) != all_ready.end()) return kFailure;
  const predict::Machine machine = measure(ranks, *settings);
  return first ? tell(arguments, machine) : 0;
}

}  // namespace

Action add_machine(CLI::App& command, const Program&) {
  auto arguments = std::make_shared<MachineArguments>();
  command.add_option("-o,--output", arguments->output,
                     "a file to create, which predictions can read; nothing is overwritten");
  command.add_option("--seconds", arguments->seconds, "how long to watch each core (default: 2)")
      ->check(CLI::Range(0.01, 3600.0));
  command.add_option("--quantum", arguments->quantum,
                     "the fixed time in which work is counted, as in 500us (default: 1ms)");
  command.add_option("--format", arguments->format, "text or json (default: text)")
      ->check(CLI::IsMember({"text", "json"}));
  return [arguments] { return run_machine(*arguments); };
}

}  // namespace culprit::cli
