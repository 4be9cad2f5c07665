// Convolutions (and, as 1x1 convolutions over rows, linear layers): one interface, several implementations,
// chosen once per layer by make_conv (conv_table.cc).
//
// x [n, h, w, c], y [n, oh, ow, oc], both NHWC of the kernel's type; master weights, bias and their gradients
// fp32 in PyTorch's order [oc, c/groups, kh, kw]. Products are summed in fp32. Calls allocate nothing.
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
  bool backward_data = true;                  // the gradient of x will be asked for
  bool backward_weights = true;               // the gradient of the weights will be asked for
  std::shared_ptr<Workspace> workspace = {};  // of at least `threads` threads; required
  // y is the largest of each 2x2 outputs (a last odd row or column has none), [n, oh/2, ow/2, oc], and dy its
  // gradient; only where conv_pools().
  bool pool = false;
};

class ConvKernel {
 public:
  virtual ~ConvKernel() = default;
  // Packs or converts the master weights for what follows; `training` false: forward only.
  virtual void set_weights(const float* weights, bool training) = 0;
  // y = conv(x) + bias (null: none). `sums` (null, or [2 * oc]) receives the sums over all positions of y and
  // y*y, taken before rounding, when fuses_sums(); other kernels ignore it.
  virtual void forward(int n, const void* x, const float* bias, void* y, double* sums) = 0;
  virtual bool fuses_sums() const { return false; }
  // dx = gradient, or dx += gradient where adds().
  virtual bool adds() const { return true; }
  virtual void backward_data(int n, const void* dy, void* dx, bool add) = 0;
  // dw = gradient, dbias = gradient (null: not wanted).
  virtual void backward_weights(int n, const void* x, const void* dy, float* dw, float* dbias) = 0;
  // How far a result may be off, in parts of the largest, because values are rounded to the kernel's type
  // between x and the sums too (Winograd's transforms in bf16); 0: sums are fp32's.
  virtual double inner_rounding() const { return 0; }
  virtual size_t memory_bytes() const = 0;  // without the workspace
  virtual std::string name() const = 0;
};

struct ChosenConv {
  std::unique_ptr<ConvKernel> kernel;
  std::string why;
};

// `kernels`: eigen, onednn, direct, winograd2, winograd4 (tiles of 2x2, 4x4), winograd (the tile that needs
// fewer products), own (winograd where it can, else direct), auto, or accurate (auto with tiles of 2x2 only).
// Unsupported when one was named that cannot do this here.
Result<ChosenConv> make_conv(const ConvRequest& request, const std::string& kernels);

// Whether make_conv() takes such a request with `pool`.
bool conv_pools(const ConvRequest& request, const std::string& kernels);

}  // namespace radl::engine
