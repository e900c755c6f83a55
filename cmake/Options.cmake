# Language standards, warnings and sanitizers. Sets the interface target afterbay_options, which
# every target of this project links privately.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Only what is marked AFTERBAY_API is exported (include/afterbay/export.h, tests/bindings/symbols.py).
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "build type" FORCE)
  endif()
  # Installed programs find the library beside them, wherever the tree is moved to.
  set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  # Libraries of other installations (HDF5 or netCDF of a module, say) are found without
  # LD_LIBRARY_PATH too.
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
  find_program(AFTERBAY_CCACHE ccache)
  mark_as_advanced(AFTERBAY_CCACHE)
  if(AFTERBAY_CCACHE)
    # Without this sloppiness ccache takes no file that uses a precompiled header.
    set(launcher "${CMAKE_COMMAND}" -E env "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime"
      "${AFTERBAY_CCACHE}")
    foreach(language C CXX)
      if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
        set(CMAKE_${language}_COMPILER_LAUNCHER "${launcher}")
      endif()
    endforeach()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>")
    endif()
  endif()
endif()

# gcc searches for memory to free less often: with its default, that takes a fifth of the time of a
# source that instantiates many templates. A compiler then needs up to 1 GiB.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=1048576>")
endif()

add_library(afterbay_options INTERFACE)
set(c_family "$<COMPILE_LANGUAGE:C,CXX>")
target_compile_options(afterbay_options INTERFACE
  "$<${c_family}:-Wall;-Wextra;-Wpedantic>"
  "$<$<AND:${c_family},$<NOT:$<BOOL:$<TARGET_PROPERTY:AFTERBAY_MAY_SHADOW>>>>:-Wshadow>"
  "$<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor;-Woverloaded-virtual>"
  "$<$<COMPILE_LANGUAGE:Fortran>:-Wall;-std=f2008>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(afterbay_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Wthread-safety>")
endif()

# Values in files do not depend on compiler and processor: IEEE arithmetic (which is not Intel's
# default), and no contraction of a * b + c (src/base/strict_floating_point.hpp).
target_compile_options(afterbay_options INTERFACE
  "$<$<COMPILE_LANG_AND_ID:C,IntelLLVM>:-fp-model=precise>"
  "$<$<COMPILE_LANG_AND_ID:CXX,IntelLLVM>:-fp-model=precise>"
  "$<$<COMPILE_LANG_AND_ID:C,GNU,Clang,AppleClang,IntelLLVM>:-ffp-contract=off>"
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang,IntelLLVM>:-ffp-contract=off>")

# gcc 12 warns of copies in std::string and std::vector that never happen once it has inlined enough
# (GCC bugs 105329 and 105651), at -O3 so often that nothing else is seen, and of members of
# std::optional that are never read while they have no value. The sanitizers look for real ones.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12
    AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(afterbay_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>"
    "$<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>")
endif()

# New compilers bring new warnings: those must not stop somebody who only wants to build.
if(AFTERBAY_WERROR)
  if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      OR (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15))
    target_compile_options(afterbay_options INTERFACE "$<${c_family}:-Werror>")
  else()
    message(STATUS "Afterbay: warnings stay warnings with ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  endif()
endif()

if(AFTERBAY_SANITIZE)
  target_compile_options(afterbay_options INTERFACE
    "$<${c_family}:-fsanitize=${AFTERBAY_SANITIZE};-fno-omit-frame-pointer>")
  if(AFTERBAY_SANITIZE MATCHES "undefined")
    target_compile_options(afterbay_options INTERFACE "$<${c_family}:-fno-sanitize-recover=undefined>")
  endif()
  target_link_options(afterbay_options INTERFACE "-fsanitize=${AFTERBAY_SANITIZE}")
endif()
