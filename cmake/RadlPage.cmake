# The page of `radlc serve` (runtime/serve/page): its own files, and three packages that npm brings, checked by their SHA-256 and never kept
# in the repository. Without npm, or if its registry cannot be reached, everything else builds, and `serve` says that the page is missing.
#
# As a script: cmake -DSOURCE=.. -DWORK=.. -DOUT=.. -P RadlPage.cmake
cmake_minimum_required(VERSION 3.22)
set(RADL_PAGE_PACKAGES
  "preact|11.2.0|3c4456766bd32b6b534d52bf4e9c2a29b33e7eedf6e96ed479300ba1a7888ebf|dist/preact.mjs=preact.mjs;hooks/dist/hooks.mjs=hooks.mjs;LICENSE=LICENSE.preact"
  "htm|3.1.1|2425b9bee11409177bcabc7f32e319926fc6690c1701c0b257c88bdff2d5ba90|dist/htm.mjs=htm.mjs;LICENSE=LICENSE.htm"
  "uplot|1.6.32|4b8a8191e425658e3ea8c8c1314b0fc679c861ee3a1af2b20c7b16ba50b5133d|dist/uPlot.iife.min.js=uPlot.js;dist/uPlot.min.css=uPlot.css;LICENSE=LICENSE.uplot")

if(NOT CMAKE_SCRIPT_MODE_FILE)
  file(GLOB RADL_PAGE_FILES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/runtime/serve/page/*)
  set(page ${CMAKE_BINARY_DIR}/share/radlc/page)
  # index.html is written last, and only if all is there. A build that could not bring the packages leaves a note, and the next configure
  # removes it: until then no build waits for the registry again.
  file(REMOVE ${CMAKE_BINARY_DIR}/page/missing)
  add_custom_command(OUTPUT ${page}/index.html
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR}/runtime/serve/page -DWORK=${CMAKE_BINARY_DIR}/page -DOUT=${page}
            -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${RADL_PAGE_FILES} ${CMAKE_CURRENT_LIST_FILE} VERBATIM COMMENT "The page of radlc serve")
  add_custom_target(radl_page ALL DEPENDS ${page}/index.html)
  configure_file(${CMAKE_SOURCE_DIR}/docs/openapi.json ${CMAKE_BINARY_DIR}/share/radlc/openapi.json COPYONLY)
  install(FILES docs/openapi.json DESTINATION ${CMAKE_INSTALL_DATADIR}/radlc)
  install(DIRECTORY ${page} DESTINATION ${CMAKE_INSTALL_DATADIR}/radlc OPTIONAL)
  install(CODE "if(NOT EXISTS \"${page}/index.html\")\n  message(WARNING \"radlc serve is installed without its page: npm brought no packages\")\nendif()")
  return()
endif()

# NAME-VERSION.tgz in WORK, with the right digest; what an earlier build brought is taken.
function(bring name version digest result)
  set(archive ${WORK}/${name}-${version}.tgz)
  if(NOT EXISTS ${archive})
    execute_process(COMMAND ${NPM} pack --silent --fetch-retries=1 --pack-destination ${WORK} ${name}@${version}
                    WORKING_DIRECTORY ${WORK} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE why TIMEOUT 120)
    if(failed OR NOT EXISTS ${archive})
      set(${result} "npm brings no ${name} ${version}" PARENT_SCOPE)
      return()
    endif()
  endif()
  file(SHA256 ${archive} is)
  if(NOT is STREQUAL digest)
    file(REMOVE ${archive})
    set(${result} "${name} ${version} has the SHA-256 ${is}, not ${digest}" PARENT_SCOPE)
    return()
  endif()
  file(REMOVE_RECURSE ${WORK}/${name})
  file(MAKE_DIRECTORY ${WORK}/${name})
  file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${WORK}/${name})
  set(${result} "" PARENT_SCOPE)
endfunction()

find_program(NPM npm)
set(why "")
if(NOT NPM)
  set(why "npm is not installed")
endif()
file(MAKE_DIRECTORY ${WORK})
if(EXISTS ${WORK}/missing)
  file(READ ${WORK}/missing why)
endif()
foreach(package ${RADL_PAGE_PACKAGES})
  string(REGEX MATCH "^([^|]*)\\|([^|]*)\\|([^|]*)" head "${package}")
  if(head AND NOT why)
    bring(${CMAKE_MATCH_1} ${CMAKE_MATCH_2} ${CMAKE_MATCH_3} why)
  endif()
endforeach()
if(why)
  message(STATUS "the page of radlc serve is missing: ${why}")
  file(WRITE ${WORK}/missing "${why}")
  file(REMOVE_RECURSE ${OUT})
  return()
endif()

file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT})
set(name "")
foreach(part ${RADL_PAGE_PACKAGES})
  # A list holds the files of a package as elements of their own: its head comes with the first.
  if(part MATCHES "^([^|]*)\\|[^|]*\\|[^|]*\\|(.*)$")
    set(name ${CMAKE_MATCH_1})
    set(part ${CMAKE_MATCH_2})
  endif()
  string(REPLACE "=" ";" pair "${part}")
  list(GET pair 0 from)
  list(GET pair 1 to)
  file(READ ${WORK}/${name}/package/${from} text)
  string(REPLACE "from\"preact\"" "from\"./preact.mjs\"" text "${text}")  # no import map is needed then
  string(REGEX REPLACE "\n//# sourceMappingURL=[^\n]*" "" text "${text}")
  file(WRITE ${OUT}/${to} "${text}")
endforeach()
file(GLOB own ${SOURCE}/*)
foreach(file ${own})
  get_filename_component(to ${file} NAME)
  if(NOT to STREQUAL "index.html")
    file(COPY_FILE ${file} ${OUT}/${to})
  endif()
endforeach()
file(COPY_FILE ${SOURCE}/index.html ${OUT}/index.html.new)
file(GLOB all ${OUT}/*.mjs ${OUT}/*.js ${OUT}/*.css)
foreach(file ${all})
  get_filename_component(base ${file} NAME)
  file(ARCHIVE_CREATE OUTPUT ${file}.gz PATHS ${file} FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
endforeach()
file(RENAME ${OUT}/index.html.new ${OUT}/index.html)
