// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "handles.hpp"

using namespace afterbay;     // NOLINT: every function here is a line of the C++ interface
using namespace afterbay::c;  // NOLINT

namespace {

CollectionOptions options_from(const afterbay_collection_options* where) {
  CollectionOptions options;
  if (where == nullptr) return options;
  if (where->file != nullptr) options.file = where->file;
  if (where->directory != nullptr) options.directory = where->directory;
  if (where->store != nullptr) options.store = where->store;
  if (where->existing != nullptr) options.existing = where->existing;
  return options;
}

FileName file_name_from(const afterbay_file_name* name) {
  FileName result;
  if (name == nullptr) return result;
  result.name = text_or_empty(name->name);
  if (name->has_step != 0) result.step = name->step;
  if (name->has_member != 0) result.member = name->member;
  if (name->date != nullptr) result.date = name->date;
  return result;
}

}  // namespace

int afterbay_collection_define(afterbay_session* session, const char* name, const afterbay_schema* schema,
                               const afterbay_collection_options* where, afterbay_collection** collection) {
  return guarded([&] {
    afterbay_collection*& result = need(collection, "collection");
    result =
        new afterbay_collection{need(session, "session")
                                    .session.collection(std::string(text(name, "name")),
                                                        need(schema, "schema").schema, options_from(where))};
  });
}

void afterbay_collection_free(afterbay_collection* collection) { delete collection; }

int afterbay_collection_name(const afterbay_collection* collection, const char** name) {
  return guarded([&] { need(name, "name") = need(collection, "collection").collection.name().c_str(); });
}

int afterbay_collection_open(afterbay_collection* collection, const afterbay_file_name* name,
                             const afterbay_changes* changes, afterbay_file** file) {
  return guarded([&] {
    afterbay_file*& result = need(file, "file");
    result = new afterbay_file{
        need(collection, "collection")
            .collection.open(file_name_from(name), changes == nullptr ? SchemaChanges{} : changes->changes)};
  });
}
