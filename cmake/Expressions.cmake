# Two optional libraries of src/expression: muParser evaluates expressions with more than
# arithmetic, UDUNITS-2 converts units. Sets AFTERBAY_MUPARSER and AFTERBAY_UDUNITS to their
# targets; empty: the build has none.

set(AFTERBAY_WITH_MUPARSER AUTO CACHE STRING "evaluate expressions with muParser: ON, OFF, or AUTO (if it is found)")
set(AFTERBAY_WITH_UDUNITS AUTO CACHE STRING "convert units with UDUNITS-2: ON, OFF, or AUTO (if it is found)")
set_property(CACHE AFTERBAY_WITH_MUPARSER AFTERBAY_WITH_UDUNITS PROPERTY STRINGS AUTO ON OFF)

# afterbay_optional(<variable> <target> <library> <Debian package>)
function(afterbay_optional variable target library package)
  set(wanted "${AFTERBAY_WITH_${variable}}")
  set(AFTERBAY_${variable} "" PARENT_SCOPE)
  if(wanted STREQUAL "AUTO" OR wanted)
    if(TARGET ${target})
      set(AFTERBAY_${variable} ${target} PARENT_SCOPE)
    elseif(wanted STREQUAL "AUTO")
      message(STATUS "Afterbay: ${library} was not found (Debian's package ${package}); the build has less")
    else()
      message(FATAL_ERROR "AFTERBAY_WITH_${variable} is ${wanted}, but ${library} was not found; install Debian's package ${package}")
    endif()
  endif()
endfunction()

pkg_check_modules(MUPARSER QUIET IMPORTED_TARGET muparser)
afterbay_optional(MUPARSER PkgConfig::MUPARSER muParser libmuparser-dev)

# UDUNITS' own installation has no file for pkg-config.
find_path(AFTERBAY_UDUNITS_INCLUDE udunits2.h PATH_SUFFIXES udunits2)
find_library(AFTERBAY_UDUNITS_LIBRARY udunits2)
mark_as_advanced(AFTERBAY_UDUNITS_INCLUDE AFTERBAY_UDUNITS_LIBRARY)
if(AFTERBAY_UDUNITS_INCLUDE AND AFTERBAY_UDUNITS_LIBRARY)
  add_library(afterbay_udunits INTERFACE)
  target_include_directories(afterbay_udunits SYSTEM INTERFACE "${AFTERBAY_UDUNITS_INCLUDE}")
  target_link_libraries(afterbay_udunits INTERFACE "${AFTERBAY_UDUNITS_LIBRARY}")
endif()
afterbay_optional(UDUNITS afterbay_udunits UDUNITS-2 libudunits2-dev)
