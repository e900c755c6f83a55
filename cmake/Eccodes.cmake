# ecCodes encodes GRIB. Sets AFTERBAY_ECCODES to its target; empty: the build writes no GRIB.

set(AFTERBAY_WITH_ECCODES AUTO CACHE STRING "write GRIB with ecCodes: ON, OFF, or AUTO (if it is found)")
set_property(CACHE AFTERBAY_WITH_ECCODES PROPERTY STRINGS AUTO ON OFF)
# Debian's file for pkg-config names directories that do not exist.
find_path(AFTERBAY_ECCODES_INCLUDE eccodes.h)
find_library(AFTERBAY_ECCODES_LIBRARY eccodes)
mark_as_advanced(AFTERBAY_ECCODES_INCLUDE AFTERBAY_ECCODES_LIBRARY)
if(AFTERBAY_ECCODES_INCLUDE AND AFTERBAY_ECCODES_LIBRARY)
  add_library(afterbay_eccodes INTERFACE)
  target_include_directories(afterbay_eccodes SYSTEM INTERFACE "${AFTERBAY_ECCODES_INCLUDE}")
  target_link_libraries(afterbay_eccodes INTERFACE "${AFTERBAY_ECCODES_LIBRARY}")
endif()
afterbay_optional(ECCODES afterbay_eccodes ecCodes libeccodes-dev)
