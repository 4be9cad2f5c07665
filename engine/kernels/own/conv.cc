// Our convolutions: cut into items by plan.cc, each item packed into this thread's scratch and computed by
// direct.inc.
#include "engine/kernels/own/conv.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/kernels/bias.h"
#include "engine/kernels/cpu.h"
#include "engine/kernels/own/output_sums.h"
#include "engine/kernels/own/plan.h"
#include "engine/kernels/parallel.h"

namespace radl::engine {

namespace {

using own::DirectKernels;
using own::PassPlan;
using own::WeightPlan;

// Position of a weight in the master layout, from the perspective of a pass.
struct WeightView {
  size_t out_stride, in_stride;  // of the pass's output and input channels
  int taps;
  bool flipped;
};

class OwnConv : public ConvKernel {
 public:
  explicit OwnConv(const ConvRequest& r)
      : r_(r),
        g_(r.geometry),
        kernels_(r.type == Type::Bf16 ? own::direct_bf16() : own::direct_f32()),
        forward_(own::plan_forward(g_, kernels_.values_per_unit)),
        bias_sums_(r.type, g_.oc, r.threads) {
    size_t scratch = forward_.scratch_words * 4;
    forward_weights_ = Buffer(forward_.weight_words * 4);
    if (r.backward_data) {
      backward_ = own::plan_backward_data(g_, kernels_.values_per_unit);
      backward_weights_ = Buffer(backward_.weight_words * 4);
      scratch = std::max(scratch, backward_.scratch_words * 4);
    }
    if (r.backward_weights) {
      weights_ = own::plan_weights(g_, kernels_);
      x_each_ = (weights_.x_bytes + 63) / 64 * 64;
      scratch = std::max(scratch, weights_.partial_floats * 4 + weights_.dy_bytes + x_each_);
    }
    r_.workspace->reserve(scratch);
    const size_t lanes = static_cast<size_t>(forward_.band.blocks) * 16;
    bias_.resize(lanes);
    sums_ = own::OutputSums(items(forward_, g_.n), lanes);
    dbias_.resize(2 * g_.oc);
  }

  void set_weights(const float* weights, bool training) override {
    const size_t taps = static_cast<size_t>(g_.kh) * g_.kw, filter = g_.c * taps;
    pack_weights(forward_, {filter, taps, static_cast<int>(taps), false}, weights, forward_weights_);
    if (training && r_.backward_data)
      pack_weights(backward_, {taps, filter, static_cast<int>(taps), true}, weights, backward_weights_);
  }

  bool fuses_sums() const override { return true; }

  void forward(int n, const void* x, const float* bias, void* y, double* sums) override {
    if (bias) std::copy_n(bias, g_.oc, bias_.begin());
    run_pass(forward_, n, x, forward_weights_, bias ? bias_.data() : nullptr, y, false, sums != nullptr);
    if (sums) sums_.total(items(forward_, n), g_.oc, sums);
  }

  void backward_data(int n, const void* dy, void* dx, bool add) override {
    run_pass(backward_, n, dy, backward_weights_, nullptr, dx, add, false);
  }

  void backward_weights(int n, const void* x, const void* dy, float* dw, float* dbias) override {
    for (int t = 0; t < r_.threads; ++t) std::memset(r_.workspace->of(t), 0, weights_.partial_floats * 4);
    const size_t positions = static_cast<size_t>(n) * g_.h * g_.w;
    const int bands = weights_.chunk ? 1 : (g_.oh + weights_.band_rows - 1) / weights_.band_rows;
    const size_t items = weights_.chunk ? (positions + weights_.chunk - 1) / weights_.chunk
                         : bands > 1    ? static_cast<size_t>(n) * bands
                                        : (n + weights_.images - 1) / weights_.images;
    parallel_for(r_.threads, items, 1, [&](size_t begin, size_t end, int thread) {
      std::memset(weight_scratch(thread).x, 0, weights_.x_bytes);  // padding must be zero
      for (size_t i = begin; i < end; ++i) {
        if (weights_.chunk)
          weight_chunk(i, positions, x, dy, thread);
        else if (bands > 1)
          weight_band(i / bands, static_cast<int>(i % bands), x, dy, thread);
        else
          weight_images(i, n, x, dy, thread);
      }
    });
    reduce_weights(dw);
    if (!dbias) return;
    bias_sums_.run(dy, static_cast<size_t>(n) * g_.oh * g_.ow, dbias_.data());
    for (int o = 0; o < g_.oc; ++o) dbias[o] = static_cast<float>(dbias_[o]);
  }

  size_t memory_bytes() const override { return forward_weights_.size() + backward_weights_.size(); }
  std::string name() const override {
    return r_.type == Type::Bf16 ? "own direct avx512_bf16" : "own direct avx512 fp32";
  }

 private:
  const std::byte* at(const void* p, size_t element) const {
    return static_cast<const std::byte*>(p) + element * size_of(r_.type);
  }
  std::byte* at(void* p, size_t element) const {
    return static_cast<std::byte*>(p) + element * size_of(r_.type);
  }

  // [block][tap][unit][16] units; the buffer's padding stays zero.
  void pack_weights(const PassPlan& p, const WeightView& view, const float* weights, Buffer& out) {
    const int per = kernels_.values_per_unit, channels = p.pack.c;
    const size_t block_words = static_cast<size_t>(view.taps) * p.band.units * 16;
    parallel_for(
        p.weight_words > 8192 ? r_.threads : 1, p.band.blocks, 1, [&](size_t begin, size_t end, int) {
          for (size_t o = begin * 16; o < std::min<size_t>(end * 16, p.band.oc); ++o)
            for (int i = 0; i < channels; ++i) {
              const float* from = weights + o * view.out_stride + i * view.in_stride;
              const size_t to =
                  (o / 16 * block_words + static_cast<size_t>(i / per) * 16 + o % 16) * per + i % per;
              const size_t tap_stride = static_cast<size_t>(p.band.units) * 16 * per;
              for (int tap = 0; tap < view.taps; ++tap) {
                const float value = from[view.flipped ? view.taps - 1 - tap : tap];
                if (per == 2)
                  out.as<bf16>()[to + tap * tap_stride] = to_bf16(value);
                else
                  out.as<float>()[to + tap * tap_stride] = value;
              }
            }
        });
  }

  size_t items(const PassPlan& p, int n) const {
    const size_t positions = static_cast<size_t>(n) * g_.h * g_.w;
    return p.chunk ? (positions + p.chunk - 1) / p.chunk : static_cast<size_t>(n) * p.bands();
  }

  void run_pass(const PassPlan& p, int n, const void* x, Buffer& weights, const float* bias, void* y,
                bool add, bool sums) {
    const size_t positions = static_cast<size_t>(n) * g_.h * g_.w;
    parallel_for(r_.threads, items(p, n), 1, [&](size_t begin, size_t end, int thread) {
      uint32_t* words = reinterpret_cast<uint32_t*>(r_.workspace->of(thread));
      std::memset(words, 0, p.scratch_words * 4);  // padding must be zero
      for (size_t i = begin; i < end; ++i) {
        const Item item{x, words, weights.data(), bias, y, add, sums ? sums_.of(i) : nullptr};
        if (p.chunk)
          run_chunk(p, i * p.chunk, std::min<size_t>(p.chunk, positions - i * p.chunk), item);
        else
          run_band(p, i / p.bands(), static_cast<int>(i % p.bands()) * p.band_rows, item);
      }
    });
  }

  struct Item {
    const void* x;
    uint32_t* words;
    const void* weights;
    const float* bias;
    void* y;
    bool add;
    float* sums;
  };

  void run_band(const PassPlan& p, size_t image, int row, const Item& item) {
    const int rows = std::min(p.band_rows, p.rows - row);
    const own::PackShape& s = p.pack;
    kernels_.pack(s, at(item.x, image * s.h * s.w * s.c), row * p.band.sh, p.scratch_rows(rows), item.words);
    const size_t first = (image * p.rows + row) * p.band.ow * p.band.oc;
    kernels_.band(p.band, item.words, item.weights, item.bias, rows, at(item.y, first), item.add, item.sums);
  }

  void run_chunk(const PassPlan& p, size_t position, size_t count, const Item& item) {
    own::PackShape pack = p.pack;
    own::BandShape band = p.band;
    pack.w = band.ow = static_cast<int>(count);
    kernels_.pack(pack, at(item.x, position * pack.c), 0, 1, item.words);
    kernels_.band(band, item.words, item.weights, item.bias, 1, at(item.y, position * band.oc), item.add,
                  item.sums);
  }

  struct WeightScratch {
    std::byte *x, *dy;
    float* partial;
  };
  WeightScratch weight_scratch(int thread) {
    std::byte* base = r_.workspace->of(thread);
    return {base + weights_.partial_floats * 4 + weights_.dy_bytes, base + weights_.partial_floats * 4,
            reinterpret_cast<float*>(base)};
  }

  void weight_images(size_t group, int n, const void* x, const void* dy, int thread) {
    const WeightScratch w = weight_scratch(thread);
    own::WeightShape s = weights_.shape;
    const size_t first = group * weights_.images;
    const int count = static_cast<int>(std::min<size_t>(weights_.images, n - first));
    s.rows = count * s.rows_per_image;
    own::PackShape pack = weights_.pack;
    pack.h = std::min(pack.h, s.image_rows - pack.top);
    for (int i = 0; i < count; ++i)
      kernels_.pack_x(s, pack, at(x, (first + i) * g_.h * g_.w * g_.c), i * s.image_rows, w.x);
    kernels_.pack_dy(g_.ow, g_.oc, s.blocks, s.units, at(dy, first * g_.oh * g_.ow * g_.oc), s.rows, w.dy);
    kernels_.weights(s, w.x, w.dy, w.partial);
  }

  void weight_band(size_t image, int band, const void* x, const void* dy, int thread) {
    const WeightScratch w = weight_scratch(thread);
    own::WeightShape s = weights_.shape;
    const int row = band * weights_.band_rows, rows = std::min(weights_.band_rows, g_.oh - row);
    s.rows = s.rows_per_image = rows;
    const int from = row * g_.sh - g_.pt, wanted = (rows - 1) * g_.sh + (g_.kh - 1) * g_.dh + 1;
    const int first = std::max(from, 0), last = std::min(from + wanted, g_.h);
    if (first != from || last != from + wanted || rows != weights_.band_rows)
      std::memset(w.x, 0, weights_.x_bytes);
    own::PackShape pack = weights_.pack;
    pack.top = first - from;
    pack.h = last - first;
    kernels_.pack_x(s, pack, at(x, (image * g_.h + first) * g_.w * g_.c), 0, w.x);
    kernels_.pack_dy(g_.ow, g_.oc, s.blocks, s.units, at(dy, (image * g_.oh + row) * g_.ow * g_.oc), rows,
                     w.dy);
    kernels_.weights(s, w.x, w.dy, w.partial);
  }

  void weight_chunk(size_t chunk, size_t positions, const void* x, const void* dy, int thread) {
    const WeightScratch w = weight_scratch(thread);
    own::WeightShape s = weights_.shape;
    const size_t first = chunk * weights_.chunk;
    own::PackShape pack = weights_.pack;
    pack.w = static_cast<int>(std::min<size_t>(weights_.chunk, positions - first));
    s.units = (pack.w + kernels_.values_per_unit - 1) / kernels_.values_per_unit;
    kernels_.pack_x(s, pack, at(x, first * g_.c), 0, w.x);
    kernels_.pack_dy(pack.w, g_.oc, s.blocks, s.units, at(dy, first * g_.oc), 1, w.dy);
    kernels_.weights(s, w.x, w.dy, w.partial);
  }

  // Sums the threads' partial gradients, in thread order, into PyTorch's layout.
  void reduce_weights(float* dw) {
    const own::WeightShape& s = weights_.shape;
    const size_t taps = static_cast<size_t>(g_.kh) * g_.kw;
    parallel_for(weights_.partial_floats > 8192 ? r_.threads : 1, g_.oc, 16,
                 [&](size_t begin, size_t end, int) {
                   for (size_t o = begin; o < end; ++o)
                     for (int i = 0; i < g_.c; ++i)
                       for (size_t tap = 0; tap < taps; ++tap) {
                         const size_t from = ((o / 16 * taps + tap) * s.c_padded + i) * 16 + o % 16;
                         float sum = 0;
                         for (int t = 0; t < r_.threads; ++t) sum += weight_scratch(t).partial[from];
                         dw[(o * g_.c + i) * taps + tap] = sum;
                       }
                 });
  }

  ConvRequest r_;
  ConvGeometry g_;
  const DirectKernels& kernels_;
  PassPlan forward_, backward_;
  WeightPlan weights_;
  ChannelSums bias_sums_;
  size_t x_each_ = 0;
  Buffer forward_weights_, backward_weights_;
  own::OutputSums sums_;
  std::vector<float> bias_;
  std::vector<double> dbias_;
};

}  // namespace

std::string own_conv_refusal(const ConvRequest& r) {
  const ConvGeometry& g = r.geometry;
  if (r.type == Type::Bf16 && !cpu().avx512_bf16) return "own bf16 kernels need avx512_bf16";
  if (r.type == Type::F32 && !cpu().avx512) return "own fp32 kernels need avx512";
  if (g.groups != 1) return "own kernels have no groups";
  if (g.sw > 2 || g.sh > 2) return "own kernels take strides 1 and 2";
  return "";
}

std::unique_ptr<ConvKernel> make_own_conv(const ConvRequest& request) {
  return std::make_unique<OwnConv>(request);
}

}  // namespace radl::engine
