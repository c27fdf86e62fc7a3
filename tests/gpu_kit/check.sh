#!/usr/bin/env bash
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# check.sh [<folder for results>]: tries culprit on this machine's GPU, with what lies beside this script.
# Needs bash, coreutils, glibc and NVIDIA's driver. Takes at most 8 minutes and leaves at most 16 MiB in
# the folder (default: ./gpu-kit-results); summary.txt there has a line for each check,
#   ok|FAILED|skipped <name>: <figure>
# None ends the others. Ends with status 1 if any failed. docs/gpu-kit.md says what each line means.
set -u

kit=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
results=${1:-$PWD/gpu-kit-results}
readonly time_limit=440          # seconds after which no further check begins
readonly results_limit_kib=16384
readonly launches=200000
mkdir -p "$results" || exit 1
results=$(cd "$results" && pwd)
rm -rf "$results"/{summary.txt,machine.txt,logs,raw,reports}
mkdir -p "$results"/{logs,raw,reports}
work=$(mktemp -d "${TMPDIR:-/tmp}/culprit-gpu-kit.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

culprit=$kit/culprit/bin/culprit
mpiexec=$kit/mpi/bin/mpiexec.hydra
operations=$kit/bin/operations
export PATH=$kit/mpi/bin:$PATH
failed=0
figure=''
has_device=no
simulated=no                    # then times of launches say nothing, and are not judged

# --- How checks are run ---

line() { printf '%s\n' "$*" | tee -a "$results/summary.txt"; }

# check <name> <function> [<argument>...]: the function sets `figure`; 0 is ok, 77 skipped.
check() {
  local name=$1 status=0 word=FAILED
  figure=''
  if ((SECONDS > time_limit)); then
    line "skipped $name: no time was left"
    return
  fi
  "${@:2}" || status=$?
  case $status in
    0) word=ok ;;
    77) word=skipped ;;
    *) failed=$((failed + 1)) ;;
  esac
  line "$word $name: ${figure:-status $status}"
}

# Like check, for what needs a CUDA device.
check_cuda() {
  if [[ $has_device == yes ]]; then check "$@"; else line "skipped $1: $no_device"; fi
}

# logged <name> <seconds> <command...>: its output goes to logs/<name>.out and .err.
logged() {
  timeout -k 5 "$2" "${@:3}" > "$results/logs/$1.out" 2> "$results/logs/$1.err" < /dev/null
}

# measured <name> <how: run or record> [<option>...] -- <program...>: into the experiment $work/<name>.
measured() {
  rm -rf "${work:?}/$1"
  logged "$1" 60 "$culprit" "$2" -o "$work/$1" "${@:3}" || {
    figure="ended with status $?: see logs/$1.err"
    return 1
  }
}

# keeps_raw <name>: the collector's records of a measurement, for tests to come.
keeps_raw() {
  [[ -d $work/$1/raw ]] || { figure="$figure; no raw records were left"; return 1; }
  cp -r --sparse=always "$work/$1/raw" "$results/raw/$1"
}

# sum_of <kind> <name>: count, ns and nodes of such operations in the list on standard input.
sum_of() {
  local word kind n t g name
  count=0 nanoseconds=0 nodes=0
  while read -r word kind n t g name; do
    [[ $word == operation && $kind == "$1" && $name == $2 ]] || continue
    count=$((count + n)) nanoseconds=$((nanoseconds + t)) nodes=$((nodes + g))
  done
}

# operations_of <experiment>: writes the list beside it.
operations_of() {
  "$operations" "$work/$1" > "$work/$1.operations" 2> "$results/logs/$1.operations.err" || {
    figure="the trace cannot be read: see logs/$1.operations.err"
    return 1
  }
}

ms() { printf '%d.%03d ms' $(($1 / 1000000)) $(($1 / 1000 % 1000)); }
# per_mille as percent with one digit
percent() { printf '%s%d.%d %%' "$( (($1 < 0)) && echo - )" $((${1#-} / 10)) $((${1#-} % 10)); }
median() { printf '%s\n' "$@" | sort -n | head -n $(($# / 2 + 1)) | tail -n 1; }

# --- The machine ---

describe_machine() {
  {
    uname -a
    nproc
    head -n 5 /etc/os-release
    cat /proc/driver/nvidia/version
    timeout 20 nvidia-smi
    timeout 60 "$culprit" doctor
  } > "$results/machine.txt" 2>&1
}

starts() {
  figure=$(timeout 20 "$culprit" --version 2>&1)
}

device() {
  figure=$(timeout 60 "$kit/bin/device" 2>&1)
}

# CUPTI's library: the kit's own, or that of a toolkit on this machine.
find_cupti() {
  local place
  for place in "$kit/cuda/lib64" ${CUDA_HOME:+"$CUDA_HOME/lib64" "$CUDA_HOME/extras/CUPTI/lib64"} \
    /usr/local/cuda*/lib64 /usr/local/cuda*/extras/CUPTI/lib64 /usr/lib/x86_64-linux-gnu /usr/lib64 \
    /opt/nvidia/hpc_sdk/Linux_x86_64/*/cuda/*/extras/CUPTI/lib64; do
    [[ -e $place/libcupti.so.13 ]] || continue
    cupti=$place/libcupti.so.13
    export LD_LIBRARY_PATH=$place${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    figure=$cupti
    return 0
  done
  figure="no libcupti.so.13, neither in this kit nor of a CUDA toolkit on this machine"
  return 1
}

# --- What devices did ---

# Sums over the same kernels: between events there is a little more than the kernel.
kernel_times() {
  local by_events number difference
  measured kernel_times record --otf2 -- "$kit/bin/kernel_times" && operations_of kernel_times || return 1
  read -r number by_events < "$results/logs/kernel_times.out"
  sum_of kernel 'busy*' < "$work/kernel_times.operations"
  difference=$(((nanoseconds - by_events) * 1000 / by_events))
  figure="$count of $number kernels, $(ms "$nanoseconds"); by events $(ms "$by_events"), $(percent "$difference")"
  keeps_raw kernel_times && ((count == number && difference >= -50 && difference <= 20))
}

launches_matched() {
  local word all found
  while read -r word all found; do
    [[ $word != launch ]] || break
  done < "$work/kernel_times.operations"
  figure="$found of $all launches have their operation"
  ((all > 0 && found == all))
}

launch_rate() {
  local round off=() alone=() on=() n
  for round in 1 2 3; do
    n=$(timeout 60 "$kit/bin/launches" "$launches" 2> "$results/logs/launches.err") || return 1
    off+=("$n")
    n=$(CUDA_INJECTION64_PATH=$kit/lib/libcupti_alone.so CULPRIT_KIT_CUPTI=$cupti \
      CULPRIT_KIT_RECORDS=$work/records timeout 60 "$kit/bin/launches" "$launches" \
      2>> "$results/logs/launches.err") || return 1
    alone+=("$n")
    measured launches record -- "$kit/bin/launches" "$launches" || return 1
    read -r n < "$results/logs/launches.out"
    on+=("$n")
  done
  off_ns=$(median "${off[@]}") alone_ns=$(median "${alone[@]}") on_ns=$(median "${on[@]}")
  figure="$((1000000000 / off_ns)) launches/s without culprit"
  [[ $simulated == no ]] || return 77
  ((1000000000 / off_ns >= 50000))
}

# What CUPTI costs is NVIDIA's; what culprit adds to it is to stay below 1 us a launch. 15 % of the whole
# are left to the machine's moods.
overhead() {
  local added=$((on_ns - alone_ns))
  figure="per launch $off_ns ns off, $alone_ns ns CUPTI alone, $on_ns ns culprit, of which $added ns are its own; \
at 50,000 launches/s the program takes $(percent $(((on_ns - off_ns) * 1000 / 20000))) longer"
  [[ $simulated == no ]] || return 77
  ((added <= 1000 + alone_ns * 15 / 100))
}

cupti_records() {
  local records=0
  [[ ! -e $work/records ]] || read -r records < "$work/records"
  operations_of launches || return 1
  sum_of kernel '*' < "$work/launches.operations"
  figure="of $((launches + 2000)) kernels CUPTI alone told $records records, culprit has $count"
  ((records >= launches + 2000 && count == launches + 2000))
}

# 5 launches of a graph of 10 kernels of 2 ms.
graphs() {
  local kind=$1 wanted=$2
  measured "graph_$3" record --otf2 --cuda-graphs "$3" -- "$kit/bin/cuda_graph" &&
    operations_of "graph_$3" || return 1
  sum_of "$kind" '*' < "$work/graph_$3.operations"
  figure="$count of $wanted, $(ms "$nanoseconds") of 100 ms, $nodes told as nodes"
  keeps_raw "graph_$3" && ((count == wanted && nanoseconds > 95000000 && nanoseconds < 115000000)) &&
    { [[ $3 == launches ]] || ((nodes == wanted)); }
}

# names <experiment> <function>: whether the report on it blames the function.
names() {
  local text
  text=$(< "$results/logs/$1.out")
  cp "$results/logs/$1.out" "$results/reports/$1.txt"
  [[ $text == *"$2"* ]]
}

two_ranks() {
  local word queues
  measured two_ranks run --otf2 -- "$mpiexec" -n 2 "$kit/bin/cuda_shared_device" &&
    operations_of two_ranks || return 1
  sum_of kernel 'busy*' < "$work/two_ranks.operations"
  while read -r word queues; do [[ $word != queue ]] || break; done < "$work/two_ranks.operations"
  figure="$count of 6 kernels, $(ms "$nanoseconds") of 120 ms, on $queues streams"
  keeps_raw two_ranks || return 1
  names two_ranks refine || { figure="$figure; the report does not name refine"; return 1; }
  ((count == 6 && queues == 2))
}

# example <program> <function to be blamed>
example() {
  measured "$1" run -- "$kit/bin/$1" || return 1
  figure="the report names $2: reports/$1.txt"
  names "$1" "$2" || { figure="the report does not name $2: reports/$1.txt"; return 1; }
}

# --- Endings ---

readonly ways=(return synchronized exit_now reset terminated killed abort fork launching exit_elsewhere
  destructor)
readonly each=19                # of each of the 11 ways, 209 in all
readonly one_limit=25           # seconds

# ending <way> <number> <expected status>: a line "<way> <status> <ms>" in $work/endings/<way>.<number>.
ending() {
  local begin status=0
  begin=$(date +%s%N)
  timeout -k 2 $one_limit "$culprit" record -o "$work/endings/$1.$2.e" -- "$kit/bin/endings" "$1" \
    > "$work/endings/$1.$2.log" 2>&1 < /dev/null || status=$?
  printf '%s %d %d %d\n' "$1" "$status" "$3" $((($(date +%s%N) - begin) / 1000000)) \
    > "$work/endings/$1.$2"
  rm -rf "$work/endings/$1.$2.e"
}

endings() {
  local way number status file word got wanted took total=0 right=0 hung=0 slowest=0 wrong=''
  local at_once=4 running=0
  mkdir -p "$work/endings"
  for way in "${ways[@]}"; do
    status=0
    timeout -k 2 $one_limit "$kit/bin/endings" "$way" > /dev/null 2>&1 < /dev/null || status=$?
    for ((number = 0; number < each; ++number)); do
      ((SECONDS <= time_limit)) || break 2
      if ((running >= at_once)); then wait -n; running=$((running - 1)); fi
      ending "$way" "$number" "$status" &
      running=$((running + 1))
    done
  done 2> /dev/null
  wait
  for file in "$work"/endings/*; do
    [[ $file != *.log ]] || continue
    read -r word got wanted took < "$file"
    total=$((total + 1))
    ((took <= slowest)) || slowest=$took
    if ((took >= one_limit * 1000)); then
      hung=$((hung + 1))
      cp "$file.log" "$results/logs/hung.${file##*/}.err"
    elif ((got == wanted)); then
      right=$((right + 1))
    else
      wrong="$wrong $word:$got(not $wanted)"
      cp "$file.log" "$results/logs/wrong.${file##*/}.err"
    fi
  done
  figure="$right of $total ended as without culprit, $hung hung, slowest $slowest ms${wrong:+; wrong:$wrong}"
  ((total >= 200 && right == total))
}

# --- OpenCL ---

opencl() {
  local status=0
  [[ -x $kit/bin/$1 ]] || { figure="not in this kit"; return 77; }
  logged "$1.alone" 60 "$kit/bin/$1" || status=$?
  if ((status != 0)); then
    figure="no OpenCL device that $1 can use (status $status): see logs/$1.alone.err"
    return 77
  fi
  example "$1" "$2"
}

# --- Sizes and times ---

results_are_small() {
  local kib _ largest
  read -r kib _ < <(du -sk "$results")
  figure="$kib KiB of results, at most $results_limit_kib"
  ((kib > results_limit_kib)) || return 0
  while ((kib > results_limit_kib)); do
    read -r _ largest < <(du -sk "$results"/raw/* "$results"/logs/* | sort -rn)
    rm -rf "$largest"
    figure="$figure; removed ${largest##*/}"
    read -r kib _ < <(du -sk "$results")
  done
  return 1
}

in_time() {
  figure="$SECONDS s, at most 480"
  ((SECONDS <= 480))
}

check starts starts
describe_machine
check device device
if [[ ${figure} == *'compute capability'* ]]; then has_device=yes; else no_device=${figure:-no device}; fi
[[ $figure != *simulated* ]] || simulated=yes
cupti=''
check cupti find_cupti
if [[ $has_device == yes && -z $cupti ]]; then
  has_device=no
  no_device=$figure
fi
check_cuda kernel_times kernel_times
check_cuda launches_matched launches_matched
check_cuda launch_rate launch_rate
check_cuda overhead overhead
check_cuda cupti_records cupti_records
check_cuda graph_by_launch graphs graph 5 launches
check_cuda graph_by_node graphs kernel 50 nodes
check_cuda two_ranks two_ranks
check_cuda late_launch example cuda_late_launch prepare
check_cuda oversync example cuda_oversync work_of_its_own
check_cuda overlap example cuda_overlap busy
check_cuda two_streams example cuda_two_streams busy
check opencl_late_launch opencl opencl_late_launch prepare
check opencl_oversync opencl opencl_oversync work_of_its_own
check_cuda endings endings
check size results_are_small
check time in_time
line "$failed checks failed; results in $results"
((failed == 0))
