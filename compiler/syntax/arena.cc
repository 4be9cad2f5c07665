#include "compiler/syntax/arena.h"

#include <sys/mman.h>

namespace radl {

MemoryBlock allocate_block(size_t size) {
  bool huge = size >= kHugePage;
  if (huge) size = (size + kHugePage - 1) & ~(kHugePage - 1);
  void* made = huge ? std::aligned_alloc(kHugePage, size) : std::malloc(size);
  if (!made) throw std::bad_alloc();
  if (huge) madvise(made, size, MADV_HUGEPAGE);  // advice: without huge pages all goes on as before
  return MemoryBlock(static_cast<char*>(made));
}

void Arena::grow(size_t least) {
  // Blocks grow from 4 KiB: a small file costs little, a large one soon gets blocks of huge pages, each of
  // which is one page fault instead of 512.
  size_t size = next_ > least ? next_ : least;
  if (next_ < kHugePage) next_ *= 8;
  blocks_.push_back(allocate_block(size));
  block_ = blocks_.back().get();
  capacity_ = size;
  used_ = 0;
  total_ += size;
}

}  // namespace radl
