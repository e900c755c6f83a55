// SPDX-License-Identifier: Apache-2.0
// A model for tests of described output: its values follow from the names of the fields, the step
// and the point, so that lib_described.py can compute them independently.
//
//   output_model KEY=VALUE ... [--afterbay.output=description.yaml] ...
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "afterbay/mpi.hpp"
#include "afterbay/output.hpp"
#include "model_grids.hpp"

namespace {

using namespace afterbay;

constexpr std::uint64_t field_factor = 83492791;
constexpr std::uint64_t step_factor = 73856093;
constexpr std::uint64_t point_factor = 19349663;
constexpr double divisor = 256;
constexpr float missing_value = -999;

/// 0 to 65535, the same in lib_described.py.
std::uint64_t mixed(std::uint64_t field, std::int64_t step, std::uint64_t point) {
  std::uint64_t h =
      field * field_factor + static_cast<std::uint64_t>(step) * step_factor + point * point_factor;
  h ^= h >> 13;
  h *= 0x9E3779B97F4A7C15ULL;
  return (h >> 32) & 0xFFFF;
}

struct Options {
  std::map<std::string, std::string> given;
  [[nodiscard]] std::string text(const std::string& key, const std::string& fallback) const {
    const auto found = given.find(key);
    return found == given.end() ? fallback : found->second;
  }
  [[nodiscard]] std::int64_t number(const std::string& key, std::int64_t fallback) const {
    return std::stoll(text(key, std::to_string(fallback)));
  }
};

struct Part {
  std::vector<std::uint64_t> points;  ///< linear indices of this rank's points, in the order of its array
};

class Model {
 public:
  Model(Session& session, Options options)
      : session_(session),
        options_(std::move(options)),
        nlon_(static_cast<std::uint64_t>(options_.number("lon", 8))),
        nlat_(static_cast<std::uint64_t>(options_.number("lat", 6))),
        nlev_(static_cast<std::uint64_t>(options_.number("lev", 3))),
        first_(options_.number("first", 1)),
        last_(options_.number("last", 8)),
        halo_(static_cast<std::uint64_t>(options_.number("halo", 0))),
        members_(static_cast<std::uint64_t>(options_.number("members", 0))) {}

  void run() {
    divide();
    OutputOptions given;
    given.calendar = calendar();
    given.start = given.calendar.parse(options_.text("start", "2000-01-01"));
    given.step = Period::parse(options_.text("step", "6h"));
    given.resume = options_.text("resume", "");
    if (const std::string reference = options_.text("reference", ""); !reference.empty())
      given.reference = given.calendar.parse(reference);
    if (options_.given.contains("member")) given.member = options_.number("member", 0);
    Output output(session_, given);
    define(output);
    if (options_.given.contains("grids")) {
      further_.emplace(
          session_,
          test::FurtherGrids::Options{nlat_, nlon_, nlev_, options_.text("decomposition", "block"),
                                      options_.text("grids", ""), missing_value,
                                      [this](const std::string& field) { return is_without(field); }},
          [](std::uint64_t field, std::int64_t step, std::uint64_t point) {
            const std::uint64_t h = mixed(field, step, point);
            const bool has_missing = field == 11 || field == 12 || field == 15;
            return has_missing && h % 7 == 0 ? missing_value : static_cast<double>(h) / divisor;
          });
      further_->define(output, decomposition_, part_.points);
    }
    output.start();
    const std::int64_t hold_after = options_.number("hold_after", first_ - 1);
    if (hold_after < first_) hold();
    const std::int64_t save_at = options_.number("save_at", -1);
    const std::int64_t kill_at = options_.number("kill_at", -1);
    const std::int64_t kill_rank = options_.number("kill_rank", session_.model_rank());
    for (std::int64_t n = first_; n <= last_; ++n) {
      output.step(n);
      put(output, n);
      mistake(output, n);
      if (n == save_at) {
        const Ticket saved = output.save(options_.text("save_to", "state.nc"));
        const Ticket epoch = session_.epoch("saved");
        session_.wait(saved);
        session_.wait(epoch);
      }
      if (n == hold_after) hold();
      std::this_thread::sleep_for(std::chrono::milliseconds(options_.number("pause_ms", 0)));
      if (n == kill_at && session_.model_rank() == kill_rank) {
        if (options_.given.contains("kill_when")) wait_for(options_.text("kill_when", ""));
        kill(getpid(), SIGKILL);
      }
    }
    if (options_.given.contains("not_finalized")) {
      if (options_.text("ignore", "") == "destroyed") output = Output();
      return session_.finalize();
    }
    if (options_.given.contains("ignore")) {
      try {
        output.finalize(options_.text("finalize_to", ""));
      } catch (const Failure& failure) {
        std::printf("ignored: %s\n", failure.error().message.c_str());
      }
      if (options_.text("ignore", "") == "destroyed") output = Output();
      return session_.finalize();
    }
    output.finalize(options_.text("finalize_to", ""));
    if (options_.given.contains("count") && session_.model_rank() == 0)
      std::printf("%lld fields were wanted, at most %lld in a step\n", static_cast<long long>(wanted_),
                  static_cast<long long>(most_wanted_));
    if (output.wants("tas")) throw Failure(Error(ErrorCode::internal, "a field is wanted after the end"));
    session_.finalize();
  }

 private:
  /// "hold=NAME": before the first step, or after the step "hold_after", makes the file NAME.held
  /// and waits until NAME exists.
  void hold() const {
    const std::filesystem::path name = options_.text("hold", "");
    if (name.empty()) return;
    if (session_.model_rank() == 0) std::ofstream(name.string() + ".held");
    wait_for(name);
  }

  /// "kill_when=NAME": the rank "kill_rank" kills itself at the step "kill_at" once NAME exists.
  static void wait_for(const std::filesystem::path& name) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!std::filesystem::exists(name)) {
      if (std::chrono::steady_clock::now() > deadline)
        throw Failure(Error(ErrorCode::internal, "nobody has made the file " + name.string()));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  /// "without=tas,uas": there are no such fields; with "without_rank=2" only there.
  [[nodiscard]] bool is_without(const std::string& field) const {
    return ("," + options_.text("without", "") + ",").find("," + field + ",") != std::string::npos &&
           options_.number("without_rank", session_.model_rank()) == session_.model_rank();
  }

  /// "months=30,31,29": user-defined, with leap_year and leap_month.
  [[nodiscard]] Calendar calendar() const {
    if (!options_.given.contains("months")) return Calendar(options_.text("calendar", "standard"));
    CalendarRules rules;
    std::istringstream lengths(options_.text("months", ""));
    for (std::string length; std::getline(lengths, length, ',');)
      rules.month_lengths.push_back(std::stoi(length));
    if (options_.given.contains("leap_year")) rules.leap_year = options_.number("leap_year", 0);
    rules.leap_month = static_cast<int>(options_.number("leap_month", 2));
    return Calendar(rules);
  }

  void divide() {
    const int ranks = session_.model_size();
    const int rank = session_.model_rank();
    const std::string how = options_.text("decomposition", "block");
    if (how == "block") {
      const std::uint64_t first =
          nlat_ * static_cast<std::uint64_t>(rank) / static_cast<std::uint64_t>(ranks);
      const std::uint64_t end =
          nlat_ * static_cast<std::uint64_t>(rank + 1) / static_cast<std::uint64_t>(ranks);
      session_.decomposition("atm", Block({nlat_, nlon_}, {first, std::uint64_t{0}}, {end - first, nlon_}));
      for (std::uint64_t p = first * nlon_; p < end * nlon_; ++p) part_.points.push_back(p);
      rows_ = end - first;
    } else if (how == "tiles") {
      // Blocks of rows and columns; without halo and sections.
      const auto all = static_cast<std::uint64_t>(ranks);
      const std::uint64_t columns = all % 2 == 0 ? 2 : 1;
      const auto range = [](std::uint64_t length, std::uint64_t parts, std::uint64_t part) {
        return std::pair(length * part / parts, length * (part + 1) / parts);
      };
      const auto number = static_cast<std::uint64_t>(rank);
      const auto [south, north] = range(nlat_, all / columns, number / columns);
      const auto [west, east] = range(nlon_, columns, number % columns);
      session_.decomposition("atm", Block({nlat_, nlon_}, {south, west}, {north - south, east - west}));
      for (std::uint64_t j = south; j < north; ++j)
        for (std::uint64_t i = west; i < east; ++i) part_.points.push_back(j * nlon_ + i);
    } else if (how == "map") {
      // Points in turn, in descending order.
      Map map;
      map.global = {nlat_, nlon_};
      const std::uint64_t first = options_.number("land", 0) != 0 ? nlat_ / 2 * nlon_ : 0;
      for (std::uint64_t p = nlat_ * nlon_; p-- > first;)
        if (p % static_cast<std::uint64_t>(ranks) == static_cast<std::uint64_t>(rank)) {
          map.indices.push_back(static_cast<std::int64_t>(p));
          part_.points.push_back(p);
        }
      session_.decomposition("atm", map);
    } else {
      for (std::uint64_t p = 0; p < nlat_ * nlon_; ++p) part_.points.push_back(p);
    }
    decomposition_ = how == "whole" ? "" : "atm";
    if (members_ == 0) return;
    // Each rank has some members, or none, on the whole globe.
    first_member_ = members_ * static_cast<std::uint64_t>(rank) / static_cast<std::uint64_t>(ranks);
    own_members_ =
        members_ * static_cast<std::uint64_t>(rank + 1) / static_cast<std::uint64_t>(ranks) - first_member_;
    session_.decomposition(
        "ensemble", Block({members_, nlat_, nlon_}, {first_member_, std::uint64_t{0}, std::uint64_t{0}},
                          {own_members_, nlat_, nlon_}));
  }

  void define_ensemble(Output& output) const {
    std::vector<std::int32_t> numbers;
    for (std::uint64_t m = 0; m < members_; ++m) numbers.push_back(static_cast<std::int32_t>(m) + 1);
    output.dimension("member", numbers, {.units = "1", .standard_name = "realization"});
    output.grid("ensemble", {"member", "lat", "lon"}, "ensemble");
    output.field("eps", {.grid = "ensemble", .units = "K", .standard_name = "air_temperature"});
    output.field("eps_all",
                 {.grid = "atm", .axes = {"member"}, .units = "K", .standard_name = "air_temperature"});
  }

  void put_ensemble(Output& output, std::int64_t n) {
    std::vector<float> values;
    const std::uint64_t plane = nlat_ * nlon_;
    for (std::uint64_t p = first_member_ * plane; p < (first_member_ + own_members_) * plane; ++p)
      values.push_back(static_cast<float>(static_cast<double>(mixed(11, n, p)) / divisor));
    output.put("eps", values.data());
    put_field<float>(output, "eps_all", 11, n, members_);
  }

  void define(Output& output) const {
    std::vector<double> lat(nlat_);
    std::vector<double> lat_bounds;
    std::vector<double> lon(nlon_);
    for (std::uint64_t j = 0; j < nlat_; ++j) {
      const double width = 180.0 / static_cast<double>(nlat_);
      lat[j] = -90 + (static_cast<double>(j) + 0.5) * width + std::stod(options_.text("lat_shift", "0"));
      lat_bounds.push_back(lat[j] - width / 2);
      lat_bounds.push_back(lat[j] + width / 2);
    }
    for (std::uint64_t i = 0; i < nlon_; ++i)
      lon[i] = 360.0 * static_cast<double>(i) / static_cast<double>(nlon_);
    CoordinateOptions of_lat{.units = "degrees_north", .standard_name = "latitude"};
    of_lat.bounds = lat_bounds;
    output.dimension("lat", lat, of_lat);
    if (options_.given.contains("coordinates"))
      output.dimension("lon", nlon_);
    else
      output.dimension("lon", lon, {.units = "degrees_east", .standard_name = "longitude"});
    std::vector<double> lev(nlev_);
    for (std::uint64_t k = 0; k < nlev_; ++k) lev[k] = 10.0 * static_cast<double>(k + 1);
    CoordinateOptions of_lev{.units = "m", .standard_name = "depth", .attributes = {{"positive", "down"}}};
    if (options_.given.contains("rich")) of_lev.attributes.push_back({"formula_terms", "a: hya ps: ps"});
    output.dimension("lev", lev, of_lev);
    if (options_.given.contains("dimension")) output.dimension(options_.text("dimension", ""), 4);
    output.grid("atm", {"lat", "lon"}, decomposition_);
    // Formats of messages hold nothing more, and have a code for temperatures at 1.5 m.
    const bool plain = options_.given.contains("plain");
    CoordinateOptions of_height{.units = "m", .standard_name = "height"};
    if (options_.given.contains("limits")) of_height.attributes = {{"positive", "up"}};
    output.coordinate("height", {}, Values(plain ? 1.5 : std::stod(options_.text("height", "2"))), of_height);
    std::vector<double> areas;
    const bool shifts = options_.number("shift_rank", session_.model_rank()) == session_.model_rank();
    const double shift = shifts ? std::stod(options_.text("index_shift", "0")) : 0;
    for (const std::uint64_t p : part_.points) areas.push_back(static_cast<double>(p) + 0.25 + shift);
    if (!plain)
      output.grid_coordinate(
          "cell_index", "atm", areas.data(),
          {.units = options_.given.contains("limits") ? "1" : "", .long_name = "index of the cell"});
    const bool rich = options_.given.contains("rich");
    if (rich) define_more(output);
    if (members_ > 0) define_ensemble(output);
    const auto field = [&](const std::string& name, FieldOptions options) {
      // "tas:degC": the field has these units instead; "tas:-1": this fill value.
      const auto other = [&](const char* key) {
        const std::string given = options_.text(key, "");
        return given.starts_with(name + ":") ? given.substr(name.size() + 1) : std::string();
      };
      if (const std::string units = other("units_of"); !units.empty()) options.units = units;
      if (const std::string fill = other("fill_of"); !fill.empty()) options.fill = Values(std::stof(fill));
      if (const std::string fill = other("fill_attribute_of"); !fill.empty())
        options.attributes.push_back({"_FillValue", Values(std::stof(fill))});
      if (!is_without(name)) output.field(name, options);
    };
    std::vector<Attribute> of_tas{{"coordinates", "height"}};
    if (rich)
      for (const auto& [name, value] :
           {std::pair("cell_measures", "area: area"), {"mesh", "mesh"}, {"location", "face"}})
        of_tas.push_back({name, value});
    std::vector<Attribute> of_vas;
    if (options_.given.contains("limits")) {
      of_tas.push_back({"valid_range", Values(std::vector<double>{-1, 400})});
      of_tas.push_back({"units_metadata", "temperature: on_scale"});
      of_vas = {{"valid_min", 0}, {"valid_max", 300}};
    }
    field("tas", {.grid = "atm", .units = "K", .standard_name = "air_temperature", .attributes = of_tas});
    field("uas", {.grid = "atm", .units = "m s-1", .standard_name = "eastward_wind"});
    field("vas", {.grid = "atm", .units = "m s-1", .standard_name = "northward_wind", .attributes = of_vas});
    field("toce", {.grid = "atm",
                   .axes = {"lev"},
                   .units = "degC",
                   .standard_name = "sea_water_potential_temperature",
                   .fill = Values(missing_value)});
    field("e3t", {.grid = "atm",
                  .axes = {"lev"},
                  .type = Type::float64,
                  .units = "m",
                  .standard_name = "cell_thickness"});
    // "packed=-0.5": the model packs the field itself, with this factor.
    std::vector<Attribute> of_count;
    if (const std::string factor = options_.text("packed", ""); !factor.empty())
      of_count = {{"scale_factor", std::stod(factor)}, {"add_offset", 10.0}};
    field("count", {.grid = "atm",
                    .type = Type::int32,
                    .units = "1",
                    .long_name = "number of events",
                    .attributes = of_count});
    field("co2", {.type = Type::float64, .units = "1e-6", .long_name = "carbon dioxide"});
    field("orog", {.grid = "atm", .units = "m", .standard_name = "surface_altitude"});
    if (rich) field("band_flux", {.axes = {"longwave_band"}, .units = "W m-2"});
    // For mistakes: a field with this name.
    if (options_.given.contains("extra")) field(options_.text("extra", ""), {.grid = "atm", .units = "1"});
    if (options_.given.contains("integers")) {
      field("mask", {.grid = "atm", .type = Type::int8, .units = "1", .fill = Values(std::int8_t{-1})});
      field("level", {.grid = "atm", .type = Type::uint8, .units = "m"});
      field("small", {.grid = "atm", .type = Type::int16, .units = "1"});
      field("large", {.grid = "atm", .type = Type::int64, .units = "1"});
    }
    field("unused", {.grid = "atm", .units = "1", .long_name = "is in no file"});
  }

  /// Areas, vertices, a mesh, and terms of a vertical coordinate, which fields name in their
  /// attributes.
  void define_more(Output& output) const {
    constexpr std::uint64_t corners = 4;
    output.dimension("nv", corners);
    output.dimension("longwave_band", std::vector<double>{500, 700, 900}, {.units = "cm-1"});
    output.dimension("node", 5);
    std::vector<float> areas;
    std::vector<double> latitudes;
    std::vector<double> vertices;
    for (const std::uint64_t p : part_.points) {
      areas.push_back(static_cast<float>(p) + 1);
      latitudes.push_back(static_cast<double>(p) / 2);
      for (std::uint64_t v = 0; v < corners; ++v) vertices.push_back(static_cast<double>(corners * p + v));
    }
    // Regions 1 to 4, of which there are 5; some points belong to none.
    std::vector<std::int32_t> regions;
    for (const std::uint64_t p : part_.points)
      regions.push_back(static_cast<std::int32_t>(p * 5 / 3 % 7) - 2);
    output.dimension("region", std::vector<std::int32_t>{1, 2, 3, 4, 5});
    output.grid_coordinate("basin", "atm", regions.data());
    output.grid_coordinate("area", "atm", areas.data(), {.units = "m2", .standard_name = "cell_area"});
    output.grid_coordinate("lat2d", "atm", latitudes.data(), {.attributes = {{"bounds", "lat2d_vertices"}}});
    CoordinateOptions with_vertices;
    with_vertices.vertices = "nv";
    output.grid_coordinate("lat2d_vertices", "atm", vertices.data(), with_vertices);
    output.coordinate("node_x", {"node"}, std::vector<double>{0, 1, 2, 3, 4});
    output.coordinate("mesh", {}, Values(0),
                      {.attributes = {{"cf_role", "mesh_topology"}, {"node_coordinates", "node_x node_y"}}});
    std::vector<double> terms(nlev_, 0.5);
    output.coordinate("hya", {"lev"}, terms);
  }

  template <class T>
  void put_field(Output& output, const std::string& name, std::uint64_t number, std::int64_t step,
                 std::uint64_t levels, bool on_grid = true) {
    if (is_without(name) || options_.text("forget", "") == name) return;
    if (output.wants(name)) ++wanted_in_step_;
    const std::uint64_t columns = on_grid ? part_.points.size() : 1;
    // With a halo, rows of a block lie in a larger array.
    const bool with_halo = halo_ > 0 && rows_ > 0 && on_grid;
    const std::uint64_t width = nlon_ + 2 * halo_;
    const std::uint64_t height = rows_ + 2 * halo_;
    std::vector<T> values(with_halo ? levels * width * height : levels * columns, static_cast<T>(-12345));
    for (std::uint64_t k = 0; k < levels; ++k)
      for (std::uint64_t c = 0; c < columns; ++c) {
        const std::uint64_t point = k * (on_grid ? nlat_ * nlon_ : 1) + (on_grid ? part_.points[c] : 0);
        const std::uint64_t h = mixed(number, step, point);
        T value =
            std::is_integral_v<T> ? static_cast<T>(h) : static_cast<T>(static_cast<double>(h) / divisor);
        if (name == "level") value = static_cast<T>(h % 200);  // 255 is netCDF's fill value
        if (name == "mask") value = static_cast<T>(static_cast<int>(h % 5) - 1);
        if (name == "toce" && h % 7 == 0) value = static_cast<T>(missing_value);
        if (name == "tas" && h % 7 == 0 && options_.given.contains("nan"))
          value = std::numeric_limits<T>::quiet_NaN();
        if (with_halo)
          values[(k * height + c / nlon_ + halo_) * width + c % nlon_ + halo_] = value;
        else
          values[k * columns + c] = value;
      }
    MemoryLayout layout;
    if (with_halo) {
      layout.shape = {height, width};
      layout.offset = {halo_, halo_};
      if (levels > 1 || name == "toce" || name == "e3t") {
        layout.shape.insert(layout.shape.begin(), levels);
        layout.offset.insert(layout.offset.begin(), 0);
      }
    }
    const auto turns = static_cast<std::uint64_t>(options_.number("sections", 0));
    if (turns == 0 || on_grid == false || !(name == "toce" || name == "e3t"))
      return output.put(name, values.data(), layout);
    // Levels one by one, from the lowest one up.
    const std::uint64_t size = values.size() / levels;
    std::vector<std::uint64_t> lengths{rows_, nlon_};
    if (options_.text("decomposition", "block") == "map") lengths = {columns};
    if (options_.text("decomposition", "block") == "whole") lengths = {nlat_, nlon_};
    for (std::uint64_t k = levels; k-- > 0;) {
      std::vector<std::uint64_t> start(lengths.size() + 1, 0);
      std::vector<std::uint64_t> count(lengths);
      start[0] = k;
      count.insert(count.begin(), 1);
      MemoryLayout of_level = layout;
      if (!layout.shape.empty()) of_level.shape[0] = 1;
      output.put_section(name, Section(start, count), values.data() + k * size, of_level);
    }
  }

  void put(Output& output, std::int64_t n) {
    put_field<float>(output, "tas", 1, n, 1);
    put_field<float>(output, "uas", 2, n, 1);
    if (options_.number("flush", 0) != 0) static_cast<void>(session_.flush());
    put_field<float>(output, "vas", 3, n, 1);
    put_field<float>(output, "toce", 4, n, nlev_);
    put_field<double>(output, "e3t", 5, n, nlev_);
    put_field<std::int32_t>(output, "count", 6, n, 1);
    put_field<double>(output, "co2", 7, n, 1, false);
    put_field<float>(output, "orog", 8, 0, 1);
    if (options_.given.contains("rich")) put_field<float>(output, "band_flux", 10, n, 3, false);
    if (output.wants("unused")) throw Failure(Error(ErrorCode::internal, "nothing uses the field unused"));
    put_field<float>(output, "unused", 9, n, 1);
    if (options_.given.contains("integers")) {
      put_field<std::int8_t>(output, "mask", 20, n, 1);
      put_field<std::uint8_t>(output, "level", 21, n, 1);
      put_field<std::int16_t>(output, "small", 22, n, 1);
      put_field<std::int64_t>(output, "large", 23, n, 1);
    }
    if (members_ > 0) put_ensemble(output, n);
    if (further_) further_->put(output, n);
    wanted_ += wanted_in_step_;
    most_wanted_ = std::max(most_wanted_, std::exchange(wanted_in_step_, 0));
  }

  /// Does what the option `mistake` says, in the second step.
  void mistake(Output& output, std::int64_t n) {
    if (n != first_ + 1) return;
    const std::string what = options_.text("mistake", "");
    std::vector<float> floats(nlat_ * nlon_ * nlev_);
    std::vector<double> doubles(floats.size());
    if (what == "twice") output.put("tas", floats.data());
    if (what == "type") output.put("tas", doubles.data());
    if (what == "name") output.put("tsa", floats.data());
    if (what == "wants") static_cast<void>(output.wants("uass"));
    if (what == "skip") output.step(n + 2);
    if (what == "back") output.step(n - 1);
    if (what == "again") output.step(n);
    if (what == "late") output.field("new", {});
    if (what == "second") static_cast<void>(Output(session_, {.step = Period::parse("1h")}));
    if (what == "overlap") output.put_section("toce", Section({0, 0, 0}, {1, 1, 1}), floats.data());
    if (what == "layout") output.put("e3t", doubles.data(), {.shape = {1}, .offset = {0}, .strides = {}});
  }

  Session& session_;
  Options options_;
  std::uint64_t nlon_, nlat_, nlev_;
  std::int64_t first_, last_;
  std::uint64_t halo_;
  std::uint64_t members_;  ///< members of an ensemble; 0: none
  std::uint64_t first_member_ = 0;
  std::uint64_t own_members_ = 0;
  std::uint64_t rows_ = 0;
  std::int64_t wanted_in_step_ = 0;
  std::int64_t wanted_ = 0;  ///< in all steps
  std::int64_t most_wanted_ = 0;
  std::string decomposition_;
  Part part_;
  std::optional<test::FurtherGrids> further_;
};

/// "ocean_from=3": session ranks from 3 on are a component of their own, with the description
/// ocean.yaml, for which options "ocean.KEY=VALUE" hold.
MPI_Comm component(Options& options, SessionOptions& given) {
  if (!options.given.contains("ocean_from")) return MPI_COMM_WORLD;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool is_ocean = rank >= options.number("ocean_from", 0);
  MPI_Comm ranks = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, is_ocean ? 1 : 0, rank, &ranks);
  given.name = is_ocean ? "ocean" : "atmosphere";
  given.set("output", is_ocean ? "ocean.yaml" : "output.yaml");
  constexpr std::string_view prefix = "ocean.";
  for (const auto& [key, value] : std::map(options.given))
    if (is_ocean && key.starts_with(prefix)) options.given[key.substr(prefix.size())] = value;
  return ranks;
}

/// "hesitate_ms=5000": a model rank prints its error and then does something else before it stops:
/// the others cannot learn from its end.
void hesitate(const Session& session, const Options& options, const Error& error) {
  const std::int64_t pause_ms = options.number("hesitate_ms", 0);
  if (pause_ms == 0) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::printf("rank %d failed at %lld ms: %s\n", session.model_rank(),
              static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()),
              error.message.c_str());
  std::fflush(stdout);
  std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (const std::size_t equals = argument.find('=');
        !argument.starts_with("--") && equals != std::string::npos)
      options.given[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  try {
    auto given = SessionOptions().with_arguments(argc, argv);
    if (const std::string path = options.text("text", ""); !path.empty()) {
      std::ifstream file(path);
      given.output_text.assign(std::istreambuf_iterator<char>(file), {});
    }
    const MPI_Comm ranks = component(options, given);
    Session session = open_session(ranks, given);
    try {
      if (session.is_server())
        session.serve();
      else
        Model(session, options).run();
    } catch (const Failure& failure) {
      if (!session.is_server()) hesitate(session, options, failure.error());
      stop(failure.error());
    }
  } catch (const Failure& failure) {
    stop(failure.error());
  }
  MPI_Finalize();
}
