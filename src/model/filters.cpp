// SPDX-License-Identifier: Apache-2.0
#include "model/filters.hpp"

#include <utility>

#include "codec/filter_chain.hpp"

namespace afterbay::model {

FilterChain filters_of(const Variable& variable) {
  FilterChain chain = variable.filters;
  if (variable.shuffle) chain.push_back({codec::shuffle_codec.id, {}});
  if (variable.deflate != 0)
    chain.push_back({codec::deflate_codec.id, {static_cast<std::uint32_t>(variable.deflate)}});
  return codec::in_order(std::move(chain));
}

void set_filters(Variable& variable, FilterChain chain) {
  variable.shuffle = codec::find_filter(chain, codec::shuffle_codec.id) != nullptr;
  variable.deflate =
      codec::level_of(codec::deflate_codec, codec::find_filter(chain, codec::deflate_codec.id));
  codec::set_filter(chain, codec::shuffle_codec.id, std::nullopt);
  codec::set_filter(chain, codec::deflate_codec.id, std::nullopt);
  variable.filters = codec::in_order(std::move(chain));
}

}  // namespace afterbay::model
