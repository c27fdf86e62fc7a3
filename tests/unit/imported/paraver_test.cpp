// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Paraver traces become events: calls of MPI with what they send and receive, collective
// operations, teams of threads, and what a device executes. Whatever is in such a file, it is read
// or refused.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "opened.h"

namespace culprit::trace {
namespace {

constexpr const char* kLabels =
    "EVENT_TYPE\n9   50000001    MPI Point-to-point\nVALUES\n1   MPI_Send\n2   MPI_Recv\n"
    "3   MPI_Isend\n4   MPI_Irecv\n5   MPI_Wait\n0   Outside MPI\n\n"
    "EVENT_TYPE\n9   50000002    MPI Collective Comm\nVALUES\n8   MPI_Barrier\n"
    "10   MPI_Allreduce\n0   Outside MPI\n\n"
    "EVENT_TYPE\n0    60000018    Executed OpenMP parallel function\nVALUES\n0   End\n"
    "1   main._omp_fn.0 [a.c]\n\n"
    "EVENT_TYPE\n0    60000019    User function\nVALUES\n0   End\n1   solve [solve.c]\n\n"
    "EVENT_TYPE\n0    70000001    Caller at level 1\nVALUES\n0   End\n1   step [step.c]\n\n"
    "EVENT_TYPE\n0    80000001    Caller line at level 1\nVALUES\n0   End\n"
    "1   42 (step.c, /src/step.c)\n\n"
    "EVENT_TYPE\n0    63000000    CUDA library call\nVALUES\n0   End\n1   cudaLaunch\n"
    "4   cudaThreadSynchronize\n\n"
    "EVENT_TYPE\n0    63000006    CUDA kernel\nVALUES\n0   End\n1   gemm\n";
constexpr const char* kTwoRanks = "#Paraver (01/02/26 at 10:00):900_ns:1(2):1:2(1:1,1:1),1\n";

Opened open_text(const Folder& folder, const std::string& text, const char* labels = kLabels) {
  folder.write("run.pcf", labels);
  return open({folder.write("run.prv", text)});
}

TEST(Paraver, MessagesAndTheirCalls) {
  const Folder folder;
  Opened opened = open_text(folder, std::string(kTwoRanks) +
                                        "2:1:1:1:1:100:50000001:1\n"
                                        "2:2:1:2:1:10:50000001:4\n2:2:1:2:1:20:50000001:0\n"
                                        "2:1:1:1:1:130:50000001:0\n"
                                        "2:2:1:2:1:50:50000001:5\n2:2:1:2:1:140:50000001:0\n"
                                        "3:1:1:1:1:100:130:2:1:2:1:10:140:64:7\n");
  ASSERT_EQ(opened.error, "");
  EXPECT_TRUE(opened.losses.all().empty());
  EXPECT_EQ(opened.lines("master thread"),
            (Lines{"90 enter MPI_Send", "90 send 0 1 0 64", "120 leave MPI_Send"}));
  const auto& processes = opened.source->definitions().processes;
  ASSERT_EQ(processes.size(), 2u);
  RecordingSink sink;
  ASSERT_TRUE(opened.source->read(processes[1].locations[0], sink, opened.losses));
  std::string all;
  for (const std::string& line : sink.lines) all += line + "\n";
  EXPECT_NE(all.find("0 irecv_request"), all.npos) << all;
  EXPECT_NE(all.find("130 irecv 0 0"), all.npos) << all;
}

TEST(Paraver, TimesWithoutAUnitAreMicroseconds) {
  const Folder folder;
  Opened opened = open_text(folder,
                            "#Paraver (26/01/04 at 16:35):260199:4:1:1(1:1)\n"
                            "2:1:1:1:1:10:50000002:8\n2:1:1:1:1:12:50000002:0\n");
  ASSERT_EQ(opened.error, "");
  EXPECT_EQ(opened.lines("master thread").back(), "2000 leave MPI_Barrier");
}

TEST(Paraver, CollectivesOfCommunicators) {
  const Folder folder;
  Opened opened = open_text(
      folder,
      "#Paraver (01/02/26 at 10:00):900_ns:1(3):1:3(1:1,1:1,1:1),2\nc:1:1:3:1:2:3\nc:1:4:2:1:3\n"
      "2:1:1:1:1:5:50000002:10:50100001:8:50100002:16:50100004:4\n2:1:1:1:1:9:50000002:0\n"
      "2:2:1:2:1:5:50000002:10:50100004:1\n2:2:1:2:1:9:50000002:0\n"
      "2:3:1:3:1:5:50000002:10:50100004:99\n2:3:1:3:1:9:50000002:0\n");
  ASSERT_EQ(opened.error, "");
  const auto& comms = opened.source->definitions().comms;
  ASSERT_EQ(comms.size(), 2u);
  EXPECT_EQ(comms[0].name, "MPI_COMM_WORLD");
  EXPECT_EQ(comms[1].members, (std::vector{ProcessId(0), ProcessId(2)}));
  const Lines lines = opened.lines("master thread");
  EXPECT_EQ(lines.front(), "0 enter MPI_Allreduce");
  EXPECT_TRUE(lines[1].starts_with("4 collective")) << lines[1];
  EXPECT_EQ(opened.losses.all().size(), 1u);  // communicator 99
}

TEST(Paraver, NamesCallersAndWhatLiesBetweenCalls) {
  const Folder folder;
  Opened opened = open_text(
      folder, std::string(kTwoRanks) +
                  "2:1:1:1:1:0:60000019:1\n2:1:1:1:1:50000:60000019:0\n"
                  "2:1:1:1:1:90000:50000002:8:70000001:1:80000001:1\n2:1:1:1:1:90010:50000002:0\n");
  ASSERT_EQ(opened.error, "");
  EXPECT_EQ(opened.lines("master thread"),
            (Lines{"0 enter solve", "50000 leave solve",
                   "50000 enter (between solve and step (step.c:42))",
                   "90000 leave (between solve and step (step.c:42))", "90000 enter step",
                   "90000 enter MPI_Barrier", "90010 collective 0 0 -1 0 0",
                   "90010 leave MPI_Barrier", "90010 leave step"}));
}

TEST(Paraver, ThreadsThatExecuteARegionAreItsTeam) {
  const Folder folder;
  Opened opened =
      open_text(folder,
                "#Paraver (01/02/26 at 10:00):900_ns:1(2):1:1(2:1)\n"
                "2:1:1:1:1:10:60000001:1\n2:1:1:1:1:12:60000018:1\n2:2:1:1:2:13:60000018:1\n"
                "2:2:1:1:2:20:60000018:0\n2:1:1:1:1:40:60000018:0\n2:1:1:1:1:41:60000001:0\n");
  ASSERT_EQ(opened.error, "");
  const Lines master = opened.lines("master thread"), worker = opened.lines("thread 2");
  EXPECT_TRUE(std::any_of(master.begin(), master.end(), [](const std::string& line) {
    return line.find("fork 2 1") != line.npos;
  }));
  EXPECT_EQ(worker.front(), "3 enter !$omp parallel");
  EXPECT_EQ(worker.back(), "31 leave !$omp parallel");
  EXPECT_TRUE(std::any_of(worker.begin(), worker.end(), [](const std::string& line) {
    return line == "10 enter !$omp implicit barrier";
  }));
}

TEST(Paraver, KernelsKnowTheCallsThatLaunchedThem) {
  const Folder folder;
  Opened opened =
      open_text(folder,
                "#Paraver (01/02/26 at 10:00):900_ns:1(2):1:1(2:1)\n"
                "2:1:1:1:1:10:63000000:1\n2:1:1:1:1:14:63000000:0\n2:2:1:1:2:20:63000006:1\n"
                "2:1:1:1:1:15:63000000:4\n2:2:1:1:2:60:63000006:0\n2:1:1:1:1:61:63000000:0\n"
                "3:1:1:1:1:10:10:2:1:1:2:20:20:0:0\n");
  ASSERT_EQ(opened.error, "");
  const Lines host = opened.lines("master thread");
  EXPECT_TRUE(std::any_of(host.begin(), host.end(), [](const std::string& line) {
    return line.starts_with("0 device_launch 1");
  }));
  const Lines stream = opened.lines("stream 2 of device 0");
  ASSERT_FALSE(stream.empty());
  EXPECT_EQ(stream.front(), "10 enter gemm");
}

TEST(Paraver, SaysWhyItRefuses) {
  const Folder folder;
  const std::string call = "2:1:1:1:1:10:50000002:8\n2:1:1:1:1:12:50000002:0\n";
  const Opened unlabelled = open({folder.write("alone.prv", kTwoRanks + call)});
  EXPECT_NE(unlabelled.error.find(".pcf"), std::string::npos) << unlabelled.error;
  const Opened nothing = open_text(folder, std::string(kTwoRanks) + "1:1:1:1:1:0:900:1\n");
  EXPECT_NE(nothing.error.find("nobody is seen to wait"), std::string::npos) << nothing.error;
  for (const char* head :
       {"#Paraver", "#Paraver (x):", "#Paraver (x):1:0:1:1(", "#Paraver (x):9:0:0"}) {
    EXPECT_NE(open_text(folder, head).error, "") << head;
  }
}

TEST(Paraver, CountsWhatItCannotUse) {
  const Folder folder;
  const Opened opened =
      open_text(folder, std::string(kTwoRanks) +
                            "2:1:1:1:1:10:50000002:8\n2:1:1:1:1:12:50000002:0\n"
                            "2:1:1:1:1:12:50000002:0\n"       // of nothing
                            "2:1:1:1:1:13:77777:1:77777:2\n"  // an unknown type
                            "2:1:9:1:1:13:50000002:8\n"       // no such application
                            "2:1:1:1:1:-4:50000002:8\n"       // before all time
                            "2:1:1:1:1:99999999999999999999:50000002:8\n"
                            "3:1:1:1:1:1:2:2:1:2:1:3\n"                // too short
                            "3:1:1:1:1:500:510:2:1:2:1:500:510:8:1\n"  // of no call
                            "2:1:1:1:1");                              // cut
  ASSERT_EQ(opened.error, "");
  const auto count = [&](std::string_view loss) {
    const auto found = opened.losses.all().find(loss);
    return found == opened.losses.all().end() ? 0 : found->second.count;
  };
  EXPECT_EQ(count("leaves_without_enter"), 1u);
  EXPECT_EQ(count("skipped_records"), 5u);
  EXPECT_EQ(count("truncated_locations"), 1u);
  EXPECT_EQ(opened.notes.size(), 2u);
}

/// Cut anywhere, with any character of it changed: it is read or refused, never believed.
TEST(Paraver, SurvivesDamage) {
  const Folder folder;
  const std::string text =
      "#Paraver (01/02/26 at 10:00):900_ns:1(2):1:2(2:1,1:1),1\nc:1:1:2:1:2\n"
      "2:1:1:1:1:10:60000001:1\n2:1:1:1:1:12:60000018:1\n2:2:1:1:2:13:60000018:1\n"
      "2:2:1:1:2:20:60000018:0\n2:1:1:1:1:40:60000018:0\n2:1:1:1:1:41:60000001:0\n"
      "2:1:1:1:1:100:50000001:1\n2:3:1:2:1:50:50000001:2\n2:1:1:1:1:130:50000001:0\n"
      "2:3:1:2:1:140:50000001:0\n3:1:1:1:1:100:130:3:1:2:1:50:140:64:7\n";
  const auto read_all = [](Opened opened) {
    if (!opened.source) return;
    const size_t locations = opened.source->definitions().locations.size();
    for (size_t i = 0; i < locations; ++i) {
      RecordingSink sink;
      EXPECT_TRUE(opened.source->read(LocationId(i), sink, opened.losses));
    }
  };
  for (size_t length = 0; length <= text.size(); ++length) {
    read_all(open_text(folder, text.substr(0, length)));
  }
  for (size_t at = 0; at < text.size(); ++at) {
    for (const char c : {'9', ':', '-', '\n'}) {
      std::string damaged = text;
      damaged[at] = c;
      read_all(open_text(folder, damaged));
    }
  }
  const std::string many(4000, '9');
  read_all(open_text(folder, "#Paraver (x):1:0:1:9(" + many + ":1)\n"));
  read_all(open_text(folder, text, "EVENT_TYPE\n9 50000001\nVALUES\nx\n1\n-1 y\n"));
  read_all(open_text(folder, text, ""));
}

TEST(Paraver, ReadsPackedTraces) {
  const Folder folder;
  folder.write("run.pcf", kLabels);
  const std::string text =
      std::string(kTwoRanks) + "2:1:1:1:1:10:50000002:8\n2:1:1:1:1:12:50000002:0\n";
  const auto path = folder.path() / "run.prv.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  EXPECT_EQ(open({path}).error, "");
}

}  // namespace
}  // namespace culprit::trace
