#include "runtime/cli/huge_pages.h"

#include <sys/mman.h>

#include <cstddef>

#if __has_include(<jemalloc/jemalloc.h>)
#include <jemalloc/jemalloc.h>

// Weak: a build with another allocator (cmake/RadlPackages.cmake, sanitizers) has none.
extern "C" int mallctl(const char* name, void* old, size_t* old_size, void* now, size_t now_size)
    __attribute__((weak));

namespace radl::cli {
namespace {

// jemalloc asks for more each time, beginning with 2 MiB: pieces of this size come when it has about 11 MiB,
// which no small command reaches.
constexpr size_t kMuch = size_t{4} << 20;
constexpr const char* kHooks = "arena.0.extent_hooks";

extent_hooks_t* usual_hooks() {
  static extent_hooks_t* const usual = [] {
    extent_hooks_t* found = nullptr;
    size_t size = sizeof found;
    return mallctl(kHooks, &found, &size, nullptr, 0) == 0 ? found : nullptr;
  }();
  return usual;
}

void* more(extent_hooks_t*, void* at, size_t size, size_t alignment, bool* zero, bool* commit,
           unsigned arena) {
  extent_hooks_t* usual = usual_hooks();
  void* made = usual->alloc(usual, at, size, alignment, zero, commit, arena);
  if (made != nullptr && size >= kMuch) (void)::madvise(made, size, MADV_HUGEPAGE);
  return made;
}

}  // namespace

void use_huge_pages_for_much() {
  if (&mallctl == nullptr || usual_hooks() == nullptr) return;
  static extent_hooks_t hooks = *usual_hooks();
  hooks.alloc = &more;
  extent_hooks_t* chosen = &hooks;
  (void)mallctl(kHooks, nullptr, nullptr, &chosen, sizeof chosen);
}

}  // namespace radl::cli
#else
namespace radl::cli {
void use_huge_pages_for_much() {}
}  // namespace radl::cli
#endif
