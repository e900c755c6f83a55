# cmake --install: headers, libraries, Fortran module, the command, CMake package and pkg-config files.

include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Afterbay")

install(TARGETS afterbay EXPORT AfterbayTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS afterbay_reader RUNTIME DESTINATION libexec/afterbay)
install(EXPORT AfterbayTargets NAMESPACE afterbay:: DESTINATION ${package_dir})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/afterbay" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(FILES "${PROJECT_BINARY_DIR}/include/afterbay/version.h"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/afterbay)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/afterbay)

if(TARGET afterbay_fortran)
  install(TARGETS afterbay_fortran EXPORT AfterbayFortranTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT AfterbayFortranTargets NAMESPACE afterbay:: DESTINATION ${package_dir})
  install(DIRECTORY "${PROJECT_BINARY_DIR}/include/afterbay/fortran"
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/afterbay FILES_MATCHING PATTERN "*.mod")
endif()
if(TARGET afterbay_app)
  install(TARGETS afterbay_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/AfterbayConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/AfterbayConfig.cmake" INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/AfterbayConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/AfterbayConfig.cmake" "${PROJECT_BINARY_DIR}/AfterbayConfigVersion.cmake"
  DESTINATION ${package_dir})

# pkg-config: MPI comes from the compiler wrapper or from the MPI's own .pc file.
file(RELATIVE_PATH prefix_from_libdir "/${CMAKE_INSTALL_LIBDIR}" "/")  # the tree may be moved
set(pc_names afterbay)
if(TARGET afterbay_fortran)
  list(APPEND pc_names afterbay-fortran)
endif()
foreach(name IN LISTS pc_names)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
