// CMake needs a source to precompile headers for (cmake/RadlPrecompiled.cmake).
