// The weight gradient of a Winograd convolution: G^T (sum over tiles of B^T d B x A dy A^T) G.
#pragma once

#include <utility>
#include <vector>

#include "engine/kernels/conv.h"
#include "engine/kernels/own/winograd_tiling.h"
#include "engine/kernels/parallel.h"

namespace radl::engine::own {

// With few channels, each thread has its own tiles and sums, which stay in the second-level cache; the
// threads' sums are added in thread order. With many channels, the threads transform a large strip of tiles
// together; then each multiplies its share of the channel blocks over all of it. The sums then pass through
// memory once per strip, or not at all if there is one strip.
class WinogradGradient {
 public:
  WinogradGradient(const ConvRequest& r, const WinogradKernels& kernels);
  // Workspace that the request needs, per thread.
  size_t scratch_bytes() const;
  // `index`: for pooled outputs; dy is then their gradient.
  void run(int n, const void* x, const void* dy, float* dw, WindowIndex index = nullptr);

 private:
  struct Pairs {
    std::byte *inputs, *gradients;
  };
  size_t slots(int n) const;
  // A slot's units; the second may be past the end.
  std::pair<size_t, size_t> units_of(size_t slot) const;
  size_t blocks() const { return static_cast<size_t>(tiling_.in_blocks()) * tiling_.out_blocks(); }
  size_t block_sums() const { return static_cast<size_t>(kernels_.places) * 256; }
  size_t pair_bytes(int blocks) const { return blocks * layout_.block * kernels_.work_bytes; }
  // The blocks of channels that are multiplied together.
  struct Group {
    int in, out;    // the first blocks
    int ins, outs;  // number of blocks
    size_t first_block(int in_blocks) const { return static_cast<size_t>(out) * in_blocks + in; }
  };
  // Where a group's sums are, in floats: of its first blocks at the first place, and the distances between.
  struct SumsLayout {
    float* at;
    size_t place, next_in, next_out;
  };
  size_t groups() const;
  Group group(size_t index) const;
  void plan_strips(size_t pairs);
  void transform(size_t slot, const TilePositions& at, int n, const void* x, const void* dy,
                 const Pairs& to) const;
  // Both handle a share of all [block][place], blocks of inputs before those of outputs.
  size_t arrangements() const;
  void arrange(size_t begin, size_t end, int pairs, const Pairs& p) const;
  void multiply(const Group& g, int place, const TileShapes& pairs, const Pairs& from, bool add,
                const SumsLayout& sums) const;
  void unpack(int in, int out, const float* const* sums, int parts, size_t at, size_t place, float* dw) const;
  void unpack(const Group& g, const SumsLayout& sums, float* dw) const;
  void run_apart(int n, const void* x, const void* dy, float* dw);
  void run_together(int n, const void* x, const void* dy, float* dw);
  void multiply_strip(Share share, int thread, const TileShapes& used, bool add, bool last,
                      const Pairs& pairs, float* sums, float* dw) const;

  ConvRequest r_;
  const WinogradKernels& kernels_;
  Tiling tiling_;
  TileRows rows_;
  FilterView view_;
  PairLayout layout_;
  int units_in_slot_ = 1, pairs_in_slot_ = 1;  // a slot is transformed as a whole
  size_t strip_ = 1;                           // slots
  bool apart_ = true, single_strip_ = false;
  WindowIndex index_ = nullptr;  // of this run
  std::vector<float*> parts_;
};

}  // namespace radl::engine::own
