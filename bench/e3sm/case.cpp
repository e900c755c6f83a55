// SPDX-License-Identifier: Apache-2.0
#include "e3sm/case.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

namespace bench::e3sm {
namespace {

using nlohmann::json;

Type type_named(const std::string& name) {
  if (name == "char") return Type::text;
  if (name == "int") return Type::int32;
  if (name == "float") return Type::float32;
  if (name == "double") return Type::float64;
  throw std::runtime_error("case: '" + name + "' is not char, int, float or double");
}

std::vector<Attribute> attributes_from(const json& listed) {
  std::vector<Attribute> attributes;
  for (const json& entry : listed) {
    Attribute attribute{entry.at("name"), type_named(entry.at("type")), {}, {}};
    if (attribute.type == Type::text) {
      attribute.text = entry.at("text");
    } else {
      attribute.numbers = entry.at("numbers").get<std::vector<double>>();
    }
    attributes.push_back(std::move(attribute));
  }
  return attributes;
}

Variable variable_from(const json& entry, const std::vector<Dimension>& dimensions) {
  Variable variable;
  variable.name = entry.at("name");
  variable.type = type_named(entry.at("type"));
  variable.attributes = attributes_from(entry.at("attributes"));
  variable.map = entry.at("map");
  for (const std::string name : entry.at("dimensions")) {
    const auto found = std::find_if(dimensions.begin(), dimensions.end(),
                                    [&](const Dimension& dimension) { return dimension.name == name; });
    if (found == dimensions.end()) throw std::runtime_error(variable.name + ": no dimension " + name);
    variable.dimensions.push_back(static_cast<int>(found - dimensions.begin()));
    if (found->length == 0) {
      variable.record = true;
    } else {
      variable.points *= found->length;
    }
  }
  return variable;
}

/// The captured ranks [first, end) of one of `ranks` ranks.
struct Group {
  int first = 0;
  int end = 0;
};

Group group_of(int captured, int rank, int ranks) {
  const int share = captured / ranks;
  const int rest = captured % ranks;
  const int first = rank * share + std::min(rank, rest);
  return {first, first + share + (rank < rest ? 1 : 0)};
}

/// Reads this rank's part of the file of points, which holds all ranks of all maps one after
/// another.
void read_points(std::ifstream& file, Map& map, const std::vector<std::size_t>& counts, Group group,
                 std::size_t& position) {
  const auto sum = [&](int from, int to) {
    return std::accumulate(counts.begin() + from, counts.begin() + to, std::size_t{0});
  };
  const std::size_t start = position + sum(0, group.first);
  map.points.resize(sum(group.first, group.end));
  file.seekg(static_cast<std::streamoff>(start * sizeof(std::int64_t)));
  file.read(reinterpret_cast<char*>(map.points.data()),
            static_cast<std::streamsize>(map.points.size() * sizeof(std::int64_t)));
  if (!file) throw std::runtime_error("the file of points is too short for map " + map.name);
  position += sum(0, static_cast<int>(counts.size()));
}

}  // namespace

std::size_t size_of(Type type) {
  switch (type) {
    case Type::text: return 1;
    case Type::int32:
    case Type::float32: return 4;
    case Type::float64: return 8;
  }
  return 0;
}

std::vector<std::string> Case::names_of(const std::vector<int>& positions) const {
  std::vector<std::string> names;
  for (const int position : positions) names.push_back(dimensions[static_cast<std::size_t>(position)].name);
  return names;
}

Case load_case(const std::string& path, int rank, int ranks, ArrayOrder order) {
  std::ifstream text(path);
  if (!text) throw std::runtime_error("cannot open case " + path);
  const json source = json::parse(text);
  Case found;
  found.name = source.at("name");
  for (const json& entry : source.at("dimensions")) {
    found.dimensions.push_back({entry.at("name"), entry.at("length")});
  }
  for (const json& entry : source.at("variables")) {
    found.variables.push_back(variable_from(entry, found.dimensions));
  }
  found.order = source.at("order").get<std::vector<int>>();
  found.attributes = attributes_from(source.at("attributes"));

  const std::string points =
      std::filesystem::path(path).replace_filename(source.at("points_file").get<std::string>());
  std::ifstream file(points, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + points);
  std::size_t position = 0;
  for (const json& entry : source.at("maps")) {
    Map& map = found.maps.emplace_back(Map{entry.at("name"), entry.at("dims"), {}});
    const auto counts = entry.at("counts").get<std::vector<std::size_t>>();
    read_points(file, map, counts, group_of(static_cast<int>(counts.size()), rank, ranks), position);
    if (order == ArrayOrder::ascending) std::sort(map.points.begin(), map.points.end());
  }
  return found;
}

std::vector<Piece> pieces_of(const Map& map) {
  const auto row = static_cast<std::int64_t>(map.dims.back());
  std::vector<Piece> pieces;
  for (const std::int64_t point : map.points) {
    if (!pieces.empty() && pieces.back().offset + pieces.back().length == point && point % row != 0) {
      ++pieces.back().length;
    } else {
      pieces.push_back({point, 1});
    }
  }
  return pieces;
}

}  // namespace bench::e3sm
