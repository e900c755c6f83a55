// SPDX-License-Identifier: Apache-2.0
// A model on a mesh of quadrilaterals and two triangles, for mesh_test.py, which computes the same
// mesh independently.
//
//   mesh_model [--afterbay.output=description.yaml] ...
#include <cstdint>
#include <vector>

#include "afterbay/mpi.hpp"
#include "afterbay/output.hpp"

namespace {

using namespace afterbay;

constexpr std::int32_t columns = 6;
constexpr std::int32_t rows = 4;
constexpr std::int32_t quads = columns * rows - 1;
constexpr std::int32_t faces = quads + 2;
constexpr std::int32_t nodes = (columns + 1) * (rows + 1);
constexpr std::int32_t corners = 4;
constexpr std::int32_t none = -1;
constexpr std::uint64_t levels = 2;

/// Nodes of a face, counted from 1; the last square is cut into two triangles.
std::vector<std::int32_t> nodes_of(std::int32_t face) {
  const std::int32_t square = face < quads ? face : quads;
  const std::int32_t a = square / columns * (columns + 1) + square % columns + 1;
  const std::int32_t b = a + 1;
  const std::int32_t c = b + columns + 1;
  const std::int32_t d = a + columns + 1;
  if (face < quads) return {a, b, c, d};
  if (face == quads) return {a, b, c, none};
  return {a, c, d, none};
}

double lon_of(std::int32_t node) { return 10.0 * (node % (columns + 1)); }
double lat_of(std::int32_t node) { return 10.0 * (node / (columns + 1)) - 20; }

/// A part of `all`, from 0 on.
struct Part {
  std::int32_t first = 0;
  std::int32_t end = 0;
  Part(const Session& session, std::int32_t all)
      : first(all * session.model_rank() / session.model_size()),
        end(all * (session.model_rank() + 1) / session.model_size()) {}
  template <class T, class Of>
  [[nodiscard]] std::vector<T> values(Of of) const {
    std::vector<T> made;
    for (std::int32_t i = first; i < end; ++i) made.push_back(static_cast<T>(of(i)));
    return made;
  }
  [[nodiscard]] Block block(std::int32_t all) const {
    return {{static_cast<std::uint64_t>(all)},
            {static_cast<std::uint64_t>(first)},
            {static_cast<std::uint64_t>(end - first)}};
  }
};

void define_mesh(Output& output, const Part& my_nodes, const Part& my_faces) {
  output.dimension("node", nodes);
  output.dimension("face", faces);
  output.dimension("corner", corners);
  output.dimension("lev", std::vector<double>{850, 500}, {.units = "hPa"});
  output.grid("nodes", {"node"}, "nodes");
  output.grid("faces", {"face"}, "faces");
  const CoordinateOptions longitude{.units = "degrees_east", .standard_name = "longitude"};
  const CoordinateOptions latitude{.units = "degrees_north", .standard_name = "latitude"};
  const auto middle = [](std::int32_t face, auto of) {
    double sum = 0;
    int count = 0;
    for (const std::int32_t node : nodes_of(face)) {
      if (node == none) continue;
      sum += of(node - 1);
      ++count;
    }
    return sum / count;
  };
  output.grid_coordinate("node_lon", "nodes", my_nodes.values<double>(lon_of).data(), longitude);
  output.grid_coordinate("node_lat", "nodes", my_nodes.values<double>(lat_of).data(), latitude);
  output.grid_coordinate(
      "face_lon", "faces",
      my_faces.values<double>([&](std::int32_t face) { return middle(face, lon_of); }).data(), longitude);
  output.grid_coordinate(
      "face_lat", "faces",
      my_faces.values<double>([&](std::int32_t face) { return middle(face, lat_of); }).data(), latitude);
  std::vector<std::int32_t> of_faces;
  std::vector<std::int32_t> neighbours;
  for (std::int32_t face = my_faces.first; face < my_faces.end; ++face) {
    for (const std::int32_t node : nodes_of(face)) of_faces.push_back(node);
    // Not all of them: that the numbers are written is enough.
    neighbours.insert(neighbours.end(), {face == 0 ? none : face, none, none, none});
  }
  const auto connectivity = [](const char* role) {
    CoordinateOptions options;
    options.attributes = {{"cf_role", role}, {"start_index", 1}, {"_FillValue", none}};
    options.vertices = "corner";
    return options;
  };
  output.grid_coordinate("face_nodes", "faces", of_faces.data(), connectivity("face_node_connectivity"));
  output.grid_coordinate("face_faces", "faces", neighbours.data(), connectivity("face_face_connectivity"));
  output.coordinate("mesh", {}, Values(0),
                    {.attributes = {{"cf_role", "mesh_topology"},
                                    {"topology_dimension", 2},
                                    {"node_coordinates", "node_lon node_lat"},
                                    {"face_node_connectivity", "face_nodes"},
                                    {"face_face_connectivity", "face_faces"},
                                    {"face_coordinates", "face_lon face_lat"}}});
}

void run(Session& session) {
  const Part my_nodes(session, nodes);
  const Part my_faces(session, faces);
  session.decomposition("nodes", my_nodes.block(nodes));
  session.decomposition("faces", my_faces.block(faces));
  Output output(session, {.start = {.year = 2000}, .step = Period::parse("6h")});
  define_mesh(output, my_nodes, my_faces);
  const auto on = [](const char* location) {
    return std::vector<Attribute>{{"mesh", "mesh"}, {"location", location}};
  };
  output.field("tas", {.grid = "faces", .units = "K", .attributes = on("face")});
  output.field("ta", {.grid = "faces", .axes = {"lev"}, .units = "K", .attributes = on("face")});
  output.field("psi", {.grid = "nodes", .type = Type::float64, .units = "m2 s-1", .attributes = on("node")});
  output.start();
  constexpr int last = 8;
  constexpr int step_factor = 100;
  for (int n = 1; n <= last; ++n) {
    output.step(n);
    const auto of_step = [&](std::int32_t i) { return step_factor * n + i; };
    output.put("tas", my_faces.values<float>(of_step).data());
    output.put("psi", my_nodes.values<double>(of_step).data());
    std::vector<float> both;
    for (std::uint64_t level = 0; level < levels; ++level)
      for (const float value : my_faces.values<float>(of_step))
        both.push_back(value + 1000 * static_cast<float>(level));
    output.put("ta", both.data());
  }
  output.finalize();
  session.finalize();
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  {
    Session session = open_session(MPI_COMM_WORLD, SessionOptions().with_arguments(argc, argv));
    if (session.is_server())
      session.serve();
    else
      run(session);
  }
  MPI_Finalize();
}
