# Optional libraries of src/codec. Sets AFTERBAY_LIBDEFLATE, AFTERBAY_ZSTD, AFTERBAY_LZ4 and
# AFTERBAY_BLOSC to their targets; empty: the build has none.

foreach(library IN ITEMS LIBDEFLATE ZSTD LZ4 BLOSC)
  set(AFTERBAY_WITH_${library} AUTO CACHE STRING "compress with ${library}: ON, OFF, or AUTO (if it is found)")
  set_property(CACHE AFTERBAY_WITH_${library} PROPERTY STRINGS AUTO ON OFF)
  string(TOLOWER ${library} name)
  if(NOT name MATCHES "^lib")
    set(name lib${name})
  endif()
  string(REPLACE "libblosc" "blosc" module ${name})
  # Older versions of Blosc trust damaged data more.
  string(REPLACE "blosc" "blosc>=1.21" module ${module})
  pkg_check_modules(${library} QUIET IMPORTED_TARGET ${module})
  afterbay_optional(${library} PkgConfig::${library} ${name} ${name}-dev)
endforeach()
