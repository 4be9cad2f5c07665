# Precompiled headers (common/precompiled/headers.h): a third of the time that the front end of the compiler takes. For builds of everything,
# as `make` does them; while editing, a build without them rebuilds less and finds missing includes.
include_guard()
option(RADL_PRECOMPILE "precompile the headers that most sources include" OFF)
if(RADL_PRECOMPILE AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  message(STATUS "RADL_PRECOMPILE needs g++: off")
  set(RADL_PRECOMPILE OFF)
endif()
if(RADL_PRECOMPILE)
  # g++ 12 forgets that a precompiled function is the system's, and warns of sizes inside std::string that cannot occur.
  add_compile_options(-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(RADL_PRECOMPILE AND RADL_CCACHE)
  # ccache reads the precompiled file only if it is told that macros and times inside it do not matter.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${RADL_CCACHE})
  add_compile_options(-fpch-preprocess)
endif()

# radl_precompile(TARGET LEVEL [WITH LIBRARY HEADER]): TARGET, compiled at the optimization LEVEL (-O1), uses the headers precompiled at
# it, and the HEADER of LIBRARY beside them (then TARGET is a program).
# RADL_HEADERS_NEED of a folder: a library that its targets link and that changes the compiler's flags. Does nothing without
# RADL_PRECOMPILE.
function(radl_precompile target level)
  if(NOT RADL_PRECOMPILE)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "WITH" ${ARGN})
  set(headers radl_headers${level})
  if(ARG_WITH)
    list(POP_FRONT ARG_WITH library)
    string(MAKE_C_IDENTIFIER "${headers}_${library}" headers)
  endif()
  if(RADL_HEADERS_NEED)
    string(MAKE_C_IDENTIFIER "${headers}_${RADL_HEADERS_NEED}" headers)
  endif()
  if(NOT TARGET ${headers})
    # An object that nobody links: CMake precompiles headers for a target, and lets others use them.
    add_library(${headers} OBJECT ${CMAKE_SOURCE_DIR}/common/precompiled/none.cc)
    set_target_properties(${headers} PROPERTIES UNITY_BUILD OFF)
    target_link_libraries(${headers} PRIVATE radl_flags fmt::fmt nlohmann_json::nlohmann_json ${RADL_HEADERS_NEED} ${library})
    target_compile_options(${headers} PRIVATE ${level})
    if(ARG_WITH)
      # Programs use them, which CMake compiles with -fPIE.
      set_target_properties(${headers} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${headers} PRIVATE -fPIE)
    endif()
    target_precompile_headers(${headers} PRIVATE ${CMAKE_SOURCE_DIR}/common/precompiled/headers.h ${ARG_WITH})
  endif()
  target_link_libraries(${target} PRIVATE ${RADL_HEADERS_NEED})
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()
