// SPDX-License-Identifier: Apache-2.0
#include "afterbay/endpoint_pool.hpp"

#include <vector>

#include "handles.hpp"

using namespace afterbay;     // NOLINT: every function here is a line of the C++ interface
using namespace afterbay::c;  // NOLINT

int afterbay_endpoint_pool_open(afterbay_endpoint* const* endpoints, size_t count,
                                afterbay_endpoint_pool** pool) {
  return guarded([&] {
    afterbay_endpoint_pool*& result = need(pool, "pool");
    std::vector<Endpoint> all;
    for (afterbay_endpoint* const endpoint : list(endpoints, count, "endpoints"))
      all.push_back(need(endpoint, "endpoint").endpoint);
    result = new afterbay_endpoint_pool{EndpointPool(all)};
  });
}

int afterbay_endpoint_pool_take(afterbay_endpoint_pool* pool, size_t* index) {
  return guarded([&] {
    size_t& result = need(index, "index");
    result = need(pool, "pool").pool.take_index(true);
  });
}

int afterbay_endpoint_pool_try_take(afterbay_endpoint_pool* pool, size_t* index) {
  return guarded([&] {
    EndpointPool& it = need(pool, "pool").pool;
    size_t& result = need(index, "index");
    const std::size_t taken = it.take_index(false);
    if (taken == it.size()) refuse(ErrorCode::would_block, "no endpoint of the pool is free");
    result = taken;
  });
}

int afterbay_endpoint_pool_give_back(afterbay_endpoint_pool* pool, size_t index) {
  return guarded([&] { need(pool, "pool").pool.give_back(index); });
}

void afterbay_endpoint_pool_free(afterbay_endpoint_pool* pool) { delete pool; }
