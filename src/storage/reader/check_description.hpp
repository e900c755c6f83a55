// SPDX-License-Identifier: Apache-2.0
// Checks of what a reader process says about a file, before anything is computed from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/reader/protocol.hpp"

namespace afterbay::storage {

/// What is wrong with a description; nothing when it can be used. Flags are normalised.
std::optional<std::string> mistake_in(FoundFile& found);
std::optional<std::string> mistake_in(ArrayContents& contents);

/// Datasets in the types that reading uses; those that contradict the schema are left to the library.
std::vector<DatasetStorage> checked_datasets(const std::vector<DescribedDataset>& described,
                                             const FoundFile& found);

DescribedDataset described(const DatasetStorage& dataset);

}  // namespace afterbay::storage
