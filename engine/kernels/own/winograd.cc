// Winograd convolutions: strips of tiles, each transformed into this thread's scratch, multiplied and
// transformed back while it is in the cache.
#include "engine/kernels/own/winograd.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/kernels/bias.h"
#include "engine/kernels/cpu.h"
#include "engine/kernels/own/conv.h"
#include "engine/kernels/own/plan.h"
#include "engine/kernels/parallel.h"

namespace radl::engine {

namespace {

using own::TileOutput;
using own::TileRow;
using own::WinogradKernels;

constexpr int kStripTiles = 48;

// How the 2x2 tiles of `n` pictures are cut: units are tile rows, or parts of wide ones.
struct Tiling {
  int h = 0, w = 0, c = 0;     // of what is transformed
  int oh = 0, ow = 0, oc = 0;  // of what is tiled
  int pt = 0, pl = 0;
  int tile_rows = 0, segments = 0, segment = 0;  // tiles in a segment: even

  Tiling() = default;
  Tiling(const ConvGeometry& g, bool backward)
      : h(backward ? g.oh : g.h),
        w(backward ? g.ow : g.w),
        c(backward ? g.oc : g.c),
        oh(backward ? g.h : g.oh),
        ow(backward ? g.w : g.ow),
        oc(backward ? g.c : g.oc),
        pt(backward ? 2 - g.pt : g.pt),
        pl(backward ? 2 - g.pl : g.pl),
        tile_rows((oh + 1) / 2) {
    const int tiles = (ow + 1) / 2;
    segments = (tiles + kStripTiles - 1) / kStripTiles;  // at most kGradientTiles each
    segment = own::round_up((tiles + segments - 1) / segments, 2);
  }
  size_t units(int n) const { return static_cast<size_t>(n) * tile_rows * segments; }
  int units_in_strip(int tiles) const { return std::max(1, tiles / segment); }
  int in_blocks() const { return (c + 15) / 16; }
  int out_blocks() const { return (oc + 15) / 16; }
};

struct Unit {
  size_t picture;
  int row, column;  // of its first tile's first output
};

Unit unit_at(const Tiling& t, size_t index) {
  const int segment = static_cast<int>(index % t.segments);
  const size_t row = index / t.segments;
  return {row / t.tile_rows, static_cast<int>(row % t.tile_rows) * 2, segment * t.segment * 2};
}

class WinogradConv : public ConvKernel {
 public:
  explicit WinogradConv(const ConvRequest& r)
      : r_(r),
        g_(r.geometry),
        kernels_(own::winograd_bf16()),
        forward_(g_, false),
        backward_(g_, true),
        zeros_(2 * (std::max(g_.c, g_.oc) + 32)),
        bias_sums_(r.type, g_.oc, r.threads) {
    forward_weights_ = Buffer(weight_values(forward_) * 2);
    size_t scratch = pass_bytes(forward_);
    if (r.backward_data) {
      backward_weights_ = Buffer(weight_values(backward_) * 2);
      scratch = std::max(scratch, pass_bytes(backward_));
    }
    if (r.backward_weights)
      scratch = std::max(scratch, sum_floats() * 4 + pair_values(g_.c) * 2 + pair_values(g_.oc) * 2);
    r_.workspace->reserve(scratch);
    lanes_ = static_cast<size_t>(forward_.out_blocks()) * 16;
    item_sums_.resize(r.threads * 2 * lanes_);
    thread_sums_.resize(r.threads * 2 * lanes_);
    outputs_.resize(static_cast<size_t>(r.threads) *
                    strip_tiles(std::max(forward_.segment, backward_.segment)));
    dbias_.resize(2 * g_.oc);
    parts_.resize(r.threads);
  }

  void set_weights(const float* weights, bool training) override {
    const size_t filter = static_cast<size_t>(g_.c) * 9;
    pack({g_.oc, g_.c, filter, 9, false}, weights, forward_weights_);
    if (training && r_.backward_data) pack({g_.c, g_.oc, 9, filter, true}, weights, backward_weights_);
  }

  bool fuses_sums() const override { return true; }

  void forward(int n, const void* x, const float* bias, void* y, double* sums) override {
    std::fill(thread_sums_.begin(), thread_sums_.end(), 0.0);
    run_pass(forward_, n, x, forward_weights_, y, {.bias = bias}, sums != nullptr);
    if (!sums) return;
    for (int c = 0; c < g_.oc; ++c) {
      sums[c] = sums[g_.oc + c] = 0;
      for (int t = 0; t < r_.threads; ++t) {
        sums[c] += thread_sums_[t * 2 * lanes_ + c];
        sums[g_.oc + c] += thread_sums_[t * 2 * lanes_ + lanes_ + c];
      }
    }
  }

  void backward_data(int n, const void* dy, void* dx, bool add) override {
    run_pass(backward_, n, dy, backward_weights_, dx, {.add = add}, false);
  }

  void backward_weights(int n, const void* x, const void* dy, float* dw, float* dbias) override {
    const int units = forward_.units_in_strip(own::kGradientTiles);
    const size_t all = forward_.units(n), strips = (all + units - 1) / units;
    for (int t = 0; t < r_.threads; ++t) {
      parts_[t] = reinterpret_cast<float*>(r_.workspace->of(t));
      std::memset(r_.workspace->of(t), 0, sum_floats() * 4);
    }
    parallel_for(r_.threads, strips, 1, [&](size_t begin, size_t end, int thread) {
      for (size_t strip = begin; strip < end; ++strip)
        gradient_strip(strip * units, std::min<size_t>(units, all - strip * units), x, dy, thread);
    });
    const own::FilterView view{g_.oc, g_.c, static_cast<size_t>(g_.c) * 9, 9, false};
    parallel_for(r_.threads, forward_.out_blocks(), 1, [&](size_t begin, size_t end, int) {
      kernels_.unpack_gradient(view, parts_.data(), r_.threads, static_cast<int>(begin),
                               static_cast<int>(end), dw);
    });
    if (!dbias) return;
    bias_sums_.run(dy, static_cast<size_t>(n) * g_.oh * g_.ow, dbias_.data());
    for (int o = 0; o < g_.oc; ++o) dbias[o] = static_cast<float>(dbias_[o]);
  }

  size_t memory_bytes() const override { return forward_weights_.size() + backward_weights_.size(); }
  std::string name() const override { return "own winograd avx512_bf16"; }
  bool rounds_inside() const override { return true; }

 private:
  static size_t weight_values(const Tiling& t) {
    return static_cast<size_t>(own::kPlaces) * t.in_blocks() * t.out_blocks() * 256;
  }
  static int strip_tiles(int segment, int wanted = kStripTiles) {
    return std::max(1, wanted / segment) * segment;
  }
  static size_t input_values(const Tiling& t) {
    return static_cast<size_t>(own::kPlaces) * strip_tiles(t.segment) * t.in_blocks() * 16;
  }
  static size_t pass_bytes(const Tiling& t) { return input_values(t) * 2 + strip_tiles(t.segment) * 256; }
  static size_t pair_values(int channels) {
    return static_cast<size_t>(channels + 15) / 16 * own::kPlaces * own::kPairPlace;
  }
  size_t sum_floats() const { return weight_values(forward_); }

  void pack(const own::FilterView& view, const float* filters, Buffer& out) {
    const int blocks = (view.outputs + 15) / 16;
    parallel_for(r_.threads, blocks, 1, [&](size_t begin, size_t end, int) {
      kernels_.pack_weights(view, filters, static_cast<int>(begin), static_cast<int>(end),
                            out.as<uint16_t>());
    });
  }

  // Row `y` of a picture of h x w x c values, or zeros.
  void set_row(TileRow& r, int i, const uint16_t* pictures, size_t picture, int y, int h, int w, int c) {
    const bool inside = y >= 0 && y < h;
    r.row[i] = inside ? pictures + (picture * h + y) * w * c : zeros_.as<uint16_t>();
    r.step[i] = inside ? c : 0;
  }

  TileRow input_row(const Tiling& t, const Unit& u, const void* x) {
    TileRow r{.w = t.w,
              .first = u.column - t.pl,
              .tiles = t.segment,
              .channels = t.c,
              .ahead = static_cast<size_t>(2) * t.w * t.c};
    for (int i = 0; i < 4; ++i)
      set_row(r, i, static_cast<const uint16_t*>(x), u.picture, u.row - t.pt + i, t.h, t.w, t.c);
    return r;
  }

  void run_pass(const Tiling& t, int n, const void* x, Buffer& weights, void* y, own::ProductShape shape,
                bool sums) {
    const int units = t.units_in_strip(kStripTiles);
    const size_t all = t.units(n), strips = (all + units - 1) / units;
    shape.in_blocks = t.in_blocks(), shape.channels = t.oc,
    shape.row_stride = static_cast<size_t>(t.ow) * t.oc;
    parallel_for(r_.threads, strips, 1, [&](size_t begin, size_t end, int thread) {
      uint16_t* values = reinterpret_cast<uint16_t*>(r_.workspace->of(thread));
      float* partial = reinterpret_cast<float*>(values + input_values(t));
      TileOutput* out = outputs_.data() + thread * (outputs_.size() / r_.threads);
      own::ProductShape s = shape;
      s.sums = sums ? item_sums_.data() + thread * 2 * lanes_ : nullptr;
      for (size_t strip = begin; strip < end; ++strip) {
        const size_t first = strip * units, count = std::min<size_t>(units, all - first);
        s.tiles = static_cast<int>(count) * t.segment;
        for (size_t i = 0; i < count; ++i) {
          const Unit u = unit_at(t, first + i);
          kernels_.input(input_row(t, u, x), s.tiles, static_cast<int>(i) * t.segment, values);
          set_outputs(t, u, static_cast<uint16_t*>(y), out + i * t.segment);
        }
        if (sums) std::fill_n(s.sums, 2 * lanes_, 0.0f);
        kernels_.product(s, values, weights.as<uint16_t>(), out, partial);
        for (size_t j = 0; sums && j < 2 * lanes_; ++j) thread_sums_[thread * 2 * lanes_ + j] += s.sums[j];
      }
    });
  }

  static void set_outputs(const Tiling& t, const Unit& u, uint16_t* y, TileOutput* out) {
    uint16_t* at = y + ((u.picture * t.oh + u.row) * t.ow + u.column) * t.oc;
    for (int i = 0; i < t.segment; ++i, at += 2 * t.oc)
      out[i] = {at, std::min(2, t.oh - u.row), std::clamp(t.ow - u.column - 2 * i, 0, 2)};
  }

  void gradient_strip(size_t first, size_t count, const void* x, const void* dy, int thread) {
    const Tiling& t = forward_;
    const int pairs_in_unit = t.segment / 2, pairs = static_cast<int>(count) * pairs_in_unit;
    float* sums = parts_[thread];
    uint16_t* inputs = reinterpret_cast<uint16_t*>(sums + sum_floats());
    uint16_t* gradients = inputs + pair_values(g_.c);
    for (size_t i = 0; i < count; ++i) {
      const Unit u = unit_at(t, first + i);
      const int at = static_cast<int>(i) * pairs_in_unit;
      kernels_.input_pairs(input_row(t, u, x), at, inputs);
      TileRow r{.w = t.ow,
                .first = u.column,
                .tiles = t.segment,
                .channels = t.oc,
                .ahead = static_cast<size_t>(2) * t.ow * t.oc};
      for (int k = 0; k < 2; ++k)
        set_row(r, k, static_cast<const uint16_t*>(dy), u.picture, u.row + k, t.oh, t.ow, t.oc);
      kernels_.gradient_pairs(r, at, gradients);
    }
    kernels_.weights(pairs, t.in_blocks(), t.out_blocks(), inputs, gradients, sums);
  }

  ConvRequest r_;
  ConvGeometry g_;
  const WinogradKernels& kernels_;
  Tiling forward_, backward_;
  Buffer zeros_, forward_weights_, backward_weights_;
  ChannelSums bias_sums_;
  size_t lanes_ = 0;
  std::vector<float> item_sums_;
  std::vector<double> thread_sums_, dbias_;
  std::vector<TileOutput> outputs_;
  std::vector<float*> parts_;
};

}  // namespace

std::string winograd_conv_refusal(const ConvRequest& r) {
  const ConvGeometry& g = r.geometry;
  if (r.type != Type::Bf16) return "winograd kernels are bf16";
  if (!cpu().avx512_bf16) return "winograd kernels need avx512_bf16";
  if (g.kh != 3 || g.kw != 3) return "winograd kernels are 3x3";
  if (g.sh != 1 || g.sw != 1 || g.dh != 1 || g.dw != 1 || g.groups != 1)
    return "winograd kernels have no strides, dilation or groups";
  if (std::max({g.pt, g.pl, g.pb, g.pr}) > 2) return "winograd kernels take padding up to 2";
  if (std::min(g.c, g.oc) < 16) return "winograd kernels take 16 channels or more";
  return "";
}

std::unique_ptr<ConvKernel> make_winograd_conv(const ConvRequest& request) {
  return std::make_unique<WinogradConv>(request);
}

}  // namespace radl::engine
