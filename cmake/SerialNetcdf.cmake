# Finds the serial netCDF, PkgConfig::NETCDF_SERIAL. nc_inq_var_filter_ids has this name since
# 4.8.0.

set(afterbay_netcdf_version 4.8.0)
pkg_check_modules(NETCDF_SERIAL QUIET IMPORTED_TARGET "netcdf>=${afterbay_netcdf_version}")
if(NOT NETCDF_SERIAL_FOUND)
  pkg_check_modules(NETCDF_ANY QUIET netcdf)
  if(NETCDF_ANY_FOUND)
    message(FATAL_ERROR "Afterbay needs netCDF-C ${afterbay_netcdf_version} or newer; pkg-config finds "
      "${NETCDF_ANY_VERSION} in ${NETCDF_ANY_LIBDIR}. Install a newer one, or add the directory of its netcdf.pc to "
      "PKG_CONFIG_PATH")
  endif()
  message(FATAL_ERROR "Afterbay needs netCDF-C ${afterbay_netcdf_version} or newer, and pkg-config finds none. Install it "
    "(libnetcdf-dev), or add the directory of its netcdf.pc to PKG_CONFIG_PATH")
endif()

# It must not be the MPI build: its nc_create_par symbol would tie files to one MPI.
foreach(path IN LISTS NETCDF_SERIAL_LINK_LIBRARIES)
  if(path MATCHES "netcdf_mpi")
    message(FATAL_ERROR "pkg-config's netcdf is the MPI build (${path}); install the serial one (libnetcdf-dev)")
  endif()
endforeach()
