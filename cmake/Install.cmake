# cmake --install: headers, libraries, Fortran module, the command, its manual page and completion,
# the documentation and examples, CMake package and pkg-config files.

include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Afterbay")

install(TARGETS afterbay EXPORT AfterbayTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS afterbay_reader RUNTIME DESTINATION libexec/afterbay)
install(EXPORT AfterbayTargets NAMESPACE afterbay:: DESTINATION ${package_dir})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/afterbay" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(FILES "${PROJECT_BINARY_DIR}/include/afterbay/version.h"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/afterbay)

# The documentation, in the order of the source tree, so that its links hold.
set(doc_dir "${CMAKE_INSTALL_DATADIR}/doc/afterbay")
foreach(page LICENSE README.md CHANGELOG.md CONTRIBUTING.md)
  install(FILES "${PROJECT_SOURCE_DIR}/${page}" DESTINATION ${doc_dir})
endforeach()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" "${PROJECT_SOURCE_DIR}/design" "${PROJECT_SOURCE_DIR}/examples"
  DESTINATION ${doc_dir})
install(FILES "${PROJECT_SOURCE_DIR}/bench/README.md" DESTINATION ${doc_dir}/bench)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/bindings/fortran" DESTINATION ${doc_dir}/bindings
  FILES_MATCHING PATTERN "*.f90" PATTERN "*.F90")
file(RELATIVE_PATH headers_from_doc "/${doc_dir}" "/${CMAKE_INSTALL_INCLUDEDIR}")
install(CODE "file(CREATE_LINK \"${headers_from_doc}\" \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${doc_dir}/include\" SYMBOLIC)")

if(TARGET afterbay_fortran)
  install(TARGETS afterbay_fortran EXPORT AfterbayFortranTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT AfterbayFortranTargets NAMESPACE afterbay:: DESTINATION ${package_dir})
  install(DIRECTORY "${PROJECT_BINARY_DIR}/include/afterbay/fortran"
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/afterbay FILES_MATCHING PATTERN "*.mod")
endif()
if(TARGET afterbay_app)
  install(TARGETS afterbay_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  get_property(manual_dir GLOBAL PROPERTY AFTERBAY_MANUAL_DIR)
  if(manual_dir)
    install(FILES "${manual_dir}/afterbay.1" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES "${manual_dir}/afterbay.bash" DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
      RENAME afterbay)
  endif()
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
