// Which convolution kernel does what: rules by geometry, type and processor, never by timing, so that the
// same machine type gives the same bits every time. docs/engine.md has the measurements behind them.
#include <fmt/format.h>

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

ChosenConv choose(const ConvRequest& r) {
  const std::string no_own = own_conv_refusal(r);
  if (r.type == Type::Bf16 && cpu().amx_bf16)
    if (auto kernel = make_onednn_conv(r)) return chosen(std::move(kernel), "AMX is oneDNN's");
  // Ours spends four times the work on a strided input gradient. Only on one thread, though: the spinning
  // OpenMP helpers of oneDNN would hold the cores that ours need next.
  const bool strided = r.backward_data && (r.geometry.sw > 1 || r.geometry.sh > 1);
  if (strided && r.threads == 1)
    if (auto kernel = make_onednn_conv(r))
      return chosen(std::move(kernel), "strided, one thread: oneDNN wastes less");
  if (winograd_conv_refusal(r).empty())
    return chosen(make_winograd_conv(r), "vector bf16: 2.25 times fewer products");
  if (no_own.empty()) return chosen(make_own_conv(r), "vector bf16 or fp32 without AMX: ours is fastest");
  if (auto kernel = make_onednn_conv(r)) return chosen(std::move(kernel), no_own);
  return chosen(make_eigen_conv(r), "neither own nor oneDNN kernels take it");
}

}  // namespace

Result<ChosenConv> make_conv(const ConvRequest& r, const std::string& kernels) {
  if (kernels == "auto") return choose(r);
  if (kernels == "eigen") return chosen(make_eigen_conv(r), "asked for");
  if (kernels == "onednn") {
    auto kernel = make_onednn_conv(r);
    if (kernel) return chosen(std::move(kernel), "asked for");
    return Status(Code::Unsupported, "oneDNN has no kernel for this convolution here");
  }
  const std::string no_winograd = winograd_conv_refusal(r), no_direct = own_conv_refusal(r);
  if (kernels != "direct" && no_winograd.empty()) return chosen(make_winograd_conv(r), "asked for");
  if (kernels != "winograd" && no_direct.empty()) return chosen(make_own_conv(r), "asked for");
  return Status(Code::Unsupported,
                fmt::format("{} kernels: {}", kernels, kernels == "winograd" ? no_winograd : no_direct));
}

}  // namespace radl::engine
