// Much memory comes in huge pages: of a large plan a seventh of the time was the kernel handing out small
// ones.
#pragma once

namespace radl::cli {

// From now on. Nothing, where the allocator is not jemalloc or the kernel has no such pages.
void use_huge_pages_for_much();

}  // namespace radl::cli
