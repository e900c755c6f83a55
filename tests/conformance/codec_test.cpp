// SPDX-License-Identifier: Apache-2.0
// Every registered codec, from the schema to the file and back: written by the store, read by
// netCDF-C if its HDF5 has the filter, and read by us. A new codec needs no line here.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "codec/filter_chain.hpp"
#include "conformance/input_files.hpp"
#include "model/filters.hpp"

namespace afterbay::test {
namespace {

/// Whether HDF5 can decode the codec's chunks without us.
bool hdf5_decodes(const codec::Codec& codec) {
  unsigned flags = 0;
  return H5Zfilter_avail(static_cast<H5Z_filter_t>(codec.id)) > 0 &&
         H5Zget_filter_info(static_cast<H5Z_filter_t>(codec.id), &flags) >= 0 &&
         (flags & H5Z_FILTER_CONFIG_DECODE_ENABLED) != 0;
}

class Codecs : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const codec::Codec& codec = *codec::find_codec(std::string_view(GetParam()));
    FilterChain chain{*codec::filter_of_level(codec, 1)};
    schema_.dimension("time", unlimited).dimension("y", 50).dimension("x", 30);
    add("record", {"time", "y", "x"}, chain);
    add("span", {"time", "y"}, chain).with_chunk({4, 20});
    add("fixed", {"y", "x"}, chain);
    codec::set_filter(chain, 2, Filter{2, {}});
    codec::set_filter(chain, 3, Filter{3, {}});
    add("with_others", {"time", "y", "x"}, codec::in_order(chain));
    with_hdf5_ = hdf5_decodes(codec);
  }

  Variable& add(const std::string& name, std::vector<std::string> dimensions, const FilterChain& chain) {
    Variable& variable = schema_.variable(name, Type::float32, std::move(dimensions));
    model::set_filters(variable, chain);
    return variable;
  }

  void write(const storage::FileRequest& request, std::uint64_t records, const Source& source) {
    const auto store = storage::make_store(Format::netcdf4);
    auto file = store->create(request);
    ASSERT_TRUE(file) << file.error().text();
    if ((*file)->records() == 0) write_fixed(**file, request, source);
    for (std::uint64_t record = (*file)->records(); record < records; ++record)
      write_record(**file, request, record, source);
    const auto published = (*file)->publish();
    ASSERT_TRUE(published) << published.error().text();
  }

  void check(const storage::FileRequest& request, std::uint64_t records, const Source& source) {
    if (with_hdf5_) expect_contents(read_netcdf(path_), request, records, source);
    const auto file = open_input(path_);
    for (std::uint32_t v = 0; v < schema_.variables.size(); ++v) {
      const std::string& name = schema_.variables[v].name;
      EXPECT_NE(file->engine(v), "library") << name;
      EXPECT_EQ(model::filters_of(file->schema().variables[v]), model::filters_of(schema_.variables[v]))
          << name;
      const std::uint64_t parts = request.layout->variables[v].record ? records : 1;
      for (std::uint64_t record = 0; record < parts; ++record)
        EXPECT_TRUE(read_box(*file, v, record, whole_of(*file, v)) == source(v, record)) << name;
    }
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.file("out.nc");
  Schema schema_;
  bool with_hdf5_ = false;
};

TEST_P(Codecs, what_is_written_is_read) {
  const auto request = request_of(path_, schema_, Format::netcdf4);
  for (const bool noise : {false, true}) {
    const Source source =
        noise ? noise_data(request.schema, *request.layout) : sample_data(request.schema, *request.layout);
    write(request_of(path_, schema_, Format::netcdf4, storage::Existing::replace), 6, source);
    check(request, 6, source);
  }
}

TEST_P(Codecs, files_are_appended_to) {
  const auto request = request_of(path_, schema_, Format::netcdf4, storage::Existing::append);
  const Source source = sample_data(request.schema, *request.layout);
  write(request_of(path_, schema_, Format::netcdf4), 2, source);
  write(request, 7, source);
  check(request, 7, source);
}

std::vector<std::string> names_of_codecs() {
  std::vector<std::string> names;
  for (const codec::Codec* codec : codec::all_codecs())
    if (codec->lacks.empty()) names.emplace_back(codec->name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, Codecs, testing::ValuesIn(names_of_codecs()),
                         [](const auto& it) { return it.param; });

}  // namespace
}  // namespace afterbay::test
