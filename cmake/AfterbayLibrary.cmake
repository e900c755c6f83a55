# afterbay_library(<folder> [SOURCES ...] [LINKS ...] [APART ...] [PRECOMPILE ...])
#
# The target afterbay_<folder>: a static library of one folder of src/, header-only folders become
# interface libraries. SOURCES defaults to every .cpp below the folder. LINKS names other folders
# (base, model, ...) or CMake targets. APART: sources that cannot share a translation unit with
# others (AFTERBAY_UNITY: most presets compile several files at once, which halves a whole build).
# PRECOMPILE: the slowest headers of the folder, or the name of a folder whose precompiled header it
# shares; the default is that of base. `none`: it has other flags. Only with AFTERBAY_PRECOMPILE:
# without it, as in lint, a source that does not include what it uses is noticed.
# tools/check_layers.py lists the folders that each folder may name.

set(AFTERBAY_FOLDERS base time codec packing model pipeline statistics expression triggers config describe mpi wire transport client storage journal server
  observe session output
  CACHE INTERNAL "folders of src/ in the order of their dependencies")

# Names of folders -> targets; a folder that does not exist is left out.
function(afterbay_targets result)
  set(targets)
  foreach(name IN LISTS ARGN)
    if(NOT name IN_LIST AFTERBAY_FOLDERS)
      list(APPEND targets ${name})
    elseif(EXISTS "${PROJECT_SOURCE_DIR}/src/${name}/CMakeLists.txt")
      list(APPEND targets afterbay_${name})
    endif()
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()

function(afterbay_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS;APART;PRECOMPILE")
  if(NOT arg_SOURCES)
    file(GLOB_RECURSE arg_SOURCES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  endif()
  afterbay_targets(links ${arg_LINKS})
  set(external ${arg_LINKS})
  list(REMOVE_ITEM external ${AFTERBAY_FOLDERS})
  set_property(GLOBAL APPEND PROPERTY AFTERBAY_EXTERNAL_LINKS ${external})
  set(target afterbay_${folder})
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    target_link_libraries(${target} PUBLIC ${links} PRIVATE afterbay_options)
    set(scope PUBLIC)
    if(AFTERBAY_UNITY)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${AFTERBAY_UNITY})
      set_source_files_properties(${arg_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
    if(AFTERBAY_PRECOMPILE)
      set_source_files_properties(${arg_APART} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
      if(NOT arg_PRECOMPILE)
        set(arg_PRECOMPILE base)
      endif()
      if(arg_PRECOMPILE IN_LIST AFTERBAY_FOLDERS)
        target_precompile_headers(${target} REUSE_FROM afterbay_${arg_PRECOMPILE})
      elseif(NOT arg_PRECOMPILE STREQUAL "none")
        target_precompile_headers(${target} PRIVATE ${arg_PRECOMPILE})
      endif()
    endif()
    set_property(GLOBAL APPEND PROPERTY AFTERBAY_STATIC_LIBRARIES ${target})
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${links})
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
endfunction()
