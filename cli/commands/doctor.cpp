// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit doctor: the capabilities of this machine for a measurement, with each missing part, the
// feature that needs it, and how to get it. Every check is a function that adds lines; none changes
// anything. Libraries are looked at by loading them, as programs would; nothing in them is started.

#include <dlfcn.h>
#include <link.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/files/regular_file.h"
#include "base/printable.h"
#include "cli/commands/subcommands.h"
#include "cli/installation.h"
#include "cli/launch/child.h"
#include "cli/launch/left_out.h"
#include "cli/launch/openmp_runtime.h"
#include "cli/message.h"
#include "report/words/layout.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

enum class Health { good, missing, note };

/// The results so far, and whether the main job (measuring MPI or OpenMP) works.
struct Diagnosis {
  bool collector = false;
  bool mpi = false;
  bool openmp = false;
};

void tell(Health state, const std::string& topic, const std::string& text) {
  const char* word = state == Health::good ? "ok" : state == Health::missing ? "missing" : "note";
  constexpr size_t kTextColumn = 24;
  std::string lines = report::wrapped(printable(text), kTextColumn);
  lines.replace(0, kTextColumn, report::left(word, 9) + report::left(topic, kTextColumn - 9));
  std::fputs(lines.c_str(), stdout);
}

/// A clause as a sentence of its own.
std::string sentence(std::string clause) {
  if (!clause.empty()) clause[0] = static_cast<char>(std::toupper(clause[0]));
  return clause + ".";
}

/// A library loaded for a look, and unloaded again.
class Library {
 public:
  explicit Library(const std::string& name) : handle_(dlopen(name.c_str(), RTLD_LAZY)) {
    if (!handle_) why_not_ = dlerror();
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (handle_) dlclose(handle_);
  }
  explicit operator bool() const { return handle_ != nullptr; }
  /// Why it could not be loaded, in the dynamic linker's words.
  const std::string& why_not() const { return why_not_; }
  void* symbol(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }
  std::string path() const {
    link_map* map = nullptr;
    if (!handle_ || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || !map) return "";
    std::error_code code;
    const fs::path real = fs::canonical(map->l_name, code);
    return code ? map->l_name : real.string();
  }

 private:
  void* handle_;
  std::string why_not_;
};

std::string first_line(const fs::path& file) {
  const std::string text = read_regular_file(file, Owner::anybody).value_or("");
  return text.substr(0, text.find('\n'));
}

void check_collector(Diagnosis& diagnosis) {
  const auto library = preload_library();
  diagnosis.collector = library.ok();
  if (library) {
    tell(Health::good, "collector", library.value().string());
  } else {
    tell(Health::missing, "collector", library.error().sentence + ". Nothing can be measured.");
  }
}

void check_header() {
  const fs::path folder = include_folder();
  std::error_code code;
  const bool there = fs::exists(folder / "culprit.h", code);
  tell(there ? Health::good : Health::missing, "culprit.h",
       there ? fmt::format("-I{}: for programs that mark their own regions, phases and iterations; "
                           "nothing to link. For Fortran: culprit.f90 in the same folder.",
                           folder.string())
             : fmt::format("not found in {}. Programs cannot mark their own regions.",
                           folder.string()));
}

struct MpiKind {
  const char* name;
  const char* library;
  const char* decoder;  ///< ours, and so is the next
  const char* ranks;
  const char* launcher;
  const char* package;  ///< Debian's, for programs to run
};

constexpr MpiKind kMpiKinds[] = {
    {"Open MPI", "libmpi.so.40", "libculprit-mpi-openmpi.so", "libculprit-ranks-openmpi.so",
     "mpirun.openmpi", "openmpi-bin"},
    {"MPICH", "libmpich.so.12", "libculprit-mpi-mpich.so", "libculprit-ranks-mpich.so",
     "mpirun.mpich", "mpich"},
};

void check_mpi(const MpiKind& kind, Diagnosis& diagnosis) {
  std::error_code code;
  const bool decoder = fs::exists(library_folder() / kind.decoder, code);
  const Library library(kind.library);
  if (library && decoder) {
    diagnosis.mpi = true;
    const bool ranks = fs::exists(library_folder() / kind.ranks, code);
    tell(ranks ? Health::good : Health::missing, kind.name,
         fmt::format("{}, supported by {}; {}", library.path(), kind.decoder,
                     ranks ? "culprit analyze can run on several ranks with it"
                           : "culprit analyze cannot run on several ranks with it: " +
                                 why_absent(kind.name, kind.ranks)));
  } else if (library) {
    tell(Health::missing, kind.name,
         fmt::format(
             "{} is installed, and its programs run, but their MPI calls are not recorded: {}.",
             library.path(), why_absent(kind.name, kind.decoder)));
  } else {
    tell(Health::note, kind.name,
         fmt::format(
             "no {} on this machine; only programs that use {} need it (Debian package {}).{}",
             kind.library, kind.name, kind.package,
             decoder ? "" : " " + sentence(why_absent(kind.name, kind.decoder))));
  }
}

void check_launchers() {
  std::vector<std::string> found;
  for (const char* name : {"mpirun", "mpiexec", "mpirun.openmpi", "mpirun.mpich", "srun"}) {
    if (check_program(name) == 0) found.emplace_back(name);
  }
  if (found.empty()) {
    tell(Health::missing, "launchers",
         "neither mpirun nor srun is in PATH. Needed to start programs with more than one rank "
         "(Debian package openmpi-bin).");
  } else {
    tell(Health::good, "launchers", report::listed(found));
  }
}

void check_openmp(Diagnosis& diagnosis) {
  const Library collector((library_folder() / "libculprit.so").string());
  if (!collector) {
    tell(Health::missing, "OpenMP",
         "OpenMP threads may not be observed: " + printable(collector.why_not()) + ".");
    return;
  }
  const bool built = collector.symbol("ompt_start_tool") != nullptr;
  const auto runtimes = find_openmp_runtimes();
  if (!built) {
    tell(Health::missing, "OpenMP",
         "OpenMP threads are not observed: " + why_absent("OpenMP", "ompt_start_tool") + ".");
    return;
  }
  diagnosis.openmp = true;
  const std::string observed =
      "Programs built with gcc are observed on their own runtime (libgomp), those built with clang "
      "on theirs (libomp)";
  if (runtimes.empty()) {
    tell(Health::good, "OpenMP",
         observed +
             ". There is no libomp.so.5 (Debian package libomp5-19), which --openmp libomp "
             "needs.");
    return;
  }
  const OpenmpRuntime& best = runtimes.front();
  const Library runtime(best.library.string());
  if (!runtime.symbol("ompt_start_tool")) {
    tell(Health::missing, "OpenMP",
         fmt::format("{} was built without OMPT, the interface for tools, so programs that run on "
                     "it are not observed. Install the Debian package libomp5-19. Programs built "
                     "with gcc are observed on their own runtime (libgomp).",
                     best.library.string()));
    return;
  }
  tell(Health::good, "OpenMP",
       fmt::format("{}. --openmp libomp would run the former on {}{}, too.", observed,
                   best.library.string(),
                   best.llvm_major > 0 ? fmt::format(" (LLVM {})", best.llvm_major) : ""));
}

/// The counters that people use most, tried one by one.
constexpr const char* kUsualCounters[] = {"PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_L2_TCM",
                                          "PAPI_FP_OPS", "perf::PAGE-FAULTS"};

void check_counters() {
  tell(Health::good, "counters",
       "rusage: page faults, context switches, CPU times and memory of each thread are always "
       "available.");
  std::error_code code;
  const fs::path path = library_folder() / "libculprit-papi.so";
  if (!fs::exists(path, code)) {
    return tell(Health::note, "PAPI",
                "no hardware counters: " + why_absent("PAPI", "libculprit-papi.so") + ".");
  }
  const Library papi(path.string());
  using Try = void(const char* const*, unsigned, const char**);
  auto* const try_counters = reinterpret_cast<Try*>(papi.symbol("culprit_try_counters"));
  if (!try_counters) {
    return tell(
        Health::missing, "PAPI",
        path.string() + " cannot be loaded: install PAPI's library (Debian package libpapi7.0).");
  }
  const char* why_not[std::size(kUsualCounters)] = {};
  try_counters(kUsualCounters, std::size(kUsualCounters), why_not);
  std::vector<std::string> counting;
  std::map<std::string, std::vector<std::string>> refused;
  for (size_t i = 0; i < std::size(kUsualCounters); ++i) {
    why_not[i] ? refused[why_not[i]].push_back(kUsualCounters[i])
               : counting.push_back(kUsualCounters[i]);
  }
  if (!counting.empty()) tell(Health::good, "PAPI", report::listed(counting) + " are available.");
  for (const auto& [why, names] : refused) {
    tell(Health::note, "PAPI", report::listed(names) + " are not available: " + why + ".");
  }
  tell(Health::note, "PAPI",
       "software-defined counters (sde:::...) of a program's libraries can be recorded.");
}

void check_cuda() {
  std::string cupti;
  for (const std::string folder :
       {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"}) {
    for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
      if (const Library library(folder + name); library && cupti.empty()) cupti = library.path();
    }
  }
  const Library driver("libcuda.so.1");
  if (device_probe("cuda").empty()) {
    return tell(driver ? Health::missing : Health::note, "CUDA",
                "programs that use NVIDIA GPUs run, but GPU activity is not recorded: " +
                    why_absent("CUDA", "libculprit-cuda.so") + ".");
  }
  if (!driver) {
    return tell(
        Health::note, "CUDA",
        "no driver (libcuda.so.1) on this machine; only programs that use NVIDIA GPUs need it.");
  }
  tell(cupti.empty() ? Health::missing : Health::good, "CUDA",
       cupti.empty()
           ? fmt::format("{} is installed, but libcupti.so of CUDA 12 or 13 is not: GPU "
                         "activity is recorded only if the program brings its own. It comes with "
                         "NVIDIA's CUDA toolkit.",
                         driver.path())
           : fmt::format("{}, observed through {}", driver.path(), cupti));
}

void check_opencl() {
  const Library loader("libOpenCL.so.1");
  if (!loader) {
    return tell(Health::note, "OpenCL",
                "no libOpenCL.so.1 on this machine; only programs that use OpenCL need it (Debian "
                "packages ocl-icd-libopencl1, and pocl-opencl-icd for a device on any CPU).");
  }
  if (device_probe("opencl").empty()) {
    return tell(Health::missing, "OpenCL",
                loader.path() + " is installed, but device activity is not recorded: " +
                    why_absent("OpenCL", "libculprit-opencl.so") + ".");
  }
  // Loaders take layers since ocl-icd 2.3.0 and Khronos's of 2020; what they know stands in them.
  const std::string text = read_regular_file(loader.path(), Owner::anybody).value_or("");
  const bool layers = text.find("OPENCL_LAYERS") != std::string::npos;
  tell(
      layers ? Health::good : Health::missing, "OpenCL",
      loader.path() + (layers ? ", observed by a layer"
                              : ", which does not support layers: device activity is not recorded. "
                                "Debian's ocl-icd-libopencl1 supports them."));
}

void check_clock() {
  const std::string source =
      first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const std::string text = read_regular_file("/proc/cpuinfo", Owner::anybody).value_or("");
  const bool steady = text.find("nonstop_tsc") != std::string::npos;
  tell(Health::good, "clock",
       fmt::format(
           "kernel clock source {}; time stamp counter {}.", source.empty() ? "unknown" : source,
           steady ? "steady" : "not known to be steady: the slower CLOCK_MONOTONIC is used"));
}

void check_sampling() {
  const std::string paranoid = first_line("/proc/sys/kernel/perf_event_paranoid");
  tell(Health::good, "sampling",
       fmt::format("by a timer in each thread: needs no privileges (neither perf events, "
                   "perf_event_paranoid is {}, nor ptrace).",
                   paranoid.empty() ? "absent" : paranoid));
}

void check_disk() {
  struct statvfs place = {};
  if (statvfs(".", &place) != 0) return;
  const double free_gib = static_cast<double>(place.f_bavail) *
                          static_cast<double>(place.f_frsize) / (1024.0 * 1024 * 1024);
  const bool writable = access(".", W_OK) == 0;
  tell(free_gib < 1 || !writable ? Health::missing : Health::good, "disk",
       fmt::format(
           "{:.1f} GiB free in the current folder{}. An event takes about 30 bytes; even busy "
           "programs rarely exceed a million events per second and thread.",
           free_gib, writable ? "" : ", which is not writable"));
}

int examine() {
  Diagnosis diagnosis;
  std::printf("culprit %s\n\n", std::string(kVersion).c_str());
  check_collector(diagnosis);
  check_header();
  for (const MpiKind& kind : kMpiKinds) check_mpi(kind, diagnosis);
  check_launchers();
  check_openmp(diagnosis);
  check_counters();
  check_cuda();
  check_opencl();
  check_clock();
  check_sampling();
  check_disk();
  const bool works = diagnosis.collector && (diagnosis.mpi || diagnosis.openmp);
  std::printf("\n%s\n", works ? "Ready to measure: culprit run -- mpirun -n 2 ./program"
                              : "Not ready to measure: see what is missing above.");
  return works ? 0 : kFailure;
}

}  // namespace

Action add_doctor(CLI::App&, const Program&) {
  return examine;
}

}  // namespace culprit::cli
