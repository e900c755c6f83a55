// SPDX-License-Identifier: Apache-2.0
#include "client/compression.hpp"

#include "base/printable.hpp"
#include "codec/filter_chain.hpp"
#include "config/compress_choice.hpp"
#include "model/format_traits.hpp"

namespace afterbay::client {

observe::CompressRecord Compression::record() const {
  observe::CompressRecord record;
  record.path = path;
  record.filters = codec::text_of(filters);
  record.measured = !trial_compressors.empty();
  return record;
}

Result<Compression> compression_of(const std::string& collection, const std::string& directory, Format format,
                                   config::Compress compress) {
  const FormatTraits& traits = traits_of(format);
  if (compress == config::Compress::off || traits.filters == FilterRule::ignored) return Compression{};
  if (traits.filters == FilterRule::refused)
    return fail(ErrorCode::conflict,
                "collection '{}' has the setting compress and the store {}, which has no filters: use the "
                "store {}, or leave out compress",
                collection, traits.name,
                formats_with([](const FormatTraits& it) { return it.filters == FilterRule::applied; }));
  Compression made;
  made.path = config::choice_path(directory, collection);
  AFTERBAY_TRY_ASSIGN(auto chosen, config::read_choice(made.path, collection));
  if (chosen) {
    for (const auto& [name, level] : *chosen)
      if (compress == config::Compress::portable && !codec::is_part_of_hdf5(*codec::find_codec(name)))
        return fail(
            make_error(ErrorCode::conflict,
                       "the setting compress of collection '{}' is portable, but an earlier session "
                       "chose {}, for which readers need a plug-in: remove {} to measure again, or set "
                       "compress to auto",
                       collection, codec::text_of(*chosen), printable(made.path))
                .in_file(made.path));
    made.filters = *std::move(chosen);
    return made;
  }
  made.trial_compressors = codec::compressors_here(compress == config::Compress::portable);
  made.filters = codec::untried_chain(made.trial_compressors);
  return made;
}

void leave_out_refused(FilterChain& chain, Type type) {
  if (!codec::mistake_for(codec::in_order(chain), type)) return;
  std::erase_if(chain, [](const Filter& it) {
    const codec::Codec* const codec = codec::find_codec(it.id);
    return codec != nullptr && codec->kind == codec::FilterKind::rearrange;
  });
}

}  // namespace afterbay::client
