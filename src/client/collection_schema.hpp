// SPDX-License-Identifier: Apache-2.0
// What settings make of the definition of a collection.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "client/compression.hpp"
#include "client/processing.hpp"
#include "config/config.hpp"
#include "model/packing.hpp"

namespace afterbay::client {

/// Adds the filters that `compress` chooses to the settings of a collection. `directory`: of its
/// files, if they do not say it; `format`: of its files. Fails as compression_of does.
Result<Compression> choose_compression(const std::string& collection, const std::string& directory,
                                       Format format, config::CollectionSettings& settings);

/// Applies the settings to the schema, and takes what is computed with each variable. `packed`: as
/// in Processing::take_settings. Fails if files of the format cannot have the result.
Result<> apply_settings(Schema& schema, Format format,
                        const std::vector<std::optional<model::PackedValues>>& packed,
                        const config::CollectionSettings& settings, Processing& processing);

/// Fails if the result of apply_settings cannot be laid out, or values cannot be rounded or
/// converted as the settings say; as far as it does not depend on settings of the session, of which
/// the defaults are taken.
Result<> check_layout(Schema schema, Format format, const config::CollectionSettings& settings,
                      const Processing& processing);

}  // namespace afterbay::client
