#include <fmt/format.h>

#include <Eigen/Dense>

#include "engine/model/initialise.h"

namespace radl::engine {

namespace {

const Layer* whitening_layer(const Graph& graph) {
  for (const Layer& l : graph.layers)
    if (l.whiten) return &l;
  return nullptr;
}

// The second moments of all patches, in the weights' order [channel][ky][kx].
Eigen::MatrixXd patch_covariance(const Layer& l, const Shape& in, const Batch& batch) {
  const int kh = l.kernel_h, kw = l.kernel_w, size = in.c * kh * kw;
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(size, size);
  Eigen::VectorXd patch(size);
  size_t count = 0;
  for (int b = 0; b < batch.size; ++b)
    for (int y = 0; y + kh <= in.h; ++y)
      for (int x = 0; x + kw <= in.w; ++x, ++count) {
        for (int c = 0; c < in.c; ++c)
          for (int ky = 0; ky < kh; ++ky)
            for (int kx = 0; kx < kw; ++kx)
              patch[(c * kh + ky) * kw + kx] =
                  batch.images[((static_cast<size_t>(b) * in.h + y + ky) * in.w + x + kx) * in.c + c];
        sum.selfadjointView<Eigen::Lower>().rankUpdate(patch);
      }
  sum /= static_cast<double>(count);
  return sum.selfadjointView<Eigen::Lower>();
}

}  // namespace

Status set_whitening(const Graph& graph, const Batch& batch, std::span<float> parameters) {
  const Layer* l = whitening_layer(graph);
  if (!l) return ok_status();
  const Shape& in = graph.layers[l->inputs[0]].out;
  const int size = in.c * l->kernel_h * l->kernel_w;
  if (l->inputs[0] != 0) return invalid(fmt::format("{}: only the first layer can whiten", l->name));
  if (batch.size < size)
    return invalid(fmt::format("{}: whitening needs at least {} images, not {}", l->name, size, batch.size));
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(patch_covariance(*l, in, batch));
  constexpr double kFloor = 5e-4;  // keeps the weakest directions from becoming amplified noise
  float* weights = parameters.data() + graph.parameters[l->weight].offset;
  for (int i = 0; i < size; ++i) {
    const int from = size - 1 - i;  // strongest first
    const double scale = 1 / std::sqrt(solver.eigenvalues()[from] + kFloor);
    // An eigenvector's sign is arbitrary: make its largest entry positive.
    Eigen::VectorXd v = solver.eigenvectors().col(from);
    Eigen::Index largest;
    v.cwiseAbs().maxCoeff(&largest);
    if (v[largest] < 0) v = -v;
    for (int j = 0; j < size; ++j) {
      weights[static_cast<size_t>(i) * size + j] = static_cast<float>(v[j] * scale);
      weights[static_cast<size_t>(i + size) * size + j] = static_cast<float>(-v[j] * scale);
    }
  }
  return ok_status();
}

}  // namespace radl::engine
