# What Afterbay is built from. Only serial HDF5 and netCDF: any MPI will do.

set(MPI_CXX_SKIP_MPICXX ON)
set(mpi_components C)
if(AFTERBAY_BUILD_FORTRAN)
  list(APPEND mpi_components Fortran)
endif()
find_package(MPI REQUIRED COMPONENTS ${mpi_components})
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_package(CLI11 REQUIRED)
if(AFTERBAY_BUILD_APPS OR AFTERBAY_BUILD_TESTS)
  find_package(PNG REQUIRED)
endif()

pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
# Debian names the serial build hdf5-serial; elsewhere hdf5 is the usual name.
pkg_search_module(HDF5_SERIAL REQUIRED IMPORTED_TARGET hdf5-serial hdf5)
include(SerialNetcdf)
include(Expressions)
include(Codecs)
include(Eccodes)
find_library(AFTERBAY_HDF5_HL NAMES hdf5_serial_hl hdf5_hl HINTS ${HDF5_SERIAL_LIBRARY_DIRS} REQUIRED)
mark_as_advanced(AFTERBAY_HDF5_HL)

# MPI for C++ code that uses MPI's C interface.
add_library(afterbay_mpi_c INTERFACE)
target_link_libraries(afterbay_mpi_c INTERFACE MPI::MPI_C)
target_compile_definitions(afterbay_mpi_c INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)

add_library(afterbay_hdf5 INTERFACE)
target_link_libraries(afterbay_hdf5 INTERFACE ${AFTERBAY_HDF5_HL} PkgConfig::HDF5_SERIAL)

add_library(afterbay_netcdf INTERFACE)
target_link_libraries(afterbay_netcdf INTERFACE PkgConfig::NETCDF_SERIAL)

# yaml-cpp before 0.8 has no namespaced target.
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
