// Winograd convolutions: strips of tiles, each transformed into this thread's scratch, multiplied and
// transformed back while it is in the cache.
#include "engine/kernels/own/winograd.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "engine/kernels/bias.h"
#include "engine/kernels/cpu.h"
#include "engine/kernels/own/conv.h"
#include "engine/kernels/own/output_sums.h"
#include "engine/kernels/own/winograd_gradient.h"
#include "engine/kernels/own/winograd_tiling.h"
#include "engine/kernels/parallel.h"

namespace radl::engine {

namespace {

using own::TileOutput;
using own::TileUnit;
using own::WinogradKernels;

constexpr size_t kStripBytes = 384 << 10;  // of transformed inputs, where the second-level cache has a MiB

// Forward, or the gradient of the inputs, which is the same over turned weights.
class WinogradPass {
 public:
  WinogradPass(const ConvRequest& r, const WinogradKernels& kernels, bool backward)
      : r_(r),
        kernels_(kernels),
        pool_(r.pool && !backward),
        tiling_(r.geometry, kernels, backward),
        rows_(tiling_, kernels.value_bytes),
        in_blocks_(own::round_up(tiling_.in_blocks(), kernels.block_multiple)),
        weights_(static_cast<size_t>(kernels.places) * in_blocks_ * tiling_.out_blocks() * 256 *
                 kernels.work_bytes),
        left_(r.threads) {
    const size_t tile_bytes = static_cast<size_t>(kernels.places) * 16 * kernels.work_bytes * in_blocks_;
    const size_t least = std::max(kernels.least_tiles, kernels.tile_multiple),
                 most = own::round_up(std::max(own::kMostTiles, kernels.least_tiles), kernels.tile_multiple);
    const int fitting =
        static_cast<int>(std::clamp(kernels.cache_mib * kStripBytes / tile_bytes, least, most));
    strip_ = std::max(1, fitting / tiling_.segment);
    if (tiling_.trimmed()) strip_ = own::whole_images(strip_, tiling_.tile_rows);
    outputs_.resize(static_cast<size_t>(r.threads) * strip_tiles());
    if (!backward)
      sums_ = own::OutputSums(strips(r.geometry.n), static_cast<size_t>(tiling_.out_blocks()) * 16);
  }

  size_t scratch_bytes() const { return work_bytes() + padded_tiles() * kernels_.partial * sizeof(float); }
  size_t memory_bytes() const { return weights_.size(); }

  void pack(const own::FilterView& view, const float* filters) {
    parallel_for(r_.threads, tiling_.out_blocks(), 1, [&](size_t begin, size_t end, int) {
      kernels_.pack_weights(view, filters, static_cast<int>(begin), static_cast<int>(end), weights_.data());
    });
  }

  struct Run {
    int n = 0;
    const void* x = nullptr;
    const float* bias = nullptr;
    void* y = nullptr;
    bool add = false;
    double* sums = nullptr;    // null, or [2][channels] for the sums and sums of squares of y
    uint8_t* index = nullptr;  // of pooled outputs, written forward (null: not wanted) and read backward
  };
  void run(const Run& wanted) {
    run_ = wanted;
    const int positions = pool_ ? tiling_.ow / 2 : tiling_.ow;
    shape_ = {.in_blocks = tiling_.in_blocks(),
              .channels = tiling_.oc,
              .row_stride = static_cast<size_t>(positions) * tiling_.oc,
              .bias = wanted.bias,
              .add = wanted.add,
              .pool = pool_};
    const size_t all = strips(wanted.n);
    left_.reset(all);
    on_each_thread(r_.threads, [&](int thread) {
      const own::ProductScope scope(kernels_);
      while (const auto strip = left_.take(thread)) run_strip(*strip, thread);
    });
    if (wanted.sums) sums_.total(all, tiling_.oc, wanted.sums);
  }

 private:
  size_t strip_tiles() const { return static_cast<size_t>(strip_) * tiling_.segment; }
  size_t padded_tiles() const {
    return own::round_up(static_cast<int>(strip_tiles()), kernels_.tile_multiple);
  }
  size_t work_bytes() const {
    return static_cast<size_t>(kernels_.places) * padded_tiles() * in_blocks_ * 16 * kernels_.work_bytes;
  }

  size_t strips(int n) const { return own::even_strips(tiling_.units(n), strip_, r_.threads); }

  void run_strip(size_t strip, int thread) {
    const auto [first, end] = share_of(tiling_.units(run_.n), static_cast<int>(strip),
                                       static_cast<int>(strips(run_.n)), own::strip_grain(tiling_, strip_));
    const size_t count = end - first;
    std::byte* values = r_.workspace->of(thread);
    float* partial = reinterpret_cast<float*>(values + work_bytes());
    TileOutput* out = outputs_.data() + thread * strip_tiles();
    const own::TileOrder order(tiling_, static_cast<int>(count), tiling_.segment);
    own::ProductShape shape = shape_;
    shape.tiles = order.shapes();
    shape.sums = run_.sums ? sums_.of(strip) : nullptr;
    if (count == 0) return;
    for (size_t i = 0; i < count; ++i) {
      const TileUnit u = tiling_.unit(first + i);
      const own::TilePositions at = order.row(static_cast<int>(i));
      kernels_.input(rows_.inputs(u, run_.x, pool_ ? nullptr : run_.index), shape.tiles.tiles(), at, values);
      set_outputs(u, at, static_cast<std::byte*>(run_.y), pool_ ? run_.index : nullptr, out);
    }
    kernels_.product(shape, values, weights_.data(), out, partial);
  }

  void set_outputs(const TileUnit& u, const own::TilePositions& to, std::byte* y, uint8_t* index,
                   TileOutput* out) const {
    const Tiling& t = tiling_;
    const int part = pool_ ? 2 : 1, h = t.oh / part, w = t.ow / part, tile = t.tile / part;
    const int row = u.row / part, column = u.column / part;
    size_t at = ((u.image * h + row) * w + column) * t.oc;
    for (int i = 0; i < t.segment; ++i, at += static_cast<size_t>(tile) * t.oc)
      out[t.narrow && i + 1 == t.segment ? to.narrow : to.first + i * to.step] = {
          y + at * kernels_.value_bytes, std::clamp(h - row, 0, tile),
          std::clamp(w - column - tile * i, 0, tile), index ? index + at : nullptr};
  }

  using Tiling = own::Tiling;
  ConvRequest r_;
  const WinogradKernels& kernels_;
  bool pool_;  // outputs
  Tiling tiling_;
  own::TileRows rows_;
  int in_blocks_;  // rounded up
  Buffer weights_;
  int strip_ = 1;         // units, at most
  own::OutputSums sums_;  // of the strips
  std::vector<TileOutput> outputs_;
  // The current run.
  Run run_;
  own::ProductShape shape_;
  ItemsLeft left_;
};

class WinogradConv : public ConvKernel {
 public:
  WinogradConv(const ConvRequest& r, const WinogradKernels& kernels)
      : g_(r.geometry),
        kernels_(kernels),
        forward_(r, kernels, false),
        bias_sums_(r.type, r.geometry.oc, r.threads),
        dbias_(2 * r.geometry.oc) {
    size_t scratch = forward_.scratch_bytes();
    if (r.backward_data) scratch = std::max(scratch, data_.emplace(r, kernels, true).scratch_bytes());
    if (r.backward_weights) scratch = std::max(scratch, gradient_.emplace(r, kernels).scratch_bytes());
    r.workspace->reserve(scratch);
    rows_ = r.pool ? (g_.oh / 2) * (g_.ow / 2) : g_.oh * g_.ow;
    if (r.pool && (data_ || gradient_)) index_ = Buffer(static_cast<size_t>(g_.n) * rows_ * g_.oc);
  }

  void set_weights(const float* weights, bool training) override {
    const size_t filter = static_cast<size_t>(g_.c) * 9;
    forward_.pack({g_.oc, g_.c, filter, 9, false}, weights);
    if (training && data_) data_->pack({g_.c, g_.oc, 9, filter, true}, weights);
  }
  bool fuses_sums() const override { return true; }
  void forward(int n, const void* x, const float* bias, void* y, double* sums) override {
    forward_.run({n, x, bias, y, false, sums, index()});
  }
  void backward_data(int n, const void* dy, void* dx, bool add) override {
    data_->run({n, dy, nullptr, dx, add, nullptr, index()});
  }
  void backward_weights(int n, const void* x, const void* dy, float* dw, float* dbias) override {
    gradient_->run(n, x, dy, dw, index());
    if (!dbias) return;
    bias_sums_.run(dy, static_cast<size_t>(n) * rows_, dbias_.data());
    for (int o = 0; o < g_.oc; ++o) dbias[o] = static_cast<float>(dbias_[o]);
  }
  size_t memory_bytes() const override {
    return forward_.memory_bytes() + (data_ ? data_->memory_bytes() : 0) + index_.size();
  }
  std::string name() const override { return fmt::format("own winograd {} {}", kernels_.name, kernels_.isa); }
  double inner_rounding() const override { return kernels_.rounding; }

 private:
  uint8_t* index() { return index_.size() ? index_.as<uint8_t>() : nullptr; }

  ConvGeometry g_;
  const WinogradKernels& kernels_;
  WinogradPass forward_;
  std::optional<WinogradPass> data_;
  std::optional<own::WinogradGradient> gradient_;
  size_t rows_ = 0;  // positions of y an image
  Buffer index_;     // pooled: of the last forward pass
  ChannelSums bias_sums_;
  std::vector<double> dbias_;
};

}  // namespace

std::string winograd_conv_refusal(const ConvRequest& r) {
  const ConvGeometry& g = r.geometry;
  if (r.type == Type::Bf16 && !cpu().avx512_bf16) return "winograd kernels in bf16 need avx512_bf16";
  if (r.type == Type::F32 && !cpu().avx2) return "winograd kernels in fp32 need avx2";
  if (g.kh != 3 || g.kw != 3) return "winograd kernels are 3x3";
  if (g.sh != 1 || g.sw != 1 || g.dh != 1 || g.dw != 1 || g.groups != 1)
    return "winograd kernels have no strides, dilation or groups";
  if (std::max({g.pt, g.pl, g.pb, g.pr}) > 2) return "winograd kernels take padding up to 2";
  if (std::min(g.c, g.oc) < 16) return "winograd kernels take 16 channels or more";
  return "";
}

namespace {

// -1: what the processor has.
std::atomic<int> products_for_tests{-1};

}  // namespace

WinogradProducts winograd_products() {
  const int wanted = products_for_tests;
  if (wanted >= 0) return static_cast<WinogradProducts>(wanted);
  return cpu().amx_bf16         ? WinogradProducts::Amx
         : cpu().slow_bf16_dots ? WinogradProducts::Avx512Fp32
                                : WinogradProducts::Avx512;
}

bool by_tile_registers(WinogradProducts products) {
  return products == WinogradProducts::Amx || products == WinogradProducts::AmxEmulated;
}

ScopedWinogradProducts::ScopedWinogradProducts(WinogradProducts products)
    : before_(products_for_tests.exchange(static_cast<int>(products))) {}
ScopedWinogradProducts::~ScopedWinogradProducts() { products_for_tests = before_; }

std::unique_ptr<ConvKernel> make_winograd_conv(const ConvRequest& request, int tile) {
  if (request.type == Type::F32)
    return std::make_unique<WinogradConv>(request,
                                          cpu().avx512 ? own::winograd4_avx512() : own::winograd4_avx2());
  const WinogradProducts products = winograd_products();
  if (products == WinogradProducts::Avx512Fp32 && tile == 4)
    return std::make_unique<WinogradConv>(request, own::winograd4_mixed());
  if (!by_tile_registers(products))
    return std::make_unique<WinogradConv>(request, tile == 2 ? own::winograd2_bf16() : own::winograd4_bf16());
  const bool emulated = products == WinogradProducts::AmxEmulated;
  return std::make_unique<WinogradConv>(
      request, tile == 2 ? own::winograd2_amx(emulated) : own::winograd4_amx(emulated));
}

int winograd_tile(const ConvGeometry& g, Type type) {
  const auto products = [&](int tile) {
    return (tile + 2) * (tile + 2) * ((g.oh + tile - 1) / tile) * ((g.ow + tile - 1) / tile);
  };
  if (type == Type::F32) return 10 * products(4) <= 6 * 9 * g.oh * g.ow ? 4 : 0;
  return products(4) < products(2) ? 4 : 2;
}

}  // namespace radl::engine
