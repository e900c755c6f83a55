// SPDX-License-Identifier: Apache-2.0
// Checks of a reader process's description of a file, before anything is computed from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/reader/protocol.hpp"

namespace afterbay::storage {

/// The error in a description; nullopt if it can be used. Flags are normalised.
std::optional<std::string> mistake_in(FoundFile& found);
std::optional<std::string> mistake_in(ArrayContents& contents);

/// Converts datasets to the types that reading uses; datasets that contradict the schema are left
/// to the library.
std::vector<DatasetStorage> checked_datasets(const std::vector<DescribedDataset>& described,
                                             const FoundFile& found);

DescribedDataset described(const DatasetStorage& dataset);

}  // namespace afterbay::storage
