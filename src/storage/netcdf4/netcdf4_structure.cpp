// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/netcdf4_structure.hpp"

#include <memory>
#include <utility>

#include "storage/library_lock.hpp"
#include "storage/netcdf4/file_driver.hpp"
#include "storage/structure/build_structure.hpp"

namespace afterbay::storage {
namespace {

Result<std::vector<DatasetFacts>> look_at_datasets(BlockWriter& structure, const Schema& schema,
                                                   const model::FileLayout& layout) {
  FileDriver driver(structure);
  const LibraryLock lock;
  AFTERBAY_TRY_ASSIGN(const Hdf5Id access, driver.access_list());
  const Hdf5Id file(H5Fopen(structure.path().c_str(), H5F_ACC_RDONLY, access.get()));
  if (!file.valid()) return fail(driver.error("open the temporary structure"));
  std::vector<DatasetFacts> datasets;
  datasets.reserve(schema.variables.size());
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    AFTERBAY_TRY_ASSIGN(Dataset dataset,
                        Dataset::open(file.get(), driver, schema.variables[v], layout.variables[v]));
    datasets.push_back(dataset.facts());
  }
  return datasets;
}

}  // namespace

std::uint64_t Netcdf4Structure::bytes() const {
  std::uint64_t bytes = image.size();
  for (const DatasetFacts& dataset : datasets)
    bytes += sizeof dataset + dataset.name.size() + dataset.lengths.size() * sizeof(hsize_t);
  return bytes;
}

Result<Netcdf4Structure> make_netcdf4_structure(const Schema& schema, const model::FileLayout& layout,
                                                const std::string& beside) {
  AFTERBAY_TRY_ASSIGN(const Structure structure, build_structure(schema, layout, beside));
  AFTERBAY_TRY_ASSIGN(const auto source, structure.open());
  Netcdf4Structure made;
  AFTERBAY_TRY_ASSIGN(made.datasets, look_at_datasets(*source, schema, layout));
  AFTERBAY_TRY_ASSIGN(made.image, image_of(*source, structure.size_bytes));
  return made;
}

}  // namespace afterbay::storage
