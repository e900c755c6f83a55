// SPDX-License-Identifier: Apache-2.0
// How the public data types are encoded.
#pragma once

#include "afterbay/decomposition.hpp"
#include "afterbay/error.hpp"
#include "afterbay/schema.hpp"
#include "afterbay/session.hpp"
#include "codec/filter_chain.hpp"
#include "model/filters.hpp"
#include "wire/archive.hpp"

namespace afterbay::wire {

template <class A>
void fields(A& a, Values& v) {
  a(v.type, v.bytes, v.strings);
}
template <class A>
void fields(A& a, Attribute& v) {
  a(v.name, v.values);
}
template <class A>
void fields(A& a, Dimension& v) {
  a(v.name, v.length);
}
template <class A>
void fields(A& a, Filter& v) {
  a(v.id, v.parameters);
}
/// Filters whose codecs are known and which can be applied in their order; other ones are refused.
template <class A>
void filter_fields(A& a, FilterChain& chain) {
  a(chain);
  if constexpr (std::is_same_v<A, InputArchive>)
    if (auto mistake = codec::mistake_in(chain); mistake && a.ok()) a.refuse("a variable " + *mistake);
}
template <class A>
void fields(A& a, Variable& v) {
  FilterChain chain = model::filters_of(v);
  a(v.name, v.type, v.dimensions, v.attributes, v.fill, v.chunk);
  filter_fields(a, chain);
  a(v.decomposition, v.constant);
  if constexpr (!std::is_same_v<A, OutputArchive>) model::set_filters(v, std::move(chain));
}
template <class A>
void fields(A& a, Schema& v) {
  a(v.dimensions, v.variables, v.attributes);
}
template <class A>
void fields(A& a, SchemaChanges::AttributeChange& v) {
  a(v.variable, v.attribute);
}
template <class A>
void fields(A& a, SchemaChanges::ConstantChange& v) {
  a(v.variable, v.constant);
}
template <class A>
void fields(A& a, SchemaChanges& v) {
  a(v.attributes, v.constants);
}
template <class A>
void fields(A& a, Block& v) {
  a(v.global, v.start, v.count);
}
template <class A>
void fields(A& a, Coverage& v) {
  a(v.gaps_allowed, v.repeats);
}
template <class A>
void fields(A& a, FileName& v) {
  a(v.name, v.step, v.member, v.date, v.replace);
}
template <class A>
void fields(A& a, Error& v) {
  a(v.code, v.message, v.context, v.rank, v.native, v.file, v.variable);
}

}  // namespace afterbay::wire
