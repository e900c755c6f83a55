// SPDX-License-Identifier: Apache-2.0
#include "output/file_schema.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "output/numbers.hpp"
#include "output/refuse.hpp"

namespace afterbay::output {

namespace {

constexpr const char* bounds_dimension = "bnds";

const Attribute* find_attribute(const std::vector<Attribute>& attributes, std::string_view name) {
  const auto found = std::ranges::find(attributes, name, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

std::set<std::string> words(std::string_view text) {
  std::set<std::string> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) all.emplace(text.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

class Maker {
 public:
  Maker(const describe::File& file, const std::vector<FileVariable>& variables,
        const Definitions& definitions)
      : file_(file), variables_(variables), definitions_(definitions) {
    for (const FileVariable& variable : variables)
      for (const Space::Dimension& dimension : variable.space->dimensions)
        cuts_[dimension.name].insert(dimension.places);
  }

  void add_time(const ModelTime& time, const TimeUnits& units) {
    const auto has = [&](TimeKind kind) {
      return std::ranges::find(variables_, kind, &FileVariable::kind) != variables_.end();
    };
    const bool periods = has(TimeKind::period);
    const bool instants = has(TimeKind::instant);
    if (!periods && !instants) return;
    made_.schema.dimension(time_name, unlimited);
    const auto axis = [&](const char* name) -> Variable& {
      Variable& variable = add(name, Type::float64, {time_name});
      variable.attribute("standard_name", "time").attribute("units", units.text());
      variable.attribute("calendar", time.calendar.name());
      return variable;
    };
    Variable& main = axis(time_name);
    main.attribute("axis", "T");
    if (file_.time.bounds) {
      const char* const bounds = file_.timing.cycle ? climatology_bounds_name : time_bounds_name;
      main.attribute(file_.timing.cycle ? "climatology" : "bounds", bounds);
      add_bounds_dimension();
      add(bounds, Type::float64, {time_name, bounds_dimension});
    }
    if (periods && instants) axis(time_instant_name).attribute("long_name", "time of instantaneous values");
    splits_time_ = periods && instants;
  }

  void add_variables() {
    for (const FileVariable& given : variables_) {
      const Space& space = *given.space;
      std::vector<std::string> dimensions;
      if (given.kind != TimeKind::once) dimensions.emplace_back(time_name);
      for (const Space::Dimension& dimension : space.dimensions)
        dimensions.push_back(add_dimension(space, dimension));
      std::vector<Attribute> attributes = given.attributes;
      const std::string coordinates = add_coordinates(given);
      if (!coordinates.empty()) set_attribute(attributes, "coordinates", coordinates);
      Variable& variable = add(given.name, given.type, dimensions);
      variable.attributes = std::move(attributes);
      variable.fill = given.fill;
      variable.decomposition = space.decomposition;
    }
  }

  void add_attributes() {
    made_.schema.attribute("Conventions", "CF-1.11");
    for (const auto& [name, value] : file_.attributes)
      std::visit([&, &key = name](const auto& it) { made_.schema.attribute(key, Values(it)); }, value);
  }

  FileSchema take() { return std::move(made_); }

 private:
  Variable& add(const std::string& name, Type type, const std::vector<std::string>& dimensions) {
    if (made_.schema.find_variable(name) != nullptr)
      refuse_at(
          file_.at, ErrorCode::conflict,
          "the file '{}' would have two variables '{}', one of them a coordinate: give the variable another "
          "name, for example \"field: name\"",
          file_.name, name);
    return made_.schema.variable(name, type, dimensions);
  }

  void add_bounds_dimension() {
    if (made_.schema.find_dimension(bounds_dimension) == nullptr) made_.schema.dimension(bounds_dimension, 2);
  }

  /// Dimensions that variables of the file cut differently have different names.
  [[nodiscard]] std::string name_in_file(const Space& space, const Space::Dimension& dimension) const {
    return cuts_.at(dimension.name).size() == 1 || dimension.places.empty()
               ? dimension.name
               : dimension.name + "_" + space.name;
  }

  std::string add_dimension(const Space& space, const Space::Dimension& dimension) {
    const std::string name = name_in_file(space, dimension);
    if (made_.schema.find_dimension(name) != nullptr) return name;
    made_.schema.dimension(name, dimension.length);
    const Dimension& model = definitions_.dimension(dimension.name);
    if (model.values.empty()) return name;
    const auto kept = [&](const Values& values, std::size_t row) {
      return dimension.places.empty() ? values : selected(values, dimension.places, row);
    };
    Variable& coordinate = add(name, model.values.type, {name});
    set_attributes(coordinate.attributes, model.options);
    coordinate.constant = kept(model.values, 1);
    if (!model.options.bounds.empty()) {
      coordinate.attribute("bounds", name + "_bnds");
      add_bounds_dimension();
      Variable& bounds = add(name + "_bnds", model.options.bounds.type, {name, bounds_dimension});
      bounds.constant = kept(model.options.bounds, 2);
    }
    return name;
  }

  /// Adds the auxiliary coordinates of a variable; returns the attribute that names them.
  std::string add_coordinates(const FileVariable& variable) {
    const Attribute* const given = find_attribute(variable.attributes, "coordinates");
    std::string names(given == nullptr ? std::string_view() : given->values.text());
    const std::set<std::string> wanted = words(names);
    const auto append = [&](const std::string& name) {
      if (!words(names).contains(name)) names += (names.empty() ? "" : " ") + name;
    };
    if (splits_time_ && variable.kind == TimeKind::instant) append(time_instant_name);
    for (const Coordinate& coordinate : definitions_.coordinates()) {
      // A single value, such as a height, belongs to the fields that name it.
      if (coordinate.grid.empty() && coordinate.dimensions.empty()) {
        if (wanted.contains(coordinate.name)) add_constant(coordinate, *variable.space);
        continue;
      }
      if (coordinate.grid.empty() ? has_all(*variable.space, coordinate.dimensions)
                                  : coordinate.grid == variable.space->grid)
        append(coordinate.grid.empty() ? add_constant(coordinate, *variable.space)
                                       : add_distributed(coordinate, *variable.space));
    }
    return names;
  }

  [[nodiscard]] static bool has_all(const Space& space, const std::vector<std::string>& names) {
    return std::ranges::all_of(names, [&](const std::string& name) {
      return std::ranges::find(space.dimensions, name, &Space::Dimension::name) != space.dimensions.end();
    });
  }

  /// Dimensions of a coordinate in the file, and its name there.
  std::pair<std::string, std::vector<std::string>> place(const Coordinate& coordinate, const Space& space) {
    std::vector<std::string> dimensions;
    bool renamed = false;
    for (const std::string& name : coordinate.dimensions) {
      const auto& dimension = *std::ranges::find(space.dimensions, name, &Space::Dimension::name);
      dimensions.push_back(add_dimension(space, dimension));
      renamed = renamed || dimensions.back() != name;
    }
    return {renamed ? coordinate.name + "_" + space.name : coordinate.name, std::move(dimensions)};
  }

  std::string add_constant(const Coordinate& coordinate, const Space& space) {
    auto [name, dimensions] = place(coordinate, space);
    if (!coordinates_.insert(name).second) return name;
    std::vector<std::uint64_t> elements{0};
    for (const std::string& of : coordinate.dimensions) {
      const auto& dimension = *std::ranges::find(space.dimensions, of, &Space::Dimension::name);
      const std::uint64_t whole = definitions_.dimension(of).length;
      std::vector<std::uint64_t> longer;
      for (const std::uint64_t element : elements)
        for (std::uint64_t i = 0; i < dimension.length; ++i)
          longer.push_back(element * whole + (dimension.places.empty() ? i : dimension.places[i]));
      elements = std::move(longer);
    }
    const bool text = coordinate.values.type == Type::text && coordinate.dimensions.empty();
    Variable& variable = add(name, coordinate.values.type, dimensions);
    variable.constant = text ? coordinate.values : selected(coordinate.values, elements);
    set_attributes(variable.attributes, coordinate.options);
    if (!coordinate.options.bounds.empty()) {
      variable.attribute("bounds", name + "_bnds");
      add_bounds_dimension();
      dimensions.emplace_back(bounds_dimension);
      Variable& bounds = add(name + "_bnds", coordinate.options.bounds.type, dimensions);
      bounds.constant = selected(coordinate.options.bounds, elements, 2);
    }
    return name;
  }

  std::string add_distributed(const Coordinate& coordinate, const Space& space) {
    const auto [name, dimensions] = place(coordinate, space);
    if (!coordinates_.insert(name).second) return name;
    Variable& variable = add(name, coordinate.values.type, dimensions);
    variable.decomposition = space.decomposition;
    set_attributes(variable.attributes, coordinate.options);
    DistributedCoordinate distributed{name, coordinate.values};
    if (space.is_subset()) {
      // The elements of one level are those of the grid.
      std::uint64_t levels = 1;
      std::uint64_t kept_levels = 1;
      for (std::size_t a = 0; a < space.axes; ++a) {
        levels *= space.own->local[a];
        kept_levels *= space.local[a];
      }
      const std::uint64_t of_grid = space.own->points / levels;
      std::vector<std::uint64_t> places;
      for (std::size_t i = 0; i < space.from.size() / std::max<std::uint64_t>(kept_levels, 1); ++i)
        places.push_back(space.from[i] % of_grid);
      distributed.values = selected(coordinate.values, places);
    }
    made_.distributed.push_back(std::move(distributed));
    return name;
  }

  const describe::File& file_;
  const std::vector<FileVariable>& variables_;
  const Definitions& definitions_;
  /// What variables of the file keep of each dimension of the model.
  std::map<std::string, std::set<std::vector<std::uint64_t>>> cuts_;
  std::set<std::string> coordinates_;  ///< that have been added
  bool splits_time_ = false;
  FileSchema made_;
};

}  // namespace

void set_attribute(std::vector<Attribute>& attributes, const std::string& name, Values values) {
  const auto found = std::ranges::find(attributes, name, &Attribute::name);
  if (values.empty()) {
    if (found != attributes.end()) attributes.erase(found);
  } else if (found != attributes.end()) {
    found->values = std::move(values);
  } else {
    attributes.push_back({name, std::move(values)});
  }
}

void set_attributes(std::vector<Attribute>& attributes, const describe::Attributes& given) {
  for (const auto& [name, value] : given)
    std::visit([&, &key = name](const auto& it) { set_attribute(attributes, key, Values(it)); }, value);
}

void set_attributes(std::vector<Attribute>& attributes, const CoordinateOptions& options) {
  if (!options.standard_name.empty()) set_attribute(attributes, "standard_name", options.standard_name);
  if (!options.long_name.empty()) set_attribute(attributes, "long_name", options.long_name);
  if (!options.units.empty()) set_attribute(attributes, "units", options.units);
  for (const Attribute& attribute : options.attributes)
    set_attribute(attributes, attribute.name, attribute.values);
}

FileSchema file_schema(const describe::File& file, const std::vector<FileVariable>& variables,
                       const Definitions& definitions, const ModelTime& time, const TimeUnits& units) {
  Maker maker(file, variables, definitions);
  maker.add_time(time, units);
  maker.add_variables();
  maker.add_attributes();
  return maker.take();
}

}  // namespace afterbay::output
