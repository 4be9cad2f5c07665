// Factory functions for the operations. `p` refers to parameters by offset in the flat buffers; -1 if
// absent.
#pragma once

#include "common/status.h"
#include "engine/kernels/conv_geometry.h"
#include "engine/layers/op.h"

namespace radl::engine {

// Converts the batch's images to the tensor's type.
std::unique_ptr<Op> make_input_op(Tensor* out, const OpSettings& settings);
// Changes the element type.
std::unique_ptr<Op> make_convert_op(Tensor* in, Tensor* out, const OpSettings& settings);

struct ConvSpec {
  ConvGeometry geometry;     // for the largest batch
  int rows_per_example = 1;  // geometry.n = batch * rows_per_example (linear layers per token)
  int64_t weight = -1, bias = -1;
  bool frozen = false;      // its weights
  bool bias_trains = true;  // it has a bias that is not frozen
  bool pool = false;        // the output is the maximum of each 2x2; only if conv_op_pools()
};
class ConvOp : public Op {
 public:
  // Requests the per-channel sums of the output (2 * channels doubles). False if the kernel cannot compute
  // them.
  virtual bool collect_sums(double* sums) = 0;
};
bool conv_op_pools(const ConvSpec& spec, const Tensor& in, const OpSettings& settings);
Result<std::unique_ptr<ConvOp>> make_conv_op(const ConvSpec& spec, Tensor* in, Tensor* out,
                                             const OpSettings& settings);

// z = act(x + residual); residual may be null.
struct PointwiseSpec {
  Act act = Act::None;
  float slope = 0;
};
std::unique_ptr<Op> make_pointwise_op(const PointwiseSpec& spec, Tensor* x, Tensor* residual, Tensor* z,
                                      const OpSettings& settings);

// z = act(batch_norm(x) + residual).
struct BatchNormSpec {
  PointwiseSpec pointwise;
  float eps = 0, momentum = 0;
  int64_t gamma = -1, beta = -1, running_mean = -1, running_var = -1;
  bool frozen = false;  // uses the running statistics in training too; never updates them or itself
};
// `producer`: the convolution that writes x, if any.
std::unique_ptr<Op> make_batch_norm_op(const BatchNormSpec& spec, Tensor* x, Tensor* residual, Tensor* z,
                                       ConvOp* producer, const OpSettings& settings);

std::unique_ptr<Op> make_pool_op(const Layer& layer, Tensor* in, Tensor* out, const OpSettings& settings);
std::unique_ptr<Op> make_global_pool_op(bool maximum, Tensor* in, Tensor* out, const OpSettings& settings);
std::unique_ptr<Op> make_scale_op(float factor, Tensor* in, Tensor* out, const OpSettings& settings);
std::unique_ptr<Op> make_dropout_op(float rate, int layer, Tensor* in, Tensor* out,
                                    const OpSettings& settings);
// Adds more than two inputs.
std::unique_ptr<Op> make_sum_op(std::vector<Tensor*> in, Tensor* out, const OpSettings& settings);
std::unique_ptr<Op> make_concat_op(std::vector<Tensor*> in, Tensor* out, const OpSettings& settings);

// Variance from the mean and the mean of squares. Clamps negative rounding errors to 0; keeps NaN.
inline double variance_of(double mean, double mean_square) {
  const double variance = mean_square - mean * mean;
  return variance < 0 ? 0 : variance;
}

struct NormSpec {
  float eps = 0;
  int groups = 1;
  int64_t gamma = -1, beta = -1;
  bool frozen = false;
};
std::unique_ptr<Op> make_layer_norm_op(const NormSpec& spec, Tensor* in, Tensor* out,
                                       const OpSettings& settings);
std::unique_ptr<Op> make_group_norm_op(const NormSpec& spec, Tensor* in, Tensor* out,
                                       const OpSettings& settings);

// Reads the indices from the batch's values (the model's input).
std::unique_ptr<Op> make_embedding_op(int vocabulary, int64_t weight, Tensor* out,
                                      const OpSettings& settings);
std::unique_ptr<Op> make_position_op(int64_t weight, Tensor* in, Tensor* out, const OpSettings& settings);

struct AttentionSpec {
  int heads = 1;
  bool causal = false;
  int64_t in_weight = -1, in_bias = -1, out_weight = -1, out_bias = -1;
};
Result<std::unique_ptr<Op>> make_attention_op(const AttentionSpec& spec, Tensor* in, Tensor* out,
                                              const OpSettings& settings);

}  // namespace radl::engine
