#include "engine/kernels/eigen/conv.h"

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "engine/kernels/bias.h"
#include "engine/kernels/parallel.h"

namespace radl::engine {

namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Map = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;
using ConstMap = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;

// One image (or a block of rows of a 1x1 convolution) at a time: unfold into [positions, taps * c/groups]
// per group, then one GEMM per group. Weights are kept as [group][taps * c/groups, oc/groups].
class EigenConv : public ConvKernel {
 public:
  explicit EigenConv(const ConvRequest& r)
      : request_(r), g_(r.geometry), kernels_(elementwise(r.type)), bias_sums_(r.type, g_.oc, r.threads) {
    cg_ = g_.c / g_.groups, og_ = g_.oc / g_.groups, taps_ = g_.kh * g_.kw, depth_ = cg_ * taps_;
    if (g_.pointwise()) {
      rows_ = kRows, in_rows_ = kRows;
    } else {
      rows_ = static_cast<size_t>(g_.oh) * g_.ow, in_rows_ = static_cast<size_t>(g_.h) * g_.w;
    }
    weights_.resize(static_cast<size_t>(g_.groups) * depth_ * og_);
    each_ = std::max(rows_ * depth_, rows_ * g_.oc) + rows_ * g_.oc + in_rows_ * g_.c;
    partial_floats_ = r.backward_weights ? weights_.size() : 0;
    request_.workspace->reserve((each_ + partial_floats_) * sizeof(float));
    sums_.resize(2 * g_.oc);
  }

  void set_weights(const float* w, bool) override {
    for (int o = 0; o < g_.oc; ++o)
      for (int i = 0; i < cg_; ++i)
        for (int tap = 0; tap < taps_; ++tap)
          weights_[weight_index(o, i, tap)] = w[(static_cast<size_t>(o) * cg_ + i) * taps_ + tap];
  }

  void forward(int n, const void* x, const float* bias, void* y, double*) override {
    for_pieces(n, [&](size_t in, size_t out, size_t in_rows, size_t rows, Scratch s, int) {
      load(x, in * g_.c, s.x, in_rows * g_.c);
      Map result(s.y, rows, g_.oc, Eigen::OuterStride<>(g_.oc));
      for (int group = 0; group < g_.groups; ++group) {
        unfold(s.x, s.columns, group);
        const ConstMap columns(s.columns, rows, depth_, Eigen::OuterStride<>(depth_));
        result.middleCols(group * og_, og_).noalias() = columns * weights(group);
      }
      if (bias) result.rowwise() += Eigen::Map<const Eigen::RowVectorXf>(bias, g_.oc);
      kernels_.from_float(s.y, at(y, out * g_.oc), rows * g_.oc);
    });
  }

  void backward_data(int n, const void* dy, void* dx, bool add) override {
    for_pieces(n, [&](size_t in, size_t out, size_t in_rows, size_t rows, Scratch s, int) {
      load(dy, out * g_.oc, s.y, rows * g_.oc);
      if (add)
        load(dx, in * g_.c, s.x, in_rows * g_.c);
      else
        std::fill_n(s.x, in_rows * g_.c, 0.0f);
      const ConstMap gradient(s.y, rows, g_.oc, Eigen::OuterStride<>(g_.oc));
      for (int group = 0; group < g_.groups; ++group) {
        Map columns(s.columns, rows, depth_, Eigen::OuterStride<>(depth_));
        columns.noalias() = gradient.middleCols(group * og_, og_) * weights(group).transpose();
        fold(s.columns, s.x, group, rows);
      }
      kernels_.from_float(s.x, at(dx, in * g_.c), in_rows * g_.c);
    });
  }

  void backward_weights(int n, const void* x, const void* dy, float* dw, float* dbias) override {
    for (int t = 0; t < request_.threads; ++t) std::fill_n(partial(t), partial_floats_, 0.0f);
    for_pieces(n, [&](size_t in, size_t out, size_t in_rows, size_t rows, Scratch s, int thread) {
      load(x, in * g_.c, s.x, in_rows * g_.c);
      load(dy, out * g_.oc, s.y, rows * g_.oc);
      const ConstMap gradient(s.y, rows, g_.oc, Eigen::OuterStride<>(g_.oc));
      for (int group = 0; group < g_.groups; ++group) {
        unfold(s.x, s.columns, group);
        const ConstMap columns(s.columns, rows, depth_, Eigen::OuterStride<>(depth_));
        float* to = partial(thread) + static_cast<size_t>(group) * depth_ * og_;
        Map(to, depth_, og_, Eigen::OuterStride<>(og_)).noalias() +=
            columns.transpose() * gradient.middleCols(group * og_, og_);
      }
    });
    for (int o = 0; o < g_.oc; ++o)
      for (int i = 0; i < cg_; ++i)
        for (int tap = 0; tap < taps_; ++tap) {
          float sum = 0;
          for (int t = 0; t < request_.threads; ++t) sum += partial(t)[weight_index(o, i, tap)];
          dw[(static_cast<size_t>(o) * cg_ + i) * taps_ + tap] = sum;
        }
    if (!dbias) return;
    bias_sums_.run(dy, static_cast<size_t>(n) * g_.oh * g_.ow, sums_.data());
    for (int o = 0; o < g_.oc; ++o) dbias[o] = static_cast<float>(sums_[o]);
  }

  size_t memory_bytes() const override { return weights_.size() * sizeof(float); }
  std::string name() const override { return "eigen"; }

 private:
  static constexpr size_t kRows = 256;
  struct Scratch {
    float *columns, *y, *x;
  };

  float* partial(int thread) { return reinterpret_cast<float*>(request_.workspace->of(thread)); }
  size_t weight_index(int o, int i, int tap) const {
    return (static_cast<size_t>(o / og_) * depth_ + static_cast<size_t>(tap) * cg_ + i) * og_ + o % og_;
  }
  ConstMap weights(int group) const {
    return {weights_.data() + static_cast<size_t>(group) * depth_ * og_, depth_, og_,
            Eigen::OuterStride<>(og_)};
  }
  std::byte* at(void* p, size_t element) const {
    return static_cast<std::byte*>(p) + element * size_of(request_.type);
  }
  void load(const void* p, size_t element, float* to, size_t count) const {
    kernels_.to_float(static_cast<const std::byte*>(p) + element * size_of(request_.type), to, count);
  }

  // f(first input row, first output row, input rows, output rows, scratch, thread)
  template <class F>
  void for_pieces(int n, F&& f) {
    const size_t total = g_.pointwise() ? static_cast<size_t>(n) * g_.h * g_.w : n;
    parallel_for(request_.threads, total, g_.pointwise() ? kRows : 1,
                 [&](size_t begin, size_t end, int thread) {
                   float* base = partial(thread) + partial_floats_;
                   const size_t columns = std::max(rows_ * depth_, rows_ * g_.oc);
                   const Scratch s{base, base + columns, base + columns + rows_ * g_.oc};
                   for (size_t i = begin; i < end; i += g_.pointwise() ? kRows : 1) {
                     const size_t rows = g_.pointwise() ? std::min(kRows, end - i) : rows_;
                     f(g_.pointwise() ? i : i * in_rows_, g_.pointwise() ? i : i * rows_,
                       g_.pointwise() ? rows : in_rows_, rows, s, thread);
                   }
                 });
  }

  // f(row of columns, offset in the image or SIZE_MAX for padding, tap)
  template <class F>
  void for_taps(F&& f) const {
    size_t row = 0;
    for (int oy = 0; oy < g_.oh; ++oy)
      for (int ox = 0; ox < g_.ow; ++ox, ++row)
        for (int ky = 0; ky < g_.kh; ++ky)
          for (int kx = 0; kx < g_.kw; ++kx) {
            const int y = oy * g_.sh - g_.pt + ky * g_.dh, x = ox * g_.sw - g_.pl + kx * g_.dw;
            const bool inside = y >= 0 && y < g_.h && x >= 0 && x < g_.w;
            f(row, inside ? (static_cast<size_t>(y) * g_.w + x) * g_.c : SIZE_MAX, ky * g_.kw + kx);
          }
  }
  void unfold(const float* x, float* columns, int group) const {
    if (g_.pointwise()) {
      for (size_t row = 0; row < rows_; ++row)
        std::copy_n(x + row * g_.c + group * cg_, cg_, columns + row * depth_);
      return;
    }
    for_taps([&](size_t row, size_t from, int tap) {
      float* to = columns + row * depth_ + tap * cg_;
      if (from == SIZE_MAX)
        std::fill_n(to, cg_, 0.0f);
      else
        std::copy_n(x + from + group * cg_, cg_, to);
    });
  }
  void fold(const float* columns, float* x, int group, size_t rows) const {
    const auto add = [&](size_t row, size_t to, int tap) {
      if (to == SIZE_MAX) return;
      for (int i = 0; i < cg_; ++i) x[to + group * cg_ + i] += columns[row * depth_ + tap * cg_ + i];
    };
    if (!g_.pointwise()) return for_taps(add);
    for (size_t row = 0; row < rows; ++row) add(row, row * g_.c, 0);
  }

  ConvRequest request_;
  ConvGeometry g_;
  const ElementwiseKernels& kernels_;
  ChannelSums bias_sums_;
  int cg_, og_, taps_, depth_;
  size_t rows_, in_rows_, each_, partial_floats_;
  std::vector<float> weights_;
  std::vector<double> sums_;
};

}  // namespace

std::unique_ptr<ConvKernel> make_eigen_conv(const ConvRequest& request) {
  return std::make_unique<EigenConv>(request);
}

}  // namespace radl::engine
