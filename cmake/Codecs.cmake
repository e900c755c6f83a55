# Optional libraries of src/codec. Sets AFTERBAY_ZSTD and AFTERBAY_LZ4 to their targets; empty: the
# build has none.

foreach(library IN ITEMS ZSTD LZ4)
  set(AFTERBAY_WITH_${library} AUTO CACHE STRING "compress with ${library}: ON, OFF, or AUTO (if it is found)")
  set_property(CACHE AFTERBAY_WITH_${library} PROPERTY STRINGS AUTO ON OFF)
  string(TOLOWER ${library} name)
  pkg_check_modules(${library} QUIET IMPORTED_TARGET lib${name})
  afterbay_optional(${library} PkgConfig::${library} lib${name} lib${name}-dev)
endforeach()
