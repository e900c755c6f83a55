// SPDX-License-Identifier: Apache-2.0
#include "output/file_schema.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "model/fill_value.hpp"
#include "output/mesh_topology.hpp"
#include "output/numbers.hpp"
#include "output/refuse.hpp"
#include "output/station_variables.hpp"

namespace afterbay::output {

namespace {

const Attribute* find_attribute(const std::vector<Attribute>& attributes, std::string_view name) {
  const auto found = std::ranges::find(attributes, name, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) all.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

std::set<std::string> words(std::string_view text) {
  const std::vector<std::string> all = split(text);
  return {all.begin(), all.end()};
}

class Maker {
 public:
  Maker(const describe::File& file, const std::vector<FileVariable>& variables,
        const FieldDefinitions& definitions, Spaces& spaces)
      : file_(file), variables_(variables), definitions_(definitions), spaces_(spaces) {
    for (const FileVariable& variable : variables)
      for (const Space::Dimension& dimension : variable.space->dimensions)
        cuts_[dimension.name].insert(cut_of(*variable.space, dimension));
    for (const FileVariable& variable : variables) note_other_grids(variable.attributes, *variable.space);
    has_only_stations_ = std::ranges::all_of(variables, [&](const FileVariable& it) {
      return it.space->stations != nullptr &&
             text_of(*it.space->stations) == text_of(*variables.front().space->stations);
    });
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
      if (time.calendar.name() == "user_defined") add_rules(variable, time.calendar);
      // CF Conventions 1.11, section 4.4: calendars in which days could have leap seconds.
      for (const std::string_view calendar : {"standard", "proleptic_gregorian", "julian"})
        if (time.calendar.name() == calendar) variable.attribute("units_metadata", "leap_seconds: none");
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
    has_statistics_ = periods;
    splits_time_ = periods && instants;
    if (!splits_time_) return;
    Variable& of_instants = axis(time_instant_name);
    of_instants.attribute("long_name", "time of instantaneous values");
    of_instants.fill = model::default_fill(Type::float64);
  }

  /// The rules of a user-defined calendar: CF Conventions 1.11, section 4.4; day_seconds is an
  /// extension.
  static void add_rules(Variable& variable, const Calendar& calendar) {
    const CalendarRules rules = calendar_rules_of(calendar);
    variable.attribute("month_lengths",
                       std::vector<std::int32_t>(rules.month_lengths.begin(), rules.month_lengths.end()));
    if (rules.leap_year) {
      variable.attribute("leap_year", static_cast<std::int32_t>(*rules.leap_year));
      variable.attribute("leap_month", static_cast<std::int32_t>(rules.leap_month));
    }
    constexpr std::int64_t usual_day = 86400;
    if (rules.day_seconds != usual_day)
      variable.attribute("day_seconds", static_cast<double>(rules.day_seconds));
  }

  void add_variables() {
    for (const FileVariable& given : variables_) {
      const Space& space = *given.space;
      std::vector<std::string> dimensions;
      if (given.kind != TimeKind::once) dimensions.emplace_back(time_name);
      for (const Space::Dimension& dimension : space.dimensions)
        dimensions.push_back(add_dimension(space, dimension));
      std::vector<Attribute> attributes = given.attributes;
      add_coordinates(given, attributes);
      Variable& variable = add(given.name, given.type, dimensions);
      variable.attributes = std::move(attributes);
      variable.fill = given.fill;
      if (variable.fill.empty() && may_lack_values(given)) variable.fill = model::default_fill(given.type);
      variable.decomposition = space.decomposition;
    }
  }

  void add_attributes() {
    const bool has_mesh = std::ranges::any_of(
        made_.schema.variables, [](const Variable& it) { return is_mesh_topology(it.attributes); });
    made_.schema.attribute("Conventions", has_mesh ? "CF-1.11 UGRID-1.0" : "CF-1.11");
    // Without the time of writing: the same run makes the same files.
    made_.schema.attribute("history", "written by Afterbay " AFTERBAY_VERSION);
    if (has_only_stations_ && made_.schema.find_dimension(time_name) != nullptr)
      if (const std::string type = feature_type(); !type.empty()) made_.schema.attribute("featureType", type);
    for (const auto& [name, value] : file_.attributes)
      std::visit([&, &key = name](const auto& it) { made_.schema.attribute(key, Values(it)); }, value);
  }

  FileSchema take() { return std::move(made_); }

 private:
  Variable& add(const std::string& name, Type type, const std::vector<std::string>& dimensions) {
    if (!names_.insert(name).second)
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

  /// Records of statistics may have no value of some variables: of an instant, if the run ends
  /// within the period, of a statistic without a sample in the period, of a part of a cycle that
  /// the run does not reach. Without the attribute, readers would take what is there for a value.
  [[nodiscard]] bool may_lack_values(const FileVariable& variable) const {
    return has_statistics_ && variable.kind != TimeKind::once;
  }

  /// What some variable of the file keeps of a dimension.
  struct Cut {
    std::string places;  ///< differs for different points
    std::string subset;
    std::string grid;
    std::vector<std::string> chosen_by;
    friend auto operator<=>(const Cut&, const Cut&) = default;
  };

  /// Different stations have different points or coordinates.
  [[nodiscard]] static std::string text_of(const Stations& stations) {
    return fmt::format("#{:016x} by {}, {}", stations.digest(), stations.lon_name, stations.lat_name);
  }

  [[nodiscard]] static Cut cut_of(const Space& space, const Space::Dimension& dimension) {
    const bool of_stations = space.stations != nullptr && dimension.name == station_name;
    return {of_stations ? text_of(*space.stations) : dimension.cut, space.name, space.grid, space.chosen_by};
  }

  /// Coordinates of other grids, such as nodes and faces of a mesh, are written whole.
  void note_other_grids(const std::vector<Attribute>& attributes, const Space& space) {
    for (const Attribute& attribute : attributes) {
      if (attribute.values.type != Type::text || !names_variables(attribute.name)) continue;
      for (const std::string& word : split(attribute.values.text())) {
        const auto found = std::ranges::find(definitions_.coordinates(), word, &Coordinate::name);
        if (found == definitions_.coordinates().end()) continue;
        const bool is_other = !found->grid.empty() && found->grid != space.grid;
        const Space& of = is_other ? spaces_.of_grid(found->grid) : space;
        if (!noted_.insert({&*found, &of}).second) continue;
        for (const std::string& name : is_other ? found->dimensions : std::vector<std::string>())
          cuts_[name].insert(cut_of(of, kept_of(of, name)));
        note_other_grids(found->options.attributes, of);
      }
    }
  }

  /// Whether the cuts of a dimension for which `is` holds keep the same points.
  template <class Is>
  [[nodiscard]] bool are_alike(const std::string& dimension, Is is) const {
    std::set<std::string> places;
    for (const Cut& cut : cuts_.at(dimension))
      if (is(cut)) places.insert(cut.places);
    return places.size() == 1;
  }

  /// The same subset cuts grids with different coordinates differently, and so it does fields of
  /// one grid that mean different coordinates.
  [[nodiscard]] std::string suffix_of(const Space& space, const std::string& dimension) const {
    std::string suffix = "_" + space.name;
    const auto of_subset = [&](const Cut& it) { return it.subset == space.name; };
    if (are_alike(dimension, of_subset)) return suffix;
    if (!space.grid.empty()) suffix += "_" + space.grid;
    if (are_alike(dimension, [&](const Cut& it) { return of_subset(it) && it.grid == space.grid; }))
      return suffix;
    for (const std::string& coordinate : space.chosen_by) suffix += "_" + coordinate;
    return suffix;
  }

  /// Dimensions that variables of the file cut differently have different names.
  [[nodiscard]] std::string name_in_file(const Space& space, const Space::Dimension& dimension) const {
    if (dimension.is_whole()) return dimension.name;
    const bool is_one = are_alike(dimension.name, [](const Cut& /*any*/) { return true; });
    return is_one ? dimension.name : dimension.name + suffix_of(space, dimension.name);
  }

  std::string add_dimension(const Space& space, const Space::Dimension& dimension) {
    if (space.stations != nullptr && dimension.name == station_name) return add_stations(space);
    const std::string name = name_in_file(space, dimension);
    if (made_.schema.find_dimension(name) != nullptr) return name;
    made_.schema.dimension(name, dimension.length);
    const Dimension& model = definitions_.dimension(dimension.name);
    if (model.values.empty()) return name;
    const auto kept = [&](const Values& values, std::size_t row) {
      return dimension.is_whole() ? values : selected(values, dimension.places, row);
    };
    std::vector<Attribute> attributes;
    set_attributes(attributes, model.options);
    std::set<std::string> named;
    resolve(attributes, space, named);
    Variable& coordinate = add(name, model.values.type, {name});
    coordinate.attributes = std::move(attributes);
    coordinate.constant = kept(model.values, 1);
    if (!model.options.bounds.empty()) {
      coordinate.attribute("bounds", name + "_bnds");
      add_bounds_dimension();
      Variable& bounds = add(name + "_bnds", model.options.bounds.type, {name, bounds_dimension});
      bounds.constant = kept(model.options.bounds, 2);
    }
    return name;
  }

  /// Adds the coordinates of a variable, and all that its attributes name; `attributes` then have
  /// their names in the file.
  void add_coordinates(const FileVariable& variable, std::vector<Attribute>& attributes) {
    const Space& space = *variable.space;
    std::set<std::string> named;
    resolve(attributes, space, named);
    const Attribute* const given = find_attribute(attributes, "coordinates");
    std::string names(given == nullptr ? std::string_view() : given->values.text());
    const auto append = [&](const std::string& name) {
      if (!words(names).contains(name)) names += (names.empty() ? "" : " ") + name;
    };
    if (splits_time_ && variable.kind == TimeKind::instant) append(time_instant_name);
    if (space.stations != nullptr) {
      const StationNames in_file = names_of_stations(space);
      for (const std::string& name : {in_file.name, in_file.lat, in_file.lon}) append(name);
    }
    for (const Coordinate& coordinate : definitions_.coordinates()) {
      if (!name_for_stations(coordinate, space).empty()) continue;
      const bool of_space = coordinate.grid.empty()
                                ? !coordinate.dimensions.empty() && has_all(space, coordinate.dimensions)
                                : coordinate.grid == space.grid && coordinate.options.vertices.empty();
      if (of_space && !named.contains(coordinate.name)) append(add_coordinate(coordinate, space));
    }
    if (!names.empty()) set_attribute(attributes, "coordinates", names);
  }

  /// Adds the coordinates that attributes name, and puts their names in the file there. `named`:
  /// those that were found.
  void resolve(std::vector<Attribute>& attributes, const Space& space, std::set<std::string>& named) {
    remove_wrong_references(attributes, space, definitions_);
    for (Attribute& attribute : attributes) {
      if (attribute.values.type != Type::text || !names_variables(attribute.name)) continue;
      std::string text;
      for (const std::string& word : split(attribute.values.text())) {
        const auto found = std::ranges::find(definitions_.coordinates(), word, &Coordinate::name);
        const bool is_known = found != definitions_.coordinates().end();
        if (is_known) named.insert(word);
        text += (text.empty() ? "" : " ") + (is_known ? add_coordinate(*found, space) : word);
      }
      attribute.values = Values(text);
    }
  }

  // ---- stations

  /// Files may contain other variables, whose dimensions and coordinates have the usual names.
  [[nodiscard]] StationNames names_of_stations(const Space& space) const {
    return StationNames(has_only_stations_ ? std::string() : suffix_of(space, station_name));
  }

  /// Adds what is known of stations, once; returns their dimension.
  std::string add_stations(const Space& space) {
    const Stations& stations = *space.stations;
    const StationNames names = names_of_stations(space);
    if (made_.schema.find_dimension(names.dimension) != nullptr) return names.dimension;
    made_.schema.dimension(names.dimension, stations.count());
    made_.schema.dimension(names.characters, length_of_names(stations));
    for (Variable& described : station_variables(stations, names, has_only_stations_)) {
      Variable& variable = add(described.name, described.type, described.dimensions);
      variable = std::move(described);
    }
    return names.dimension;
  }

  /// The name in the file of a coordinate of the model from which stations have their longitudes or
  /// latitudes; empty: it is another one.
  [[nodiscard]] std::string name_for_stations(const Coordinate& coordinate, const Space& space) const {
    if (space.stations == nullptr) return {};
    if (coordinate.name == space.stations->lon_name) return names_of_stations(space).lon;
    if (coordinate.name == space.stations->lat_name) return names_of_stations(space).lat;
    return {};
  }

  /// CF Conventions 1.11, section 9.1: all features of a file are of one type. Empty: it has none.
  [[nodiscard]] std::string feature_type() const {
    std::set<std::string> levels;
    for (const FileVariable& variable : variables_)
      for (std::size_t a = 0; a < variable.space->axes; ++a)
        levels.insert(variable.space->axes == 1 ? variable.space->dimensions[a].name : "");
    if (levels.empty()) return "timeSeries";
    const bool all =
        std::ranges::all_of(variables_, [](const FileVariable& it) { return it.space->axes == 1; });
    if (!all || levels.size() != 1) return {};
    return is_vertical(definitions_.dimension(*levels.begin())) ? "timeSeriesProfile" : "";
  }

  [[nodiscard]] static bool is_vertical(const Dimension& dimension) {
    const Attribute* const axis = find_attribute(dimension.options.attributes, "axis");
    return find_attribute(dimension.options.attributes, "positive") != nullptr ||
           (axis != nullptr && axis->values == Values("Z"));
  }

  [[nodiscard]] static bool has_all(const Space& space, const std::vector<std::string>& names) {
    return std::ranges::all_of(
        names, [&](const std::string& name) { return find_dimension(space, name) != nullptr; });
  }

  [[nodiscard]] static const Space::Dimension* find_dimension(const Space& space, const std::string& name) {
    const auto found = std::ranges::find(space.dimensions, name, &Space::Dimension::name);
    return found == space.dimensions.end() ? nullptr : &*found;
  }

  /// What is kept of a dimension; all of those that the space does not have.
  [[nodiscard]] Space::Dimension kept_of(const Space& space, const std::string& name) const {
    if (const Space::Dimension* const found = find_dimension(space, name)) return *found;
    return {name, definitions_.dimension(name).length, {}, {}};
  }

  /// Adds a coordinate for variables of a space, unless it is there; returns its name in the file.
  std::string add_coordinate(const Coordinate& coordinate, const Space& space) {
    if (!coordinate.grid.empty() && coordinate.grid != space.grid)
      return add_coordinate(coordinate, spaces_.of_grid(coordinate.grid));
    if (const std::string known = name_for_stations(coordinate, space); !known.empty()) return known;
    std::vector<std::string> dimensions;
    std::string suffix;  // the longest one of its dimensions
    const bool at_stations = space.stations != nullptr && !coordinate.grid.empty();
    if (at_stations) {
      dimensions.push_back(add_stations(space));
      if (!has_only_stations_) suffix = suffix_of(space, station_name);
    }
    for (const std::string& name : at_stations ? std::vector<std::string>() : coordinate.dimensions) {
      dimensions.push_back(add_dimension(space, kept_of(space, name)));
      if (dimensions.back() == name) continue;
      if (std::string own = suffix_of(space, name); own.size() > suffix.size()) suffix = std::move(own);
    }
    std::vector<Attribute> attributes;
    set_attributes(attributes, coordinate.options);
    if (is_mesh_topology(attributes)) suffix = suffix_of_mesh(space);
    const std::string name = coordinate.name + suffix;
    if (!coordinates_.insert(name).second) return name;
    std::set<std::string> named;
    resolve(attributes, space, named);
    if (coordinate.grid.empty())
      add_constant(coordinate, space, name, dimensions, std::move(attributes));
    else
      add_distributed(coordinate, space, name, dimensions, std::move(attributes));
    return name;
  }

  /// A mesh whose connectivity has a part of the faces is not the one that has all of them.
  [[nodiscard]] std::string suffix_of_mesh(const Space& space) const {
    for (std::size_t d = space.axes; d < space.dimensions.size(); ++d)
      if (name_in_file(space, space.dimensions[d]) != space.dimensions[d].name)
        return suffix_of(space, space.dimensions[d].name);
    return {};
  }

  void add_constant(const Coordinate& coordinate, const Space& space, const std::string& name,
                    std::vector<std::string> dimensions, std::vector<Attribute> attributes) {
    std::vector<std::uint64_t> elements{0};
    for (const std::string& of : coordinate.dimensions) {
      const Space::Dimension dimension = kept_of(space, of);
      const std::uint64_t whole = definitions_.dimension(of).length;
      std::vector<std::uint64_t> longer;
      for (const std::uint64_t element : elements)
        for (std::uint64_t i = 0; i < dimension.length; ++i)
          longer.push_back(element * whole + (dimension.is_whole() ? i : dimension.places[i]));
      elements = std::move(longer);
    }
    const bool text = coordinate.values.type == Type::text && coordinate.dimensions.empty();
    const bool has_bounds = !coordinate.options.bounds.empty();
    if (has_bounds) set_attribute(attributes, "bounds", name + "_bnds");
    Variable& variable = add(name, coordinate.values.type, dimensions);
    variable.constant = text ? coordinate.values : selected(coordinate.values, elements);
    variable.attributes = std::move(attributes);
    if (!has_bounds) return;
    add_bounds_dimension();
    dimensions.emplace_back(bounds_dimension);
    Variable& bounds = add(name + "_bnds", coordinate.options.bounds.type, dimensions);
    bounds.constant = selected(coordinate.options.bounds, elements, 2);
  }

  void add_distributed(const Coordinate& coordinate, const Space& space, const std::string& name,
                       std::vector<std::string> dimensions, std::vector<Attribute> attributes) {
    const std::string& vertices = coordinate.options.vertices;
    std::size_t per_point = 1;
    std::string decomposition = space.decomposition;
    if (!vertices.empty()) {
      dimensions.push_back(add_dimension(space, kept_of(space, vertices)));
      per_point = definitions_.dimension(vertices).length;
      decomposition = spaces_.with_vertices(space, vertices);
    }
    Variable& variable = add(name, coordinate.values.type, dimensions);
    variable.decomposition = decomposition;
    variable.attributes = std::move(attributes);
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
      distributed.values = selected(coordinate.values, places, per_point);
    }
    made_.distributed.push_back(std::move(distributed));
  }

  const describe::File& file_;
  const std::vector<FileVariable>& variables_;
  const FieldDefinitions& definitions_;
  Spaces& spaces_;
  /// What variables of the file keep of each dimension of the model.
  std::map<std::string, std::set<Cut>> cuts_;
  std::set<std::pair<const Coordinate*, const Space*>> noted_;  ///< see note_other_grids
  bool has_only_stations_ = false;                              ///< all variables have the same stations
  std::set<std::string> names_;                                 ///< names of the variables
  std::set<std::string> coordinates_;                           ///< coordinates that have been added
  bool has_statistics_ = false;
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
                       const FieldDefinitions& definitions, Spaces& spaces, const ModelTime& time,
                       const TimeUnits& units) {
  Maker maker(file, variables, definitions, spaces);
  maker.add_time(time, units);
  maker.add_variables();
  maker.add_attributes();
  return maker.take();
}

}  // namespace afterbay::output
