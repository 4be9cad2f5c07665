#include "engine/kernels/own/winograd_gradient.h"

#include <cstring>

#include "engine/kernels/parallel.h"

namespace radl::engine::own {

namespace {

constexpr size_t kOwnSums = 256 << 10;  // bytes of sums up to which each thread has its own
constexpr size_t kApartPairs = 256 << 10, kTogetherPairs = 6 << 20;  // bytes of a strip's transformed tiles

}  // namespace

WinogradGradient::WinogradGradient(const ConvRequest& r, const WinogradKernels& kernels)
    : r_(r),
      kernels_(kernels),
      tiling_(r.geometry, kernels.tile, false, true, kernels.tile == 4),
      rows_(tiling_),
      view_{r.geometry.oc, r.geometry.c, static_cast<size_t>(r.geometry.c) * 9, 9, false},
      apart_(blocks() * block_sums() * sizeof(float) <= kOwnSums),
      parts_(r.threads) {
  units_in_slot_ = tiling_.segment == 1 ? 2 : 1;
  pairs_in_slot_ = std::max(1, tiling_.segment / 2);
  const size_t all = slots(r.geometry.n) * pairs_in_slot_;
  const size_t pair_bytes = kernels.places * 64 * (tiling_.in_blocks() + tiling_.out_blocks());
  plan_strips(std::clamp<size_t>((apart_ ? kApartPairs : kTogetherPairs) / pair_bytes, apart_ ? 8 : 64, all));
}

void WinogradGradient::plan_strips(size_t pairs) {
  strip_ = std::max<size_t>(1, pairs / pairs_in_slot_);
  single_strip_ = strip_ >= slots(r_.geometry.n);
  // A line more than they need, so that places do not fall into the same cache sets.
  layout_.place = (strip_ * pairs_in_slot_ + 1) * 32;
  layout_.block = kernels_.places * layout_.place;
}

size_t WinogradGradient::scratch_bytes() const {
  const size_t pairs = pair_values(tiling_.in_blocks() + tiling_.out_blocks()) * sizeof(uint16_t);
  const size_t sums = blocks() * block_sums() * sizeof(float);
  if (apart_) return sums + pairs;
  const size_t threads = r_.threads;
  return (pairs + (single_strip_ ? 0 : sums)) / threads + 64 + block_sums() * sizeof(float);
}

void WinogradGradient::run(int n, const void* x, const void* dy, float* dw) {
  apart_ ? run_apart(n, x, dy, dw) : run_together(n, x, dy, dw);
}

void WinogradGradient::transform(size_t slot, int at, int n, const void* x, const void* dy,
                                 const Pairs& to) const {
  const size_t first = slot * units_in_slot_;
  const TileUnit unit = tiling_.unit(first);
  const TileRow in = rows_.inputs(unit, x), out = rows_.outputs(unit, dy);
  if (units_in_slot_ == 1) {
    kernels_.input_pairs(in, nullptr, layout_, at, to.inputs);
    kernels_.gradient_pairs(out, nullptr, layout_, at, to.gradients);
    return;
  }
  const bool both = first + 1 < tiling_.units(n);
  const TileUnit next = both ? tiling_.unit(first + 1) : unit;
  const TileRow in2 = both ? rows_.inputs(next, x) : rows_.nothing(tiling_.c);
  const TileRow out2 = both ? rows_.outputs(next, dy) : rows_.nothing(tiling_.oc);
  kernels_.input_pairs(in, &in2, layout_, at, to.inputs);
  kernels_.gradient_pairs(out, &out2, layout_, at, to.gradients);
}

// Blocks are numbered output block by output block.
void WinogradGradient::multiply(size_t block, int place, int pairs, const Pairs& from, bool add,
                                float* sums) const {
  const size_t in = block % tiling_.in_blocks(), out = block / tiling_.in_blocks();
  kernels_.multiply_pairs(pairs, from.inputs + in * layout_.block + place * layout_.place,
                          from.gradients + out * layout_.block + place * layout_.place, add, sums);
}

void WinogradGradient::unpack(size_t block, const float* const* sums, int parts, size_t at, size_t place,
                              float* dw) const {
  const int in = static_cast<int>(block % tiling_.in_blocks()),
            out = static_cast<int>(block / tiling_.in_blocks());
  kernels_.unpack_gradient(view_, sums, parts, at, place, out, in, dw);
}

// Sums: [block][place][256].
void WinogradGradient::run_apart(int n, const void* x, const void* dy, float* dw) {
  const size_t all = slots(n), strips = (all + strip_ - 1) / strip_, each = blocks() * block_sums();
  for (int t = 0; t < r_.threads; ++t) {
    parts_[t] = reinterpret_cast<float*>(r_.workspace->of(t));
    if (strips < static_cast<size_t>(r_.threads)) std::memset(parts_[t], 0, each * sizeof(float));
  }
  parallel_for(r_.threads, strips, 1, [&](size_t begin, size_t end, int thread) {
    float* sums = parts_[thread];
    Pairs pairs{reinterpret_cast<uint16_t*>(sums + each), nullptr};
    pairs.gradients = pairs.inputs + pair_values(tiling_.in_blocks());
    for (size_t strip = begin; strip < end; ++strip) {
      const size_t first = strip * strip_, count = std::min(strip_, all - first);
      for (size_t i = 0; i < count; ++i)
        transform(first + i, static_cast<int>(i) * pairs_in_slot_, n, x, dy, pairs);
      for (size_t b = 0; b < blocks(); ++b)
        for (int p = 0; p < kernels_.places; ++p)
          multiply(b, p, static_cast<int>(count) * pairs_in_slot_, pairs, strip > begin,
                   sums + b * block_sums() + p * 256);
    }
  });
  parallel_for(r_.threads, blocks(), 1, [&](size_t begin, size_t end, int) {
    for (size_t b = begin; b < end; ++b) unpack(b, parts_.data(), r_.threads, b * block_sums(), 256, dw);
  });
}

// Sums: [place][block][256], or one block's in each thread's scratch.
void WinogradGradient::run_together(int n, const void* x, const void* dy, float* dw) {
  const size_t all = slots(n), strips = (all + strip_ - 1) / strip_;
  Pairs pairs{reinterpret_cast<uint16_t*>(r_.workspace->of(0)), nullptr};
  pairs.gradients = pairs.inputs + pair_values(tiling_.in_blocks());
  float* sums = reinterpret_cast<float*>(pairs.gradients + pair_values(tiling_.out_blocks()));
  for (size_t strip = 0; strip < strips; ++strip) {
    const size_t first = strip * strip_, count = std::min(strip_, all - first);
    const int used = static_cast<int>(count) * pairs_in_slot_;
    parallel_for(r_.threads, count, 1, [&](size_t begin, size_t end, int) {
      for (size_t i = begin; i < end; ++i)
        transform(first + i, static_cast<int>(i) * pairs_in_slot_, n, x, dy, pairs);
    });
    parallel_for(r_.threads, blocks(), 1, [&](size_t begin, size_t end, int thread) {
      if (single_strip_) {
        float* block = sums + thread * block_sums();
        for (size_t b = begin; b < end; ++b) {
          for (int p = 0; p < kernels_.places; ++p) multiply(b, p, used, pairs, false, block + p * 256);
          unpack(b, &block, 1, 0, 256, dw);
        }
        return;
      }
      for (int p = 0; p < kernels_.places; ++p)
        for (size_t b = begin; b < end; ++b)
          multiply(b, p, used, pairs, strip > 0, sums + (p * blocks() + b) * 256);
      for (size_t b = begin; strip + 1 == strips && b < end; ++b)
        unpack(b, &sums, 1, b * 256, blocks() * 256, dw);
    });
  }
}

}  // namespace radl::engine::own
