// Selects the convolution kernel: by geometry, type and processor, never by timing, so that the same machine
// type always gives the same bits. docs/engine.md has the measurements for these rules.
#include <fmt/format.h>

#include <algorithm>

#include "engine/kernels/conv.h"
#include "engine/kernels/cpu.h"
#include "engine/kernels/eigen/conv.h"
#include "engine/kernels/onednn/conv.h"
#include "engine/kernels/own/conv.h"

namespace radl::engine {

namespace {

ChosenConv chosen(std::unique_ptr<ConvKernel> kernel, std::string why) {
  return {std::move(kernel), std::move(why)};
}

using Maker = std::unique_ptr<ConvKernel> (*)(const ConvRequest&);

// Each pass by the kernel that is fastest at it.
class PassesConv : public ConvKernel {
 public:
  // Null where a kernel cannot do its pass; a pass that was not asked for has none.
  static std::unique_ptr<ConvKernel> make(const ConvRequest& r, Maker forward, Maker data, Maker weights) {
    const auto only = [&](Maker maker, bool backward_data, bool backward_weights) {
      ConvRequest part = r;
      part.backward_data = backward_data, part.backward_weights = backward_weights;
      return maker(part);
    };
    auto passes = std::make_unique<PassesConv>();
    passes->forward_ = only(forward, false, false);
    if (r.backward_data) passes->data_ = only(data, true, false);
    if (r.backward_weights) passes->weights_ = only(weights, false, true);
    const bool whole =
        passes->forward_ && (passes->data_ || !r.backward_data) && (passes->weights_ || !r.backward_weights);
    if (!whole) return nullptr;
    return passes;
  }

  void set_weights(const float* weights, bool training) override {
    forward_->set_weights(weights, false);
    if (training && data_) data_->set_weights(weights, true);
  }
  void forward(int n, const void* x, const float* bias, void* y, double* sums) override {
    forward_->forward(n, x, bias, y, sums);
  }
  bool fuses_sums() const override { return forward_->fuses_sums(); }
  bool adds() const override { return !data_ || data_->adds(); }
  void backward_data(int n, const void* dy, void* dx, bool add) override {
    data_->backward_data(n, dy, dx, add);
  }
  void backward_weights(int n, const void* x, const void* dy, float* dw, float* dbias) override {
    weights_->backward_weights(n, x, dy, dw, dbias);
  }
  double inner_rounding() const override {
    return std::max({forward_->inner_rounding(), data_ ? data_->inner_rounding() : 0,
                     weights_ ? weights_->inner_rounding() : 0});
  }
  size_t memory_bytes() const override {
    return forward_->memory_bytes() + (data_ ? data_->memory_bytes() : 0) +
           (weights_ ? weights_->memory_bytes() : 0);
  }
  std::string name() const override {
    std::string text = forward_->name();
    if (data_ && data_->name() != forward_->name()) text += ", data " + data_->name();
    if (weights_ && weights_->name() != forward_->name()) text += ", weights " + weights_->name();
    return text;
  }

 private:
  std::unique_ptr<ConvKernel> forward_, data_, weights_;
};

// Beyond them the transformed weights of a layer, 75 MiB at 1024 x 1024, pass through memory too often for
// tile products to be worth it.
constexpr int kMostAmxChannels = 512;

// The tile of the Winograd convolution that these kernels mean; 0: none.
int tile_meant(const ConvRequest& r, const std::string& kernels) {
  if (kernels == "eigen" || kernels == "onednn" || kernels == "direct") return 0;
  if (!winograd_conv_refusal(r).empty()) return 0;
  const bool fp32_products =
      r.type == Type::F32 || (winograd_products() == WinogradProducts::Avx512Fp32 && kernels != "winograd2");
  if (kernels == "winograd2") return r.type == Type::Bf16 ? 2 : 0;
  // Tiles of 4x4 by fp32 products are nearer to bf16's own rounding than tiles of 2x2 by bf16's.
  if (kernels == "accurate")
    return r.type == Type::F32 ? 0 : fp32_products ? winograd_tile(r.geometry, Type::F32) : 2;
  return kernels == "winograd4" ? 4 : winograd_tile(r.geometry, fp32_products ? Type::F32 : Type::Bf16);
}

template <int kTile>
std::unique_ptr<ConvKernel> make_winograd(const ConvRequest& r) {
  return make_winograd_conv(r, kTile);
}

// With tile registers products are so fast that few channels' transforms cost more than they save, and each
// pass has its own limit.
std::unique_ptr<ConvKernel> make_amx_passes(const ConvRequest& r, int tile) {
  const ConvGeometry& g = r.geometry;
  const int least = std::min(g.c, g.oc), most = std::max(g.c, g.oc), positions = g.oh * g.ow;
  const Maker winograd = tile == 4 ? make_winograd<4> : make_winograd<2>;
  const Maker forward = positions >= 49 ? make_onednn_conv : winograd;
  const Maker data = least <= 32 || (least <= 64 && positions >= 144) ? make_onednn_conv : winograd;
  const Maker weights = most > 32 && most <= 64 && positions >= 144 ? make_winograd<2> : winograd;
  return PassesConv::make(r, forward, data, weights);
}

// docs/engine.md has the measurements behind these rules.
ChosenConv choose(const ConvRequest& r, int tile) {
  const ConvGeometry& g = r.geometry;
  const std::string no_own = own_conv_refusal(r);
  const bool amx = r.type == Type::Bf16 && by_tile_registers(winograd_products());
  const bool few = std::max(g.c, g.oc) <= kMostAmxChannels;
  if (amx && tile > 0 && few)
    if (auto kernel = make_amx_passes(r, tile))
      return chosen(std::move(kernel),
                    "3x3: the fastest of Winograd and oneDNN by tile registers, each pass");
  if (tile > 0 && (!amx || few))
    return chosen(make_winograd_conv(r, tile),
                  fmt::format("3x3: {} times fewer products", tile == 4 ? "up to 4" : "2.25"));
  // oneDNN 2.6.3 gives infinities and NaN here in some runs (AVX-512 BF16, 3x3 filters with stride 2 on one
  // pixel).
  if (no_own.empty() && r.type == Type::Bf16 && g.h * g.w == 1 && g.kh * g.kw > 1)
    return chosen(make_own_conv(r), "one pixel: oneDNN's sums are wrong");
  if (amx)
    if (auto kernel = make_onednn_conv(r)) return chosen(std::move(kernel), "AMX by oneDNN");
  if (no_own.empty() && g.h * g.w == 1 && g.oc <= 16)
    return chosen(make_own_conv(r), "too small for oneDNN's calls");
  // The own forward pass gives batch normalisation its sums.
  if (no_own.empty() && g.c < 16 && g.kh * g.kw > 1 && g.sh == 1 && g.sw == 1)
    if (auto kernel = PassesConv::make(r, make_own_conv, make_onednn_conv, make_onednn_conv))
      return chosen(std::move(kernel), "few channels: own forward with the sums, oneDNN's gradients");
  if (auto kernel = make_onednn_conv(r)) return chosen(std::move(kernel), "oneDNN is fastest at this shape");
  if (no_own.empty()) return chosen(make_own_conv(r), "oneDNN does not take it");
  return chosen(make_eigen_conv(r), "neither own nor oneDNN kernels take it");
}

}  // namespace

bool conv_pools(const ConvRequest& r, const std::string& kernels) {
  const bool amx = r.type == Type::Bf16 && by_tile_registers(winograd_products());
  return !amx && tile_meant(r, kernels) == 4 && std::min(r.geometry.oh, r.geometry.ow) >= 2;
}

Result<ChosenConv> make_conv(const ConvRequest& r, const std::string& kernels) {
  const int tile = tile_meant(r, kernels);
  if (kernels == "auto" || kernels == "accurate") return choose(r, tile);
  if (kernels == "eigen") return chosen(make_eigen_conv(r), "asked for");
  if (kernels == "onednn") {
    auto kernel = make_onednn_conv(r);
    if (kernel) return chosen(std::move(kernel), "asked for");
    return Status(Code::Unsupported, "oneDNN has no kernel for this convolution here");
  }
  if (tile > 0) return chosen(make_winograd_conv(r, tile), "asked for");
  const std::string refusal = winograd_conv_refusal(r), no_direct = own_conv_refusal(r);
  const std::string no_winograd = refusal.empty() ? "tiles of 2x2 are bf16 only" : refusal;
  const bool winograd = kernels.starts_with("winograd");
  if (!winograd && no_direct.empty()) return chosen(make_own_conv(r), "asked for");
  return Status(Code::Unsupported,
                fmt::format("{} kernels: {}", kernels, winograd ? no_winograd : no_direct));
}

}  // namespace radl::engine
