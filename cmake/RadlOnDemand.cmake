# Libraries that a program loads at their first call instead of at its start: `radlc check`, `fmt` and `plan` call none of
# them, and loading them, with some 40 that they bring, was most of such a run's time.
include_guard()

# radl_load_on_demand(PROGRAM LIBRARIES a b ... [INSIDE archive.a FUNCTIONS f g ...])
# Each library is an imported target or a path of a shared library. INSIDE: these functions are taken from an archive and are in the
# program, where the archive is there. What is not x86-64, and a build with sanitizers, links all of them as usual.
function(radl_load_on_demand program)
  cmake_parse_arguments(ARG "" "INSIDE" "LIBRARIES;FUNCTIONS" ${ARGN})
  if(RADL_SANITIZE OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(inside "")
  if(ARG_INSIDE)
    set(inside ${ARG_FUNCTIONS})
    list(TRANSFORM ARG_FUNCTIONS PREPEND -Wl,-u, OUTPUT_VARIABLE wanted)
    target_link_options(${program} PRIVATE ${wanted})
    target_link_libraries(${program} PRIVATE ${ARG_INSIDE})
  endif()
  foreach(library ${ARG_LIBRARIES})
    set(path ${library})
    if(TARGET ${library})
      get_target_property(path ${library} IMPORTED_LOCATION)
      if(NOT path)
        get_target_property(path ${library} IMPORTED_LOCATION_NONE)
      endif()
    endif()
    if(NOT path MATCHES "\\.so$")
      message(FATAL_ERROR "radl_load_on_demand: ${library} is no shared library (${path})")
    endif()
    get_filename_component(name ${path} NAME_WE)
    set(made ${CMAKE_CURRENT_BINARY_DIR}/on_demand_${name})
    add_custom_command(OUTPUT ${made}.o BYPRODUCTS ${made}.s
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/on_demand.py ${path} ${made}.s ${inside}
      COMMAND ${CMAKE_CXX_COMPILER} -c ${made}.s -o ${made}.o
      DEPENDS ${CMAKE_SOURCE_DIR}/cmake/on_demand.py ${path} VERBATIM)
    set_source_files_properties(${made}.o PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_sources(${program} PRIVATE ${made}.o)
  endforeach()
  # What these stand in for is not needed at the start any more, and of them only what is called stays.
  target_link_options(${program} PRIVATE -Wl,--as-needed -Wl,--gc-sections)
endfunction()
