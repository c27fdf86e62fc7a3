// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The arguments that a caller passed, in any language. The generated wrappers turn arguments into
// these views; the handlers read them and never know whether C or Fortran called. Handles are
// converted for the record only: the real function always gets the caller's own arguments, so
// MPI_IN_PLACE, MPI_BOTTOM and the rest stay right. The one exception are statuses that the caller
// ignores but the record needs: those are replaced by memory of ours.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "collector/mpi/region.h"

namespace culprit::collector::mpi {

enum class Language : uint8_t { c, fortran };

static_assert(sizeof(MPI_Fint) == sizeof(int),
              "flags and indices are read as int in both languages");
static_assert(sizeof(MPI_Status) % sizeof(MPI_Fint) == 0);
/// A status as a Fortran program keeps it: in both MPIs the integers of the C structure.
inline constexpr size_t kStatusInts = sizeof(MPI_Status) / sizeof(MPI_Fint);

/// Handles as keys of our tables: a pointer in Open MPI, a number in MPICH.
template <class Handle>
uint64_t key_of(Handle handle) {
  if constexpr (sizeof(Handle) == sizeof(uint64_t)) {
    return reinterpret_cast<uint64_t>(handle);
  } else {
    return static_cast<uint32_t>(handle);
  }
}

/// An array of counts: int or MPI_Count in C's large-count functions.
class Counts {
 public:
  Counts() = default;
  Counts(const int* values) : values_(values) {}                      // NOLINT: implicit
  Counts(const MPI_Count* values) : values_(values), large_(true) {}  // NOLINT: implicit
  int64_t operator[](int i) const {
    return large_ ? static_cast<const MPI_Count*>(values_)[i] : static_cast<const int*>(values_)[i];
  }
  explicit operator bool() const { return values_ != nullptr; }

 private:
  const void* values_ = nullptr;
  bool large_ = false;
};

/// An array of datatypes.
class Types {
 public:
  Types() = default;
  Types(Language language, const void* values) : values_(values), language_(language) {}
  MPI_Datatype operator[](int i) const {
    if (language_ == Language::c) return static_cast<const MPI_Datatype*>(values_)[i];
    return PMPI_Type_f2c(static_cast<const MPI_Fint*>(values_)[i]);
  }
  explicit operator bool() const { return values_ != nullptr; }

 private:
  const void* values_ = nullptr;
  Language language_ = Language::c;
};

/// One request or an array of them; its place in memory outlives the handle that lies there.
class Requests {
 public:
  Requests(Language language, void* values, int count = 1)
      : values_(values), count_(count > 0 ? count : 0), language_(language) {}
  /// A handle passed by value: where the caller keeps it is unknown.
  static Requests by_value(MPI_Request handle) {
    Requests one(Language::c, nullptr);
    one.value_ = handle;
    return one;
  }
  int count() const { return count_; }
  Language language() const { return language_; }
  MPI_Request operator[](int i) const {
    if (!values_) return value_;
    if (language_ == Language::c) return static_cast<const MPI_Request*>(values_)[i];
    return PMPI_Request_f2c(static_cast<const MPI_Fint*>(values_)[i]);
  }
  const void* place(int i) const {
    if (!values_) return nullptr;
    const size_t width = language_ == Language::c ? sizeof(MPI_Request) : sizeof(MPI_Fint);
    return static_cast<const char*>(values_) + width * static_cast<size_t>(i);
  }

 private:
  void* values_;
  MPI_Request value_ = MPI_REQUEST_NULL;
  int count_;
  Language language_;
};

/// A text. It is not read before it is asked for: it may have no meaning in this call and point
/// anywhere.
class Text {
 public:
  Text() = default;
  explicit Text(const char* c) : place_(c) {}
  /// Fortran fills a text with blanks.
  Text(const void* fortran, size_t length)
      : place_(static_cast<const char*>(fortran)), length_(length) {}
  bool given() const { return place_ != nullptr; }
  std::string_view view() const {
    if (length_ == kTerminated) return place_;
    const std::string_view filled(place_, length_);
    return filled.substr(0, filled.find_last_not_of(' ') + 1);
  }

 private:
  static constexpr size_t kTerminated = ~size_t{0};
  const char* place_ = nullptr;
  size_t length_ = kTerminated;
};

/// A handle that the call returns: communicator, window, file, message.
template <class Handle, Handle (*from_fortran)(MPI_Fint)>
class Returned {
 public:
  Returned() = default;
  Returned(Language language, const void* place) : place_(place), language_(language) {}
  Handle get() const {
    if (language_ == Language::c) return *static_cast<const Handle*>(place_);
    return from_fortran(*static_cast<const MPI_Fint*>(place_));
  }

 private:
  const void* place_ = nullptr;
  Language language_ = Language::c;
};

// In functions, since f2c is a macro in one MPI and a function in the other.
inline MPI_Comm comm_from_fortran(MPI_Fint f) {
  return PMPI_Comm_f2c(f);
}
inline MPI_Message message_from_fortran(MPI_Fint f) {
  return PMPI_Message_f2c(f);
}
inline MPI_Win win_from_fortran(MPI_Fint f) {
  return PMPI_Win_f2c(f);
}
inline MPI_File file_from_fortran(MPI_Fint f) {
  return PMPI_File_f2c(f);
}
using CommPlace = Returned<MPI_Comm, comm_from_fortran>;
using MessagePlace = Returned<MPI_Message, message_from_fortran>;
using WinPlace = Returned<MPI_Win, win_from_fortran>;
using FilePlace = Returned<MPI_File, file_from_fortran>;

/// A handle of a kind that not every MPI has.
struct HandlePlace {
  Language language;
  const void* place;
};

/// `count` statuses that the real call fills: the caller's, or ours if the caller ignores them.
class Statuses {
 public:
  Statuses(MPI_Status* users, int count);
  Statuses(Language fortran, void* users, int count);
  ~Statuses();
  Statuses(const Statuses&) = delete;
  Statuses& operator=(const Statuses&) = delete;

  MPI_Status* c() const { return static_cast<MPI_Status*>(memory_); }
  void* fortran() const { return memory_; }
  MPI_Status operator[](int i) const;
  /// False if there was no memory: then no status may be read.
  bool readable() const { return readable_; }

 private:
  void substitute(int count);
  static constexpr int kInline = 8;
  MPI_Status own_[kInline];
  void* memory_;
  void* heap_ = nullptr;
  Language language_;
  bool readable_ = true;
};

/// Fortran's `ierror`, which mpi_f08 allows to be absent.
class ErrorCode {
 public:
  explicit ErrorCode(void* users) : place_(users ? static_cast<MPI_Fint*>(users) : &own_) {}
  void* pass() const { return place_; }
  int value() const { return *place_; }

 private:
  MPI_Fint own_ = MPI_SUCCESS;
  MPI_Fint* place_;
};

/// How the generated wrappers read C arguments.
struct CArguments {
  static constexpr Language kLanguage = Language::c;
  static int64_t count(int64_t v) { return v; }
  static int integer(int v) { return v; }
  static MPI_Datatype type(MPI_Datatype v) { return v; }
  static MPI_Comm comm(MPI_Comm v) { return v; }
  static MPI_Win win(MPI_Win v) { return v; }
  static MPI_File file(MPI_File v) { return v; }
  static Text later_text(const char* v) { return Text(v); }
  static MPI_Group group(MPI_Group v) { return v; }
  static MPI_Op reduction(MPI_Op v) { return v; }
  static Counts counts(const int* v) { return v; }
  static Counts counts(const MPI_Count* v) { return v; }
  static Types types(const MPI_Datatype* v) { return {kLanguage, v}; }
  static bool in_place(const void* v) { return v == MPI_IN_PLACE; }
  static Requests request(MPI_Request* v) { return {kLanguage, v}; }
  static Requests requests(MPI_Request* v, int n) { return {kLanguage, v, n}; }
  static Requests request_in(MPI_Request v) { return Requests::by_value(v); }
  static int* result(int* v) { return v; }
  static CommPlace comm_place(const MPI_Comm* v) { return {kLanguage, v}; }
  static MessagePlace message_place(const MPI_Message* v) { return {kLanguage, v}; }
  static WinPlace win_place(const MPI_Win* v) { return {kLanguage, v}; }
  static FilePlace file_place(const MPI_File* v) { return {kLanguage, v}; }
  static HandlePlace handle_place(const void* v) { return {kLanguage, v}; }
};

/// True if the address is Fortran's MPI_IN_PLACE; `descriptor`: the argument is a CFI descriptor
/// (MPICH's mpi_f08), whose first word is the address.
bool is_fortran_in_place(const void* argument, bool descriptor);

/// How the generated wrappers read Fortran arguments: all are addresses. `Count` is the integer of
/// counts: MPI_Fint, or MPI_Count in mpi_f08's large-count procedures.
template <class Count, bool kDescriptors>
struct FortranArguments {
  static constexpr Language kLanguage = Language::fortran;
  static MPI_Fint at(const void* v) { return *static_cast<const MPI_Fint*>(v); }
  static int64_t count(const void* v) { return *static_cast<const Count*>(v); }
  static int integer(const void* v) { return at(v); }
  static MPI_Datatype type(const void* v) { return PMPI_Type_f2c(at(v)); }
  static MPI_Comm comm(const void* v) { return PMPI_Comm_f2c(at(v)); }
  static MPI_Win win(const void* v) { return PMPI_Win_f2c(at(v)); }
  static MPI_File file(const void* v) { return PMPI_File_f2c(at(v)); }
  static Text later_text(const void* v, size_t length) { return {v, length}; }
  static MPI_Group group(const void* v) { return PMPI_Group_f2c(at(v)); }
  static MPI_Op reduction(const void* v) { return PMPI_Op_f2c(at(v)); }
  static Counts counts(const void* v) { return static_cast<const Count*>(v); }
  static Types types(const void* v) { return {kLanguage, v}; }
  static bool in_place(const void* v) { return is_fortran_in_place(v, kDescriptors); }
  static Requests request(void* v) { return {kLanguage, v}; }
  static Requests requests(void* v, int n) { return {kLanguage, v, n}; }
  static Requests request_in(void* v) { return request(v); }
  static int* result(void* v) { return static_cast<int*>(v); }
  static CommPlace comm_place(const void* v) { return {kLanguage, v}; }
  static MessagePlace message_place(const void* v) { return {kLanguage, v}; }
  static WinPlace win_place(const void* v) { return {kLanguage, v}; }
  static FilePlace file_place(const void* v) { return {kLanguage, v}; }
  static HandlePlace handle_place(const void* v) { return {kLanguage, v}; }
};

}  // namespace culprit::collector::mpi
