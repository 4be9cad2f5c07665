#include "engine/kernels/own/winograd_gradient.h"

#include <cstring>

#include "engine/kernels/parallel.h"

namespace radl::engine::own {

namespace {

constexpr size_t kOwnSums = 256 << 10;  // bytes of sums up to which each thread has its own
// Bytes of a strip's transformed tiles; the first where the second-level cache has a MiB.
constexpr size_t kApartPairs = 256 << 10, kTogetherPairs = 6 << 20;

}  // namespace

WinogradGradient::WinogradGradient(const ConvRequest& r, const WinogradKernels& kernels)
    : r_(r),
      kernels_(kernels),
      tiling_(r.geometry, kernels, false, true),
      rows_(tiling_, kernels.value_bytes),
      view_{r.geometry.oc, r.geometry.c, static_cast<size_t>(r.geometry.c) * 9, 9, false},
      apart_(blocks() * block_sums() * sizeof(float) <= kOwnSums),
      parts_(r.threads) {
  units_in_slot_ = tiling_.segment == 1 || tiling_.trimmed() ? 2 : 1;
  pairs_in_slot_ = std::max(1, tiling_.segment * units_in_slot_ / 2);
  const size_t all = slots(r.geometry.n) * pairs_in_slot_;
  const size_t pair_bytes =
      kernels.places * 32 * kernels.work_bytes * (tiling_.in_blocks() + tiling_.out_blocks());
  const size_t bytes = apart_ ? kernels_.cache_mib * kApartPairs : kTogetherPairs;
  plan_strips(std::clamp<size_t>(bytes / pair_bytes, apart_ ? 8 : 64, all));
}

void WinogradGradient::plan_strips(size_t pairs) {
  strip_ = std::max<size_t>(1, pairs / pairs_in_slot_);
  if (tiling_.trimmed()) strip_ = whole_images(static_cast<int>(strip_), tiling_.tile_rows);
  single_strip_ = strip_ >= slots(r_.geometry.n);
  // A line more than they need, so that places do not fall into the same cache sets.
  layout_.place =
      (round_up(static_cast<int>(strip_) * pairs_in_slot_, kernels_.pair_multiple) + size_t{1}) * 32;
  layout_.block = kernels_.places * layout_.place;
}

size_t WinogradGradient::scratch_bytes() const {
  const size_t pairs = pair_bytes(tiling_.in_blocks() + tiling_.out_blocks());
  const size_t sums = blocks() * block_sums() * sizeof(float);
  if (apart_) return sums + pairs;
  const size_t threads = r_.threads;
  return (pairs + (single_strip_ ? 0 : sums)) / threads + 64 +
         kernels_.group * kernels_.group * block_sums() * sizeof(float);
}

size_t WinogradGradient::groups() const {
  const int n = kernels_.group;
  return static_cast<size_t>((tiling_.in_blocks() + n - 1) / n) * ((tiling_.out_blocks() + n - 1) / n);
}

// Numbered output by output.
WinogradGradient::Group WinogradGradient::group(size_t index) const {
  const int n = kernels_.group, across = (tiling_.in_blocks() + n - 1) / n;
  const int in = static_cast<int>(index % across) * n, out = static_cast<int>(index / across) * n;
  return {in, out, std::min(n, tiling_.in_blocks() - in), std::min(n, tiling_.out_blocks() - out)};
}

void WinogradGradient::run(int n, const void* x, const void* dy, float* dw, WindowIndex index) {
  index_ = index;
  apart_ ? run_apart(n, x, dy, dw) : run_together(n, x, dy, dw);
}

// With trimmed tiles, a slot is the same row of tiles in two images; otherwise, consecutive units.
size_t WinogradGradient::slots(int n) const {
  const size_t units = tiling_.units(n);
  if (!tiling_.trimmed()) return (units + units_in_slot_ - 1) / units_in_slot_;
  return (static_cast<size_t>(n) + 1) / 2 * tiling_.tile_rows;
}

std::pair<size_t, size_t> WinogradGradient::units_of(size_t slot) const {
  const size_t rows = tiling_.trimmed() ? tiling_.tile_rows : 1;
  const size_t first = slot / rows * rows * units_in_slot_ + slot % rows;
  return {first, first + rows};
}

void WinogradGradient::transform(size_t slot, const TilePositions& at, int n, const void* x, const void* dy,
                                 const Pairs& to) const {
  const auto [first, second] = units_of(slot);
  const TileUnit unit = tiling_.unit(first);
  const TileRow in = rows_.inputs(unit, x), out = rows_.outputs(unit, dy, index_);
  if (units_in_slot_ == 1) {
    kernels_.input_pairs(in, nullptr, layout_, at, to.inputs);
    kernels_.gradient_pairs(out, nullptr, layout_, at, to.gradients);
    return;
  }
  const bool both = second < tiling_.units(n);
  const TileUnit next = both ? tiling_.unit(second) : unit;
  const TileRow in2 = both ? rows_.inputs(next, x) : rows_.nothing(tiling_.c);
  const TileRow out2 = both ? rows_.outputs(next, dy, index_) : rows_.nothing(tiling_.oc);
  kernels_.input_pairs(in, &in2, layout_, at, to.inputs);
  kernels_.gradient_pairs(out, &out2, layout_, at, to.gradients);
}

size_t WinogradGradient::arrangements() const {
  if (!kernels_.arrange_inputs) return 0;
  return static_cast<size_t>(tiling_.in_blocks() + tiling_.out_blocks()) * kernels_.places;
}

void WinogradGradient::arrange(size_t begin, size_t end, int pairs, const Pairs& p) const {
  const size_t inputs = static_cast<size_t>(tiling_.in_blocks()) * kernels_.places;
  const auto at = [&](size_t i) {
    return (i / kernels_.places * layout_.block + i % kernels_.places * layout_.place) * kernels_.work_bytes;
  };
  for (size_t i = begin; i < end; ++i) {
    if (i < inputs)
      kernels_.arrange_inputs(pairs, p.inputs + at(i));
    else
      kernels_.arrange_gradients(pairs, p.gradients + at(i - inputs));
  }
}

void WinogradGradient::multiply(const Group& g, int place, const TileShapes& pairs, const Pairs& from,
                                bool add, const SumsLayout& sums) const {
  const int side = kernels_.tile + 2, row = place % side, begin = pairs.begin_at(row);
  const size_t at = place * layout_.place + static_cast<size_t>(begin) * 32;
  kernels_.multiply_pairs({.pairs = pairs.end_at(row, place / side) - begin,
                           .in_blocks = g.ins,
                           .out_blocks = g.outs,
                           .inputs = from.inputs + (g.in * layout_.block + at) * kernels_.work_bytes,
                           .gradients = from.gradients + (g.out * layout_.block + at) * kernels_.work_bytes,
                           .block = layout_.block,
                           .add = add,
                           .sums = sums.at + place * sums.place,
                           .next_in = sums.next_in,
                           .next_out = sums.next_out});
}

void WinogradGradient::unpack(int in, int out, const float* const* sums, int parts, size_t at, size_t place,
                              float* dw) const {
  kernels_.unpack_gradient(view_, sums, parts, at, place, out, in, dw);
}

void WinogradGradient::unpack(const Group& g, const SumsLayout& sums, float* dw) const {
  const float* from = sums.at;
  for (int out = 0; out < g.outs; ++out)
    for (int in = 0; in < g.ins; ++in)
      unpack(g.in + in, g.out + out, &from, 1, in * sums.next_in + out * sums.next_out, sums.place, dw);
}

// Sums: [out block][in block][place][256].
void WinogradGradient::run_apart(int n, const void* x, const void* dy, float* dw) {
  const size_t all = slots(n), strips = even_strips(all, strip_, r_.threads), each = blocks() * block_sums();
  const size_t in_blocks = tiling_.in_blocks(), grain = strip_grain(tiling_, strip_);
  for (int t = 0; t < r_.threads; ++t) parts_[t] = reinterpret_cast<float*>(r_.workspace->of(t));
  parallel_for(r_.threads, strips, 1, [&](size_t begin, size_t end, int thread) {
    const ProductScope scope(kernels_);
    float* sums = parts_[thread];
    Pairs pairs{reinterpret_cast<std::byte*>(sums + each), nullptr};
    pairs.gradients = pairs.inputs + pair_bytes(tiling_.in_blocks());
    bool add = false;
    for (size_t strip = begin; strip < end; ++strip) {
      const auto [first, last] = share_of(all, static_cast<int>(strip), static_cast<int>(strips), grain);
      const size_t count = last - first;
      if (count == 0) continue;
      const TileOrder order(tiling_, static_cast<int>(count), pairs_in_slot_);
      for (size_t i = 0; i < count; ++i)
        transform(first + i, order.row(static_cast<int>(i)), n, x, dy, pairs);
      arrange(0, arrangements(), order.shapes().tiles(), pairs);
      for (size_t i = 0; i < groups(); ++i) {
        const Group g = group(i);
        const SumsLayout to{sums + g.first_block(in_blocks) * block_sums(), 256, block_sums(),
                            in_blocks * block_sums()};
        for (int p = 0; p < kernels_.places; ++p) multiply(g, p, order.shapes(), pairs, add, to);
      }
      add = true;
    }
    if (!add) std::memset(sums, 0, each * sizeof(float));
  });
  parallel_for(r_.threads, blocks(), 1, [&](size_t begin, size_t end, int) {
    for (size_t b = begin; b < end; ++b)
      unpack(b % in_blocks, b / in_blocks, parts_.data(), r_.threads, b * block_sums(), 256, dw);
  });
}

// Sums: [place][out block][in block][256], or one group's in each thread's scratch.
void WinogradGradient::run_together(int n, const void* x, const void* dy, float* dw) {
  const size_t all = slots(n), strips = (all + strip_ - 1) / strip_;
  Pairs pairs{r_.workspace->of(0), nullptr};
  pairs.gradients = pairs.inputs + pair_bytes(tiling_.in_blocks());
  float* sums = reinterpret_cast<float*>(pairs.gradients + pair_bytes(tiling_.out_blocks()));
  for (size_t strip = 0; strip < strips; ++strip) {
    const size_t first = strip * strip_, count = std::min(strip_, all - first);
    const TileOrder order(tiling_, static_cast<int>(count), pairs_in_slot_);
    parallel_for(r_.threads, count, 1, [&](size_t begin, size_t end, int) {
      for (size_t i = begin; i < end; ++i)
        transform(first + i, order.row(static_cast<int>(i)), n, x, dy, pairs);
    });
    parallel_for(r_.threads, arrangements(), 1,
                 [&](size_t begin, size_t end, int) { arrange(begin, end, order.shapes().tiles(), pairs); });
    parallel_for(r_.threads, groups(), 1, [&](size_t begin, size_t end, int thread) {
      const ProductScope scope(kernels_);
      multiply_strip({begin, end}, thread, order.shapes(), strip > 0, strip + 1 == strips, pairs, sums, dw);
    });
  }
}

// One thread's groups of run_together().
void WinogradGradient::multiply_strip(Share share, int thread, const TileShapes& used, bool add, bool last,
                                      const Pairs& pairs, float* sums, float* dw) const {
  const size_t in_blocks = tiling_.in_blocks(), side = kernels_.group;
  if (single_strip_) {
    const SumsLayout to{sums + thread * side * side * block_sums(), 256, block_sums(), side * block_sums()};
    for (size_t i = share.begin; i < share.end; ++i) {
      const Group g = group(i);
      for (int p = 0; p < kernels_.places; ++p) multiply(g, p, used, pairs, false, to);
      unpack(g, to, dw);
    }
    return;
  }
  const auto layout = [&](const Group& g) {
    return SumsLayout{sums + g.first_block(in_blocks) * 256, blocks() * 256, 256, in_blocks * 256};
  };
  for (int p = 0; p < kernels_.places; ++p)
    for (size_t i = share.begin; i < share.end; ++i)
      multiply(group(i), p, used, pairs, add, layout(group(i)));
  for (size_t i = share.begin; last && i < share.end; ++i) unpack(group(i), layout(group(i)), dw);
}

}  // namespace radl::engine::own
