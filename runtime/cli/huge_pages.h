// Allocates much memory in huge pages. For a large plan, the kernel needed a seventh of the time to hand out
// small ones.
#pragma once

namespace radl::cli {

// Takes effect from the call on. No effect without jemalloc or without kernel support.
void use_huge_pages_for_much();

}  // namespace radl::cli
