# How everything here is built: one place for the language level, warnings, sanitizers and the layering.
include_guard()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")  # no NDEBUG: assertions state invariants and stay on
# What is no inner loop: half of the time to compile, and nothing that somebody would wait for. With sanitizers the
# engine alone is optimized.
set(RADL_LIGHT -O1)
set(RADL_TEST_CODE -O0)
if(RADL_SANITIZE OR RADL_QUICK)
  set(CMAKE_CXX_FLAGS_RELEASE "-O0")
  set(RADL_LIGHT -O0)
endif()

if(RADL_QUICK)
  # A change of one source links many programs again: ten times as quick by mold, three times by gold.
  find_program(RADL_LINKER NAMES mold ld.gold REQUIRED)
  get_filename_component(linker_name "${RADL_LINKER}" NAME)
  string(REPLACE "ld." "" linker_name "${linker_name}")
  add_link_options(-fuse-ld=${linker_name})
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/passed)
endif()

find_program(RADL_CCACHE ccache)
if(RADL_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${RADL_CCACHE})
endif()

add_library(radl_flags INTERFACE)
target_include_directories(radl_flags INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
target_compile_options(radl_flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers
  $<$<BOOL:${RADL_WERROR}>:-Werror> -fno-strict-aliasing
  $<$<AND:$<BOOL:${CMAKE_UNITY_BUILD}>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
target_compile_definitions(radl_flags INTERFACE EIGEN_MPL2_ONLY)

if(RADL_SANITIZE)
  # g++ 12 takes what the sanitizers insert into std::regex for uses of uninitialised memory.
  # ASan stops at a null pointer by itself, and the size of an object is known to optimized code alone: an eighth of the time.
  set(sanitized $<NOT:$<BOOL:$<TARGET_PROPERTY:RADL_UNSANITIZED>>>)
  target_compile_options(radl_flags INTERFACE
    "$<${sanitized}:-fsanitize=${RADL_SANITIZE};-fno-sanitize=null,object-size;-fno-omit-frame-pointer;-fno-sanitize-recover=all;-g1>"
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(radl_flags INTERFACE -fsanitize=${RADL_SANITIZE})
endif()

include(RadlPrecompiled)

# radl_library(NAME SOURCES a.cc b.cc DEPS other_lib ... [HOT | COLD] [PLAIN])
# A library may use what it lists in DEPS and nothing else; tests/lint checks the includes against it. HOT and COLD: optimized with -O2 or
# -O1, whatever its folder has. PLAIN: no precompiled headers, as for sources that have compiler flags of their own.
function(radl_library name)
  cmake_parse_arguments(ARG "HOT;COLD;PLAIN" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC radl_flags ${ARG_DEPS})
  get_directory_property(level COMPILE_OPTIONS)
  if(level MATCHES "-O[0-3]")
    set(level ${CMAKE_MATCH_0})
  else()
    set(level ${CMAKE_CXX_FLAGS_RELEASE})
  endif()
  if((ARG_HOT OR ARG_COLD) AND NOT RADL_SANITIZE AND NOT RADL_QUICK)
    set(level ${RADL_LIGHT})
    if(ARG_HOT)
      set(level -O2)
    endif()
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:${level}>)
  endif()
  if(NOT ARG_PLAIN)
    radl_precompile(${name} ${level})
  endif()
endfunction()

# radl_program(NAME SOURCES main.cc DEPS ...)
function(radl_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE radl_flags ${ARG_DEPS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endfunction()

# radl_test(NAME SOURCES x_test.cc DEPS ... [LABELS unit|fault|e2e|conformance] [TIMEOUT seconds])
# One GoogleTest program, one ctest entry. BUSY: its own code computes so much that optimizing it costs less than it saves.
# PLAIN: as for radl_library.
function(radl_test name)
  cmake_parse_arguments(ARG "BUSY;PLAIN" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE radl_flags ${ARG_DEPS} radl_test_paths GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(ARG_BUSY)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:${RADL_LIGHT}>)
  elseif(NOT ARG_PLAIN)
    radl_precompile(${name} ${RADL_TEST_CODE} WITH GTest::gtest <gtest/gtest.h>)
  endif()
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
  if(RADL_QUICK AND "unit" IN_LIST ARG_LABELS AND NOT name IN_LIST RADL_SLOW_TESTS)
    # Its output is shown where it fails; a program that has not changed since it passed is not run again.
    add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/passed/${name}
      COMMAND ${name} --gtest_brief=1
      COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/passed/${name}
      DEPENDS ${name} WORKING_DIRECTORY ${CMAKE_BINARY_DIR} COMMENT "${name}" VERBATIM)
    add_custom_target(quick_${name} DEPENDS ${CMAKE_BINARY_DIR}/passed/${name})
    add_dependencies(quick quick_${name})
  endif()
endfunction()
