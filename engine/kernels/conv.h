// Convolutions (and linear layers, as 1x1 convolutions over rows): one interface with several
// implementations. make_conv (conv_table.cc) chooses one per layer.
//
// x [n, h, w, c], y [n, oh, ow, oc], both NHWC in the kernel's type; master weights, bias and their gradients
// are fp32 in PyTorch's order [oc, c/groups, kh, kw]. Products are summed in fp32. Calls allocate nothing.
#pragma once

#include <memory>
#include <string>

#include "common/status.h"
#include "engine/kernels/conv_geometry.h"
#include "engine/kernels/workspace.h"
#include "engine/tensor/buffer.h"

namespace radl::engine {

struct ConvRequest {
  ConvGeometry geometry;
  Type type = Type::F32;
  int threads = 1;
  bool backward_data = true;                  // the gradient of x will be needed
  bool backward_weights = true;               // the gradient of the weights will be needed
  std::shared_ptr<Workspace> workspace = {};  // for at least `threads` threads; required
  // y is the maximum of each 2x2 outputs (dropping a last odd row or column), [n, oh/2, ow/2, oc], and dy its
  // gradient. Only if conv_pools().
  bool pool = false;
};

class ConvKernel {
 public:
  virtual ~ConvKernel() = default;
  // Packs or converts the master weights for the following calls. `training` false: forward only.
  virtual void set_weights(const float* weights, bool training) = 0;
  // y = conv(x) + bias (null: none). If fuses_sums(), `sums` (null, or [2 * oc]) receives the sums of y and
  // y*y over all positions, computed before rounding. Other kernels ignore it.
  virtual void forward(int n, const void* x, const float* bias, void* y, double* sums) = 0;
  virtual bool fuses_sums() const { return false; }
  // Sets dx to the gradient, or adds the gradient if `add` (only if adds()).
  virtual bool adds() const { return true; }
  virtual void backward_data(int n, const void* dy, void* dx, bool add) = 0;
  // Sets dw to the gradient, and dbias too unless null.
  virtual void backward_weights(int n, const void* x, const void* dy, float* dw, float* dbias) = 0;
  // Error to expect, relative to the largest result, if values are rounded to the kernel's type also between
  // x and the sums (Winograd's transforms in bf16). 0: no error beyond fp32 sums.
  virtual double inner_rounding() const { return 0; }
  virtual size_t memory_bytes() const = 0;  // without the workspace
  virtual std::string name() const = 0;
};

struct ChosenConv {
  std::unique_ptr<ConvKernel> kernel;
  std::string why;
};

// `kernels`: eigen, onednn, direct, winograd2, winograd4 (tiles of 2x2, 4x4), winograd (the tile that needs
// fewer products), own (winograd if possible, else direct), auto, or accurate (auto, but only 2x2 tiles).
// Unsupported: the named kernel cannot handle this request on this computer.
Result<ChosenConv> make_conv(const ConvRequest& request, const std::string& kernels);

// True if make_conv() accepts this request with `pool`.
bool conv_pools(const ConvRequest& request, const std::string& kernels);

}  // namespace radl::engine
