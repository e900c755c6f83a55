# Converts test sources and scripts to ctest tests. Every test gets its own fresh directory under
# <build>/scratch, the environment below, and a timeout.

set(scratch_root "${CMAKE_BINARY_DIR}/scratch")
set(in_scratch bash "${CMAKE_CURRENT_SOURCE_DIR}/cmake/in_scratch.sh")
set(sanitizer_dir "${CMAKE_CURRENT_SOURCE_DIR}/sanitizers")

# Open MPI on a small machine: root is allowed, ranks share cores and give them up when idle.
set(test_environment
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
  OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
  "AFTERBAY_BUILD=${CMAKE_BINARY_DIR}" "AFTERBAY_SOURCE=${PROJECT_SOURCE_DIR}"
  "AFTERBAY_PYTHON=${AFTERBAY_PYTHON}")
if(AFTERBAY_SANITIZE)
  # gcc 12's leak checker finds the thread-local blocks of plugins by a header that glibc no longer
  # writes, and crashes on the data that it finds instead: intercept_tls_get_addr=0 disables that
  # search.
  set(asan_options detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1)
  list(APPEND test_environment
    "ASAN_OPTIONS=${asan_options}:intercept_tls_get_addr=0"
    "LSAN_OPTIONS=suppressions=${sanitizer_dir}/lsan.supp:print_suppressions=0"
    "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1"
    "TSAN_OPTIONS=suppressions=${sanitizer_dir}/tsan.supp:halt_on_error=1:second_deadlock_stack=1")
endif()

# Many tests wait, for deadlines and for disks that are made slow, or start programs one after the
# other. With AFTERBAY_TEST_SLOTS=N, `ctest -j` counts in parts of a core, N for each (as ./dev test
# does), and a test takes as many as it needs; with 1, each test takes a core.
function(afterbay_slots result percent_of_a_core)
  math(EXPR slots "(${AFTERBAY_TEST_SLOTS} * ${percent_of_a_core} + 99) / 100")
  set(${result} ${slots} PARENT_SCOPE)
endfunction()

function(afterbay_suite_wanted result)
  set(${result} FALSE PARENT_SCOPE)
  foreach(suite IN LISTS ARGN ITEMS all)
    if(suite IN_LIST AFTERBAY_TEST_SUITES)
      set(${result} TRUE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# The test sources of a folder, and the sources that they share (all other .cpp files there).
function(afterbay_test_sources result folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp")
  if(AFTERBAY_TEST_FILTER)
    set(tests ${sources})
    list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
    list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
    list(FILTER tests INCLUDE REGEX "${AFTERBAY_TEST_FILTER}")
    list(APPEND sources ${tests})
  endif()
  if(AFTERBAY_TEST_SUITES STREQUAL "thread")
    afterbay_keep_thread_tests(sources ${sources})
  endif()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

# The thread suite compiles no more test sources than it runs.
function(afterbay_keep_thread_tests result)
  set(kept)
  foreach(source IN LISTS ARGN)
    file(STRINGS "${source}" found REGEX "^(TEST|TEST_F|TEST_P|TYPED_TEST|RANK_TEST)\\( *Thread"
      LIMIT_COUNT 1)
    if(found OR NOT source MATCHES "_test\\.cpp$")
      list(APPEND kept "${source}")
    endif()
  endforeach()
  set(${result} ${kept} PARENT_SCOPE)
endfunction()

# Test code that UBSan checks for null pointers, alignment and dynamic types of each access takes a
# third more time to compile, and 280 MB of relocations, which each process of a test works through
# when it starts. The code under test has all checks, and ASan finds null pointers everywhere.
add_library(afterbay_test_options INTERFACE)
if(AFTERBAY_SANITIZE MATCHES "undefined" AND NOT AFTERBAY_LIBFUZZER)
  target_compile_options(afterbay_test_options INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize=null,alignment,object-size,vptr>)
  target_link_options(afterbay_test_options INTERFACE -no-pie)
endif()

function(afterbay_link_inside target)
  if(AFTERBAY_TEST_LINKS)
    afterbay_targets(links ${AFTERBAY_TEST_LINKS})
  else()
    set(links afterbay_internal afterbay_decomp)
  endif()
  target_link_libraries(${target} PRIVATE afterbay_options ${links} afterbay_test_options)
  # Test code is compiled for a fast build; the code under test has the flags of the preset.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-O0>)
  # One precompiled header takes 130 MB.
  if(TARGET unit_tests AND NOT target STREQUAL "unit_tests")
    target_precompile_headers(${target} REUSE_FROM unit_tests)
  else()
    target_precompile_headers(${target} PRIVATE <gmock/gmock.h> <gtest/gtest.h> <chrono> <filesystem>
      <functional> <map> <sstream> <thread> <fmt/format.h> <tl/expected.hpp>)
  endif()
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include"
    "${PROJECT_BINARY_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  # Several files at once, so that names in the unnamed namespaces of neighbours must differ; a
  # local name may well be that of a neighbour's constant.
  if(AFTERBAY_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6 AFTERBAY_MAY_SHADOW ON)
  endif()
endfunction()

function(afterbay_gtest_executable target)
  if(ARGN)
    add_executable(${target} ${ARGN})
    afterbay_link_inside(${target})
    target_link_libraries(${target} PRIVATE GTest::gmock GTest::gtest GTest::gtest_main)
  endif()
endfunction()

# One ctest for each GoogleTest; TSan runs the suites whose names begin with Thread.
function(afterbay_add_unit_tests target)
  afterbay_suite_wanted(all_wanted unit)
  afterbay_suite_wanted(thread_wanted unit thread)
  if(NOT TARGET ${target} OR NOT thread_wanted)
    return()
  endif()
  set(thread_tests "Thread*:*/Thread*")
  afterbay_discover(${target} unit "${thread_tests}" "unit;thread")
  if(all_wanted)
    afterbay_discover(${target} unit "-${thread_tests}" unit)
  endif()
endfunction()

function(afterbay_add_conformance_tests target)
  afterbay_suite_wanted(wanted conformance)
  if(TARGET ${target} AND wanted)
    afterbay_discover(${target} conformance "*" conformance)
  endif()
endfunction()

# Labels and environment are lists, which gtest_discover_tests flattens: a file that ctest reads
# after the list of tests sets them.
function(afterbay_discover target kind filter labels)
  # Tests of threads wait for each other, and for deadlines; others wait for disks and for the
  # processes they start.
  set(percent 75)
  if("thread" IN_LIST labels)
    set(percent 50)
  endif()
  if(AFTERBAY_SANITIZE)
    math(EXPR percent "${percent} + 25")
  endif()
  afterbay_slots(slots ${percent})
  if(AFTERBAY_SANITIZE)
    afterbay_discover_suites(${target} ${kind} "${filter}" "${labels}")
    return()
  endif()
  string(MAKE_C_IDENTIFIER "${target}_${labels}" list)
  gtest_discover_tests(${target} TEST_FILTER "${filter}" TEST_PREFIX "${AFTERBAY_TEST_PREFIX}${kind}."
    TEST_LIST ${list} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    WORKING_DIRECTORY "${CMAKE_BINARY_DIR}" PROPERTIES TIMEOUT 60 PROCESSORS ${slots})
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${list}_properties.cmake")
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT [=[
if(@list@)
  set_tests_properties(${@list@} PROPERTIES LABELS "@labels@" ENVIRONMENT "@test_environment@")
endif()
]=])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${file}")
endfunction()

# One ctest for each suite instead of each test, listed when ctest starts: a program with a
# sanitizer takes longer to start than most tests to run.
function(afterbay_discover_suites target kind filter labels)
  string(MAKE_C_IDENTIFIER "${target}_${labels}" list)
  set(program "${CMAKE_CURRENT_BINARY_DIR}/${target}")
  set(name "${AFTERBAY_TEST_PREFIX}${kind}")
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${list}_suites.cmake")
  configure_file(cmake/suites.cmake.in "${file}" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${file}")
endfunction()

# RANK_TEST(Suite, name, N) in the sources -> the ctest ranks.Suite.name: mpirun -np N.
function(afterbay_add_rank_tests target)
  afterbay_suite_wanted(all_wanted ranks)
  afterbay_suite_wanted(wanted ranks thread)
  set(tests ${ARGN})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  if(NOT tests OR NOT wanted)
    return()
  endif()
  add_executable(${target} ${ARGN})
  afterbay_link_inside(${target})
  target_link_libraries(${target} PRIVATE afterbay_mpi_c GTest::gmock GTest::gtest)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tests})
  foreach(source IN LISTS tests)
    file(STRINGS "${source}" lines REGEX "^RANK_TEST\\(")
    foreach(line IN LISTS lines)
      if(NOT line MATCHES "^RANK_TEST\\( *([A-Za-z0-9_]+) *, *([A-Za-z0-9_]+) *, *([0-9]+) *\\)")
        message(FATAL_ERROR "${source}: write RANK_TEST(Suite, name, N) on one line, N a number: ${line}")
      endif()
      set(suite "${CMAKE_MATCH_1}")
      set(case_and_ranks "${CMAKE_MATCH_2}" "${CMAKE_MATCH_3}")
      if(all_wanted OR suite MATCHES "^Thread")
        afterbay_add_rank_test(${target} ${suite} ${case_and_ranks})
      endif()
    endforeach()
  endforeach()
endfunction()

function(afterbay_add_rank_test target suite case ranks)
  set(name "${AFTERBAY_TEST_PREFIX}ranks.${suite}.${case}")
  add_test(NAME ${name} COMMAND ${in_scratch} "${scratch_root}/${name}"
    timeout -k 5 100 ${MPIEXEC_EXECUTABLE} --oversubscribe -np ${ranks} $<TARGET_FILE:${target}>
    "--gtest_filter=${suite}.${case}")
  set(percent 75)
  if(AFTERBAY_SANITIZE)
    set(percent 100)
  endif()
  afterbay_test_properties(${name} 120 ranks ${percent})
endfunction()

function(afterbay_add_scripts folder)
  afterbay_suite_wanted(wanted scripts ${folder})
  if(NOT wanted OR AFTERBAY_SANITIZE)
    return()
  endif()
  file(GLOB scripts CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/${folder}"
    "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.sh" "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.py")
  list(FILTER scripts EXCLUDE REGEX "^(_|lib_|conftest)")
  foreach(script IN LISTS scripts)
    string(REGEX REPLACE "(_test)?\\.(sh|py)$" "" case "${script}")
    set(name "${AFTERBAY_TEST_PREFIX}${folder}.${case}")
    set(interpreter bash)
    if(script MATCHES "\\.py$")
      set(interpreter "${AFTERBAY_PYTHON}")
    endif()
    add_test(NAME ${name} COMMAND ${in_scratch} "${scratch_root}/${name}"
      timeout -k 5 290 ${interpreter} "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${script}")
    set(percent 50)  # programs that wait, for deadlines of seconds among others
    if(case MATCHES "^(plan_storage|forgotten_calls|bench_.*|session_.*)$")
      set(percent 300)  # they measure, or have deadlines of 2 s for many processes
    elseif(case MATCHES "^(adversary|crash|memory)$" OR folder STREQUAL "install")
      set(percent 100)
    elseif(folder MATCHES "^(docs|ranks)$")
      set(percent 75)
    endif()
    afterbay_test_properties(${name} 300 ${folder} ${percent})
  endforeach()
endfunction()

function(afterbay_test_properties name timeout_s label percent_of_a_core)
  afterbay_slots(slots ${percent_of_a_core})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout_s} LABELS ${label} PROCESSORS ${slots}
    SKIP_RETURN_CODE 77 ENVIRONMENT "${test_environment}")
endfunction()
