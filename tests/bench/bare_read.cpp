// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/bare_read.h"

#include <otf2/OTF2_Pthread_Locks.h>
#include <otf2/otf2.h>

#include <atomic>
#include <vector>

#include "base/parallel.h"
#include "base/result.h"

namespace culprit::bench {

namespace {

template <class... Arguments>
OTF2_CallbackCode nothing(OTF2_LocationRef, OTF2_TimeStamp, uint64_t, void*, OTF2_AttributeList*,
                          Arguments...) {
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_EvtReaderCallbacks* empty_callbacks() {
  OTF2_EvtReaderCallbacks* c = OTF2_EvtReaderCallbacks_New();
  OTF2_EvtReaderCallbacks_SetEnterCallback(c, nothing<OTF2_RegionRef>);
  OTF2_EvtReaderCallbacks_SetLeaveCallback(c, nothing<OTF2_RegionRef>);
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(c,
                                             nothing<uint32_t, OTF2_CommRef, uint32_t, uint64_t>);
  OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c,
                                             nothing<uint32_t, OTF2_CommRef, uint32_t, uint64_t>);
  OTF2_EvtReaderCallbacks_SetMpiIsendCallback(
      c, nothing<uint32_t, OTF2_CommRef, uint32_t, uint64_t, uint64_t>);
  OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, nothing<uint64_t>);
  OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, nothing<uint64_t>);
  OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(
      c, nothing<uint32_t, OTF2_CommRef, uint32_t, uint64_t, uint64_t>);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(c, nothing<>);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(
      c, nothing<OTF2_CollectiveOp, OTF2_CommRef, uint32_t, uint64_t, uint64_t>);
  OTF2_EvtReaderCallbacks_SetThreadForkCallback(c, nothing<OTF2_Paradigm, uint32_t>);
  OTF2_EvtReaderCallbacks_SetThreadJoinCallback(c, nothing<OTF2_Paradigm>);
  OTF2_EvtReaderCallbacks_SetThreadTeamBeginCallback(c, nothing<OTF2_CommRef>);
  OTF2_EvtReaderCallbacks_SetThreadTeamEndCallback(c, nothing<OTF2_CommRef>);
  return c;
}

OTF2_CallbackCode remember(void* list, OTF2_LocationRef location, OTF2_StringRef, OTF2_LocationType,
                           uint64_t, OTF2_LocationGroupRef) {
  static_cast<std::vector<OTF2_LocationRef>*>(list)->push_back(location);
  return OTF2_CALLBACK_SUCCESS;
}

std::vector<OTF2_LocationRef> read_definitions(OTF2_Reader* reader) {
  std::vector<OTF2_LocationRef> locations;
  OTF2_GlobalDefReader* global = OTF2_Reader_GetGlobalDefReader(reader);
  OTF2_GlobalDefReaderCallbacks* callbacks = OTF2_GlobalDefReaderCallbacks_New();
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, remember);
  OTF2_Reader_RegisterGlobalDefCallbacks(reader, global, callbacks, &locations);
  uint64_t read = 0;
  OTF2_Reader_ReadAllGlobalDefinitions(reader, global, &read);
  OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
  OTF2_Reader_CloseGlobalDefReader(reader, global);
  return locations;
}

uint64_t read_location(OTF2_Reader* reader, OTF2_LocationRef location,
                       const OTF2_EvtReaderCallbacks* callbacks) {
  uint64_t read = 0;
  OTF2_DefReader* local = OTF2_Reader_GetDefReader(reader, location);
  OTF2_Reader_ReadAllLocalDefinitions(reader, local, &read);
  OTF2_Reader_CloseDefReader(reader, local);
  OTF2_EvtReader* events = OTF2_Reader_GetEvtReader(reader, location);
  OTF2_Reader_RegisterEvtCallbacks(reader, events, callbacks, nullptr);
  OTF2_Reader_ReadAllLocalEvents(reader, events, &read);
  OTF2_Reader_CloseEvtReader(reader, events);
  return read;
}

}  // namespace

uint64_t bare_read(const std::filesystem::path& anchor, unsigned threads) {
  OTF2_Reader* reader = OTF2_Reader_Open(anchor.c_str());
  CULPRIT_CHECK(reader != nullptr);
  OTF2_Pthread_Reader_SetLockingCallbacks(reader, nullptr);
  OTF2_Reader_SetSerialCollectiveCallbacks(reader);
  const std::vector<OTF2_LocationRef> locations = read_definitions(reader);
  for (OTF2_LocationRef location : locations) OTF2_Reader_SelectLocation(reader, location);
  OTF2_Reader_OpenDefFiles(reader);
  OTF2_Reader_OpenEvtFiles(reader);
  OTF2_EvtReaderCallbacks* callbacks = empty_callbacks();
  std::atomic<uint64_t> events = 0;
  parallel_for(locations.size(), threads,
               [&](size_t i) { events += read_location(reader, locations[i], callbacks); });
  OTF2_EvtReaderCallbacks_Delete(callbacks);
  OTF2_Reader_CloseDefFiles(reader);
  OTF2_Reader_CloseEvtFiles(reader);
  OTF2_Reader_Close(reader);
  return events;
}

}  // namespace culprit::bench
