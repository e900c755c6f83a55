// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "handles.hpp"

using namespace afterbay;     // NOLINT: every function here is a line of the C++ interface
using namespace afterbay::c;  // NOLINT

namespace {

bool put(afterbay_file* file, const char* variable, uint64_t record, int type, const void* data,
         const afterbay_memory* memory, bool may_wait, const afterbay_section* section = nullptr) {
  return need(file, "file")
      .file.put_raw(text(variable, "variable"), record, data, type_from(type), layout_from(memory), may_wait,
                    section_from(section));
}

}  // namespace

int afterbay_file_put(afterbay_file* file, const char* variable, uint64_t record, int type, const void* data,
                      const afterbay_memory* memory) {
  return guarded([&] { put(file, variable, record, type, data, memory, true); });
}

int afterbay_file_try_put(afterbay_file* file, const char* variable, uint64_t record, int type,
                          const void* data, const afterbay_memory* memory) {
  return guarded([&] {
    if (!put(file, variable, record, type, data, memory, false))
      refuse(ErrorCode::would_block, "no room in the server's memory now; nothing was taken");
  });
}

int afterbay_file_put_section(afterbay_file* file, const char* variable, uint64_t record, int type,
                              const void* data, const afterbay_memory* memory,
                              const afterbay_section* section) {
  return guarded([&] { put(file, variable, record, type, data, memory, true, section); });
}

int afterbay_file_put_strings(afterbay_file* file, const char* variable, uint64_t record, size_t count,
                              const char* const* values) {
  return guarded([&] {
    need(file, "file").file.put_strings(text(variable, "variable"), record, strings(values, count, "values"));
  });
}

int afterbay_file_acquire(afterbay_file* file, const char* variable, uint64_t record, int type,
                          afterbay_slot** slot) {
  return guarded([&] {
    afterbay_slot*& result = need(slot, "slot");
    result = new afterbay_slot{
        need(file, "file").file.acquire(text(variable, "variable"), record, type_from(type))};
  });
}

int afterbay_file_records(afterbay_file* file, uint64_t* records) {
  return guarded([&] { need(records, "records") = need(file, "file").file.records(); });
}

int afterbay_file_close(afterbay_file* file, afterbay_ticket* ticket) {
  return guarded([&] {
    const Ticket closed = need(file, "file").file.close();
    if (ticket != nullptr) ticket->number = closed.number;
  });
}

int afterbay_file_path(const afterbay_file* file, const char** path) {
  return guarded([&] { need(path, "path") = need(file, "file").file.path().c_str(); });
}

void afterbay_file_free(afterbay_file* file) { delete file; }

int afterbay_slot_part_count(const afterbay_slot* slot, size_t* count) {
  return guarded([&] { need(count, "count") = need(slot, "slot").slot.parts().size(); });
}

int afterbay_slot_get_part(const afterbay_slot* slot, size_t index, afterbay_slot_part* part) {
  return guarded([&] {
    const auto& parts = need(slot, "slot").slot.parts();
    if (index >= parts.size())
      refuse(ErrorCode::invalid_argument, "there is no part number " + std::to_string(index) +
                                              "; the slot has " + std::to_string(parts.size()) +
                                              ", numbered from 0");
    const Slot::Part& found = parts[index];
    need(part, "part") = {found.data, static_cast<int>(found.count.size()), found.start.data(),
                          found.count.data(), found.strides.data()};
  });
}

int afterbay_slot_is_direct(const afterbay_slot* slot, int* direct) {
  return guarded([&] { need(direct, "direct") = need(slot, "slot").slot.direct() ? 1 : 0; });
}

int afterbay_slot_commit(afterbay_slot* slot) {
  return guarded([&] { need(slot, "slot").slot.commit(); });
}

void afterbay_slot_free(afterbay_slot* slot) { delete slot; }
