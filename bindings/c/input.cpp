// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "handles.hpp"

using namespace afterbay;     // NOLINT: every function here is a line of the C++ interface
using namespace afterbay::c;  // NOLINT

namespace {

AsOf as_of_from(int as_of) {
  switch (as_of) {
    case AFTERBAY_AS_OF_CLOSED: return AsOf::closed;
    case AFTERBAY_AS_OF_PUBLISHED: return AsOf::published;
    case AFTERBAY_AS_OF_EPOCH: return AsOf::epoch;
    default:
      refuse(ErrorCode::invalid_argument,
             "there is no state number " + std::to_string(as_of) + "; use one of enum afterbay_as_of");
  }
}

}  // namespace

int afterbay_session_open_input(afterbay_session* session, const char* path, int as_of,
                                afterbay_input** input) {
  return guarded([&] {
    afterbay_input*& result = need(input, "input");
    InputFile file = need(session, "session")
                         .session.open_input(std::string(text(path, "path")), {.as_of = as_of_from(as_of)});
    result = new afterbay_input{.input = file, .schema = {.schema = file.schema()}};
  });
}

int afterbay_input_get(afterbay_input* input, const char* variable, const afterbay_selection* what, int type,
                       void* data, const afterbay_memory* memory) {
  return guarded([&] {
    need(input, "input")
        .input.get_raw(text(variable, "variable"), selection_from(what), data, type_from(type),
                       layout_from(memory));
  });
}

int afterbay_input_get_strings(afterbay_input* input, const char* variable, uint64_t record, size_t* count,
                               const char* const** values) {
  return guarded([&] {
    afterbay_input& it = need(input, "input");
    size_t& counted = need(count, "count");
    const char* const*& lent = need(values, "values");
    it.strings = it.input.get_strings(text(variable, "variable"), record);
    it.pointers = pointers_to(it.strings);
    counted = it.pointers.size();
    lent = it.pointers.data();
  });
}

int afterbay_input_prefetch(afterbay_input* input, const char* variable, const afterbay_selection* what) {
  return guarded(
      [&] { need(input, "input").input.prefetch(text(variable, "variable"), selection_from(what)); });
}

int afterbay_input_schema(const afterbay_input* input, const afterbay_schema** schema) {
  return guarded([&] { need(schema, "schema") = &need(input, "input").schema; });
}

int afterbay_input_records(const afterbay_input* input, uint64_t* records) {
  return guarded([&] { need(records, "records") = need(input, "input").input.records(); });
}

int afterbay_input_path(const afterbay_input* input, const char** path) {
  return guarded([&] { need(path, "path") = need(input, "input").input.path().c_str(); });
}

int afterbay_input_close(afterbay_input* input) {
  return guarded([&] { need(input, "input").input.close(); });
}

void afterbay_input_free(afterbay_input* input) { delete input; }
