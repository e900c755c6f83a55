// SPDX-License-Identifier: Apache-2.0
// Cached structures: files that begin with a copy are equal to those that the library would have
// created.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "conformance/shared_files.hpp"
#include "storage/library_lock.hpp"

namespace afterbay::test {
namespace {

using storage::Existing;

/// All types, text of records, coordinates and constants, chunks and filters if there are any.
Schema kept_schema(Format format) {
  Schema schema = schema_of_types(format);
  schema.dimension("lat", 9).attribute("title", "kept").attribute("history", "as first made");
  schema.variable("lat", Type::float64, {"lat"})
      .with_constant(std::vector<double>{-80, -60, -40, -20, 0, 20, 40, 60, 80})
      .attribute("units", "degrees_north");
  if (format != Format::netcdf4) return schema;
  schema.variable("packed", Type::float32, {"time", "lat"}).with_chunk({4, 9}).with_deflate(2);
  schema.variable("label", Type::string, {"time"});
  schema.variable("name", Type::string, {"lat"})
      .with_constant(std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g", "h", "i"});
  return schema;
}

Schema many_variables(int count) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", 10);
  for (int v = 0; v < count; ++v) {
    const std::string name = "field_" + std::to_string(v);
    schema.attribute("about_" + name, "one of many");
    schema.variable(name, Type::float32, {"time", "x"}).attribute("long_name", name).with_fill(-1.0f);
  }
  return schema;
}

class KeptStructures : public testing::TestWithParam<Format> {
 protected:
  [[nodiscard]] Format format() const { return GetParam(); }
  [[nodiscard]] std::string path(const std::string& name) const { return directory_.file(name); }
  storage::FileRequest request(const std::string& name, const Schema& schema,
                               Existing existing = Existing::refuse) const {
    return request_of(path(name), schema, format(), existing);
  }

  void write(storage::Store& store, const storage::FileRequest& request, std::uint64_t records) {
    auto file = store.create(request);
    ASSERT_TRUE(file) << file.error().text();
    const Source source = sample_data(request.schema, *request.layout);
    if ((*file)->records() == 0) write_fixed(**file, request, source);
    for (std::uint64_t r = (*file)->records(); r < records; ++r) write_record(**file, request, r, source);
    const auto published = (*file)->publish();
    ASSERT_TRUE(published) << published.error().text();
  }
  void write(const storage::FileRequest& request, std::uint64_t records) { write(*store_, request, records); }

  /// The same file from a store with an empty cache.
  std::string made_anew(const std::string& name, const Schema& schema, std::uint64_t records) {
    const auto fresh = storage::make_store(format());
    write(*fresh, request(name, schema), records);
    return path(name);
  }

  void expect_same(const std::string& one, const std::string& other) {
    const std::string ncdump =
        traits_of(format()).arithmetic_places ? "ncdump -n same -h " : "ncdump -n same -hs ";
    const auto text = [&](const std::string& file) { return output_of(ncdump + file); };
    EXPECT_EQ(text(one), text(other));
    expect_equal(read_netcdf(one), read_netcdf(other));
    if (traits_of(format()).arithmetic_places) {
      EXPECT_TRUE(file_bytes(one) == file_bytes(other));
    } else {
      const std::string differences = output_of("h5diff " + one + " " + other);
      EXPECT_EQ(differences.find("found"), std::string::npos) << differences;
    }
  }

  std::unique_ptr<storage::Store> store_ = storage::make_store(GetParam());
  TemporaryDirectory directory_;
};

TEST_P(KeptStructures, files_that_begin_with_a_copy_are_those_made_anew) {
  const Schema schema = kept_schema(format());
  store_->prepare(request("", schema));
  for (const char* name : {"first.nc", "second.nc", "third.nc"}) write(request(name, schema), 3);
  const std::string alone = made_anew("alone.nc", schema, 3);
  for (const char* name : {"first.nc", "second.nc", "third.nc"}) expect_same(path(name), alone);
}

TEST_P(KeptStructures, a_file_that_nothing_was_written_to_is_that_made_anew) {
  for (int i = 0; i < 2; ++i) write(request("empty.nc", kept_schema(format()), Existing::replace), 0);
  expect_same(path("empty.nc"), made_anew("alone.nc", kept_schema(format()), 0));
}

TEST_P(KeptStructures, another_attribute_or_constant_is_another_file_and_leaves_the_kept_one) {
  const Schema schema = kept_schema(format());
  Schema renamed = schema;
  renamed.attribute("history", "as next made");  // as long as the other one
  Schema moved = schema;
  moved.find_variable("lat")->constant = std::vector<double>{-8, -6, -4, -2, 0, 2, 4, 6, 8};
  write(request("first.nc", schema), 2);
  write(request("renamed.nc", renamed), 2);
  write(request("moved.nc", moved), 2);
  write(request("last.nc", schema), 2);
  expect_same(path("renamed.nc"), made_anew("renamed_alone.nc", renamed, 2));
  expect_same(path("moved.nc"), made_anew("moved_alone.nc", moved, 2));
  expect_same(path("last.nc"), path("first.nc"));
  EXPECT_EQ(read_netcdf(path("renamed.nc")).attributes.at("history"), Values("as next made"));
  EXPECT_EQ(read_netcdf(path("moved.nc")).variables.at("lat").values,
            Values(std::vector<double>{-8, -6, -4, -2, 0, 2, 4, 6, 8}));
}

TEST_P(KeptStructures, a_copy_can_be_appended_to_and_shared) {
  const Schema schema = kept_schema(format());
  for (const char* name : {"first.nc", "second.nc"}) write(request(name, schema), 2);
  write(request("second.nc", schema, Existing::append), 5);
  if (traits_of(format()).arithmetic_places)
    expect_same(path("second.nc"), made_anew("alone.nc", schema, 5));
  else
    expect_equal(read_netcdf(path("second.nc")), read_netcdf(made_anew("alone.nc", schema, 5)));
  const auto shared = request("shared.nc", schema);
  SharedFile group(*store_, shared, 2);
  group.write(all_frames(*shared.layout, 5), sample_data(schema, *shared.layout), 3);
  group.publish();
  expect_equal(read_netcdf(path("shared.nc")), read_netcdf(path("alone.nc")));
}

TEST_P(KeptStructures, files_are_made_by_several_threads_at_once_while_one_prepares) {
  const Schema schema = kept_schema(format());
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { store_->prepare(request("", schema)); });
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 3; ++i)
          write(request("f" + std::to_string(t) + std::to_string(i) + ".nc", schema), 2);
      });
  }
  const std::string alone = made_anew("alone.nc", schema, 2);
  for (const char* name : {"f00.nc", "f11.nc", "f22.nc", "f02.nc"}) expect_same(path(name), alone);
}

TEST_P(KeptStructures, what_cannot_be_made_fails_each_time_and_harms_no_other_file) {
  Schema bad = kept_schema(format());
  bad.variables[0].attribute("a/b", "netCDF has no such names");
  Schema short_constant = kept_schema(format());
  short_constant.find_variable("lat")->constant = std::vector<double>{1, 2};
  for (const Schema& schema : {bad, short_constant}) {
    store_->prepare(request("", schema));
    for (int i = 0; i < 2; ++i) {
      const auto refused = store_->create(request("bad.nc", schema));
      ASSERT_FALSE(refused);
      EXPECT_FALSE(refused.error().variable.empty());
      EXPECT_FALSE(file_exists(path("bad.nc.part")));
    }
  }
  write(request("good.nc", kept_schema(format())), 2);
  expect_same(path("good.nc"), made_anew("alone.nc", kept_schema(format()), 2));
}

TEST_P(KeptStructures, a_prepared_netcdf4_file_takes_a_fraction_of_the_time) {
  if (traits_of(format()).arithmetic_places) return;  // its header takes a few milliseconds at most
  const Schema schema = many_variables(300);
  const auto created = [&](const std::string& name) {
    const auto begun = std::chrono::steady_clock::now();
    auto file = store_->create(request(name, schema));
    const auto took = std::chrono::steady_clock::now() - begun;
    EXPECT_TRUE(file) << file.error().text();
    return took;
  };
  const auto begun = std::chrono::steady_clock::now();
  store_->prepare(request("", schema));
  const auto prepared = std::chrono::steady_clock::now() - begun;
  auto best = created("0.nc");
  for (int i = 1; i < 5; ++i) best = std::min(best, created(std::to_string(i) + ".nc"));
  EXPECT_LT(best * 3, prepared);
}

TEST_P(KeptStructures, a_prepared_classic_file_needs_nothing_of_the_library) {
  if (!traits_of(format()).arithmetic_places) return;  // HDF5 opens it
  const auto wanted = request("out.nc", kept_schema(format()));
  store_->prepare(wanted);
  std::future<bool> made;
  {
    const storage::LibraryLock held;
    made = std::async(std::launch::async, [&] { return store_->create(wanted).has_value(); });
    EXPECT_EQ(made.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  }
  EXPECT_TRUE(made.get());
}

INSTANTIATE_TEST_SUITE_P(OnDisk, KeptStructures, testing::Values(Format::netcdf4, Format::cdf5, Format::cdf2),
                         [](const auto& format) { return std::string(name_of(format.param)); });

}  // namespace
}  // namespace afterbay::test
