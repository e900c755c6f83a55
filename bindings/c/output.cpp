// SPDX-License-Identifier: Apache-2.0
#include "afterbay/output.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "handles.hpp"

using namespace afterbay;     // NOLINT: every function here is a line of the C++ interface
using namespace afterbay::c;  // NOLINT

namespace {

Output& output_of(afterbay_output* handle) { return need(handle, "output").output; }
const Output& output_of(const afterbay_output* handle) { return need(handle, "output").output; }

/// No values if `count` is 0.
Values values_of(const afterbay_values& from) {
  return from.count == 0 ? Values() : values_from(from.type, from.count, from.data);
}

std::vector<Attribute> attributes_of(const afterbay_attributes* from) {
  return from == nullptr ? std::vector<Attribute>() : from->list;
}

void set_one(afterbay_attributes* attributes, const char* name, Values values) {
  auto& all = need(attributes, "attributes").list;
  std::string key(text(name, "name"));
  const auto known =
      std::find_if(all.begin(), all.end(), [&](const Attribute& attribute) { return attribute.name == key; });
  if (known != all.end())
    known->values = std::move(values);
  else
    all.push_back({std::move(key), std::move(values)});
}

CoordinateOptions coordinate_from(const afterbay_coordinate_options* from) {
  CoordinateOptions options;
  if (from == nullptr) return options;
  options.units = text_or_empty(from->units);
  options.standard_name = text_or_empty(from->standard_name);
  options.long_name = text_or_empty(from->long_name);
  options.attributes = attributes_of(from->attributes);
  options.bounds = values_of(from->bounds);
  options.vertices = text_or_empty(from->vertices);
  return options;
}

FieldOptions field_from(const afterbay_field_options* from) {
  FieldOptions options;
  if (from == nullptr) return options;
  options.grid = text_or_empty(from->grid);
  options.axes = strings(from->axes, rank_of(from->axis_count), "axes");
  if (from->type != 0) options.type = type_from(from->type);
  options.units = text_or_empty(from->units);
  options.standard_name = text_or_empty(from->standard_name);
  options.long_name = text_or_empty(from->long_name);
  options.fill = values_of(from->fill);
  options.attributes = attributes_of(from->attributes);
  return options;
}

OutputOptions options_from(const afterbay_output_options& from) {
  OutputOptions options;
  if (from.calendar != nullptr) options.calendar = calendar_of(from.calendar);
  options.start = date_from(from.start, "options->start");
  if (from.reference != nullptr) options.reference = date_from(from.reference, "options->reference");
  options.step = period_from(from.step, "options->step");
  if (from.has_member != 0) options.member = from.member;
  options.resume = text_or_empty(from.resume);
  return options;
}

ComputedCoordinates computed_from(const afterbay_computed_coordinates* from) {
  ComputedCoordinates names;
  if (from == nullptr) return names;
  if (from->latitude != nullptr) names.latitude = from->latitude;
  if (from->longitude != nullptr) names.longitude = from->longitude;
  names.bounds = from->bounds != 0;
  return names;
}

}  // namespace

int afterbay_attributes_create(afterbay_attributes** attributes) {
  return guarded([&] {
    afterbay_attributes*& result = need(attributes, "attributes");
    result = new afterbay_attributes;
  });
}

void afterbay_attributes_free(afterbay_attributes* attributes) { delete attributes; }

int afterbay_attributes_set(afterbay_attributes* attributes, const char* name, int type, size_t count,
                            const void* values) {
  return guarded([&] { set_one(attributes, name, values_from(type, count, values)); });
}

int afterbay_attributes_set_text(afterbay_attributes* attributes, const char* name, const char* value) {
  return guarded([&] { set_one(attributes, name, Values(text(value, "text"))); });
}

int afterbay_output_open(afterbay_session* session, const afterbay_output_options* options,
                         afterbay_output** output) {
  return guarded([&] {
    afterbay_output*& result = need(output, "output");
    Session& of = need(session, "session").session;
    result = new afterbay_output{Output(of, options_from(need(options, "options")))};
  });
}

void afterbay_output_free(afterbay_output* output) { delete output; }

int afterbay_output_dimension(afterbay_output* output, const char* name, uint64_t length) {
  return guarded([&] { output_of(output).dimension(std::string(text(name, "name")), length); });
}

int afterbay_output_dimension_values(afterbay_output* output, const char* name, const afterbay_values* values,
                                     const afterbay_coordinate_options* options) {
  return guarded([&] {
    output_of(output).dimension(std::string(text(name, "name")), values_of(need(values, "values")),
                                coordinate_from(options));
  });
}

int afterbay_output_grid(afterbay_output* output, const char* name, int rank, const char* const* dimensions,
                         const char* decomposition) {
  return guarded([&] {
    output_of(output).grid(std::string(text(name, "name")), strings(dimensions, rank_of(rank), "dimensions"),
                           std::string(text(decomposition, "decomposition")));
  });
}

int afterbay_output_healpix_grid(afterbay_output* output, const char* name, const char* dimension,
                                 uint64_t nside, int nested, const char* decomposition,
                                 const afterbay_computed_coordinates* coordinates) {
  return guarded([&] {
    output_of(output).healpix_grid(std::string(text(name, "name")), std::string(text(dimension, "dimension")),
                                   {nside, nested != 0}, std::string(text(decomposition, "decomposition")),
                                   computed_from(coordinates));
  });
}

int afterbay_output_gaussian_grid(afterbay_output* output, const char* name, const char* dimension,
                                  int latitudes, const uint32_t* points_of_latitudes,
                                  const char* decomposition,
                                  const afterbay_computed_coordinates* coordinates) {
  return guarded([&] {
    if (latitudes < 0)
      refuse(ErrorCode::invalid_argument,
             "latitudes is " + std::to_string(latitudes) + ": expected at least 1");
    GaussianGrid points;
    if (latitudes > 0) {
      const uint32_t* const first = &need(points_of_latitudes, "points_of_latitudes");
      points.points_of_latitudes.assign(first, first + latitudes);
    }
    output_of(output).gaussian_grid(
        std::string(text(name, "name")), std::string(text(dimension, "dimension")), points,
        std::string(text(decomposition, "decomposition")), computed_from(coordinates));
  });
}

int afterbay_output_coordinate(afterbay_output* output, const char* name, int rank,
                               const char* const* dimensions, const afterbay_values* values,
                               const afterbay_coordinate_options* options) {
  return guarded([&] {
    output_of(output).coordinate(std::string(text(name, "name")),
                                 strings(dimensions, rank_of(rank), "dimensions"),
                                 values_of(need(values, "values")), coordinate_from(options));
  });
}

int afterbay_output_grid_coordinate(afterbay_output* output, const char* name, const char* grid, int type,
                                    const void* data, const afterbay_coordinate_options* options) {
  return guarded([&] {
    output_of(output).grid_coordinate_raw(std::string(text(name, "name")), std::string(text(grid, "grid")),
                                          data, type_from(type), coordinate_from(options));
  });
}

int afterbay_output_field(afterbay_output* output, const char* name, const afterbay_field_options* options) {
  return guarded([&] { output_of(output).field(std::string(text(name, "name")), field_from(options)); });
}

int afterbay_output_start(afterbay_output* output) {
  return guarded([&] { output_of(output).start(); });
}

int afterbay_output_step(afterbay_output* output, int64_t number) {
  return guarded([&] { output_of(output).step(number); });
}

int afterbay_output_wants(const afterbay_output* output, const char* field, int* wanted) {
  return guarded([&] { need(wanted, "wanted") = output_of(output).wants(text(field, "field")) ? 1 : 0; });
}

int afterbay_output_put(afterbay_output* output, const char* field, int type, const void* data,
                        const afterbay_memory* memory) {
  return guarded(
      [&] { output_of(output).put_raw(text(field, "field"), data, type_from(type), layout_from(memory)); });
}

int afterbay_output_put_section(afterbay_output* output, const char* field, int type, const void* data,
                                const afterbay_memory* memory, const afterbay_section* section) {
  return guarded([&] {
    output_of(output).put_section_raw(text(field, "field"), section_from(section), data, type_from(type),
                                      layout_from(memory));
  });
}

int afterbay_output_save(afterbay_output* output, const char* path, afterbay_ticket* ticket) {
  return guarded([&] {
    const Ticket saved = output_of(output).save(std::string(text(path, "path")));
    if (ticket != nullptr) ticket->number = saved.number;
  });
}

int afterbay_output_finalize(afterbay_output* output, const char* save_to) {
  return guarded([&] { output_of(output).finalize(std::string(text_or_empty(save_to))); });
}

int afterbay_output_date(const afterbay_output* output, afterbay_date* date) {
  return guarded([&] { need(date, "date") = c_date(output_of(output).date()); });
}

int afterbay_output_current_step(const afterbay_output* output, int64_t* number) {
  return guarded([&] { need(number, "number") = output_of(output).current_step(); });
}
