// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "handles.hpp"

using namespace afterbay;     // NOLINT: every function here is a line of the C++ interface
using namespace afterbay::c;  // NOLINT

namespace {

bool put(afterbay_endpoint* endpoint, afterbay_file* file, const char* variable, uint64_t record, int type,
         const void* data, const afterbay_memory* memory, const afterbay_section* section, bool may_wait) {
  return need(endpoint, "endpoint")
      .endpoint.put_raw(need(file, "file").file, text(variable, "variable"), record, data, type_from(type),
                        layout_from(memory), may_wait, section_from(section));
}

}  // namespace

int afterbay_endpoint_open(afterbay_session* session, const char* name, afterbay_endpoint** endpoint) {
  return guarded([&] {
    afterbay_endpoint*& result = need(endpoint, "endpoint");
    result =
        new afterbay_endpoint{need(session, "session").session.endpoint(std::string(text_or_empty(name)))};
  });
}

int afterbay_endpoint_part(afterbay_endpoint* endpoint, const char* decomposition, int rank,
                           const uint64_t* global, const uint64_t* start, const uint64_t* count) {
  return guarded([&] {
    const std::size_t dims = rank_of(rank);
    const Block block{list(global, dims, "global"), list(start, dims, "start"), list(count, dims, "count")};
    need(endpoint, "endpoint").endpoint.part(std::string(text(decomposition, "decomposition")), block);
  });
}

int afterbay_endpoint_part_map(afterbay_endpoint* endpoint, const char* decomposition,
                               const afterbay_map* map) {
  return guarded([&] {
    if (map == nullptr) refuse_null("map");
    need(endpoint, "endpoint")
        .endpoint.part(std::string(text(decomposition, "decomposition")), map_from(*map));
  });
}

int afterbay_endpoint_whole(afterbay_endpoint* endpoint, const char* decomposition) {
  return guarded(
      [&] { need(endpoint, "endpoint").endpoint.whole(std::string(text_or_empty(decomposition))); });
}

int afterbay_endpoint_put(afterbay_endpoint* endpoint, afterbay_file* file, const char* variable,
                          uint64_t record, int type, const void* data, const afterbay_memory* memory,
                          const afterbay_section* section) {
  return guarded([&] { put(endpoint, file, variable, record, type, data, memory, section, true); });
}

int afterbay_endpoint_try_put(afterbay_endpoint* endpoint, afterbay_file* file, const char* variable,
                              uint64_t record, int type, const void* data, const afterbay_memory* memory,
                              const afterbay_section* section) {
  return guarded([&] {
    if (!put(endpoint, file, variable, record, type, data, memory, section, false))
      refuse(ErrorCode::would_block, "no room in the server's memory now; nothing was taken");
  });
}

int afterbay_endpoint_acquire(afterbay_endpoint* endpoint, afterbay_file* file, const char* variable,
                              uint64_t record, int type, afterbay_slot** slot) {
  return guarded([&] {
    afterbay_slot*& result = need(slot, "slot");
    result = new afterbay_slot{
        need(endpoint, "endpoint")
            .endpoint.acquire(need(file, "file").file, text(variable, "variable"), record, type_from(type))};
  });
}

int afterbay_endpoint_get(afterbay_endpoint* endpoint, afterbay_input* input, const char* variable,
                          const afterbay_selection* what, int type, void* data,
                          const afterbay_memory* memory) {
  return guarded([&] {
    need(endpoint, "endpoint")
        .endpoint.get_raw(need(input, "input").input, text(variable, "variable"), selection_from(what), data,
                          type_from(type), layout_from(memory));
  });
}

int afterbay_endpoint_end_step(afterbay_endpoint* endpoint) {
  return guarded([&] { need(endpoint, "endpoint").endpoint.end_step(); });
}

int afterbay_endpoint_close(afterbay_endpoint* endpoint) {
  return guarded([&] { need(endpoint, "endpoint").endpoint.close(); });
}

int afterbay_endpoint_number(const afterbay_endpoint* endpoint, size_t* number) {
  return guarded([&] { need(number, "number") = need(endpoint, "endpoint").endpoint.number(); });
}

void afterbay_endpoint_free(afterbay_endpoint* endpoint) { delete endpoint; }
