// Finds the functions of libraries that are loaded at their first call (cmake/RadlOnDemand.cmake).
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>

// Called by the assembly that cmake/on_demand.py generates. A missing library ends the program with the
// message and status of the dynamic loader, which would have reported it at the start.
extern "C" void* radl_load_function(const char* library, const char* function) {
  void* loaded = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  void* found = loaded == nullptr ? nullptr : ::dlsym(loaded, function);
  if (found != nullptr) return found;
  const char* reason = ::dlerror();
  std::fprintf(stderr, "radlc: error while loading shared libraries: %s\n",
               reason != nullptr ? reason : library);
  std::fflush(stdout);
  ::_exit(127);
}
