#include "engine/model/memory_need.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/tensor/buffer.h"

namespace radl::engine {

namespace {

bool reads_again(const Layer& l) {
  return (l.kind == Kind::Conv || l.kind == Kind::Linear || l.kind == Kind::Attention) && !l.frozen;
}

// The layer whose values these are: flattening copies nothing.
int source(const Graph& graph, int layer) {
  while (graph.layers[layer].kind == Kind::Flatten) layer = graph.layers[layer].inputs[0];
  return layer;
}

// Uses double, because a text may request more than an integer can hold.
double values(const Graph& graph, int layer, int batch) {
  return static_cast<double>(batch) * static_cast<double>(graph.layers[layer].out.size());
}

// Attention stores this much per image, head and pair of positions, whatever memory is shared.
double attention_values(const Layer& l, int batch) {
  const double positions = static_cast<double>(l.out.h) * l.out.w;
  return l.kind == Kind::Attention ? batch * l.heads * positions * positions : 0;
}

}  // namespace

size_t least_memory(const Graph& graph, const BuildOptions& options) {
  const double element = options.precision == Precision::Bf16 ? 2 : 4;
  std::vector<bool> kept(graph.layers.size());
  double together = 0, most = 0, attention = 0;
  for (const Layer& l : graph.layers) {
    attention += attention_values(l, options.batch_size);
    if (!reads_again(l)) continue;
    const int in = source(graph, l.inputs[0]);
    most = std::max(most, values(graph, in, options.batch_size));
    if (!kept[in]) together += values(graph, in, options.batch_size);
    kept[in] = true;
  }
  const double copies = options.training ? 2 : 1;  // and their gradients
  const double bytes = (options.training ? together : most) * element + attention * sizeof(float) +
                       copies * static_cast<double>(graph.parameter_count) * sizeof(float);
  return static_cast<size_t>(std::min(bytes, 9e18));
}

Status check_least_memory(const Graph& graph, const BuildOptions& options) {
  const size_t needed = least_memory(graph, options), available = available_memory();
  if (needed <= available) return ok_status();
  return too_little_memory(graph, options.batch_size, "at least ", needed, available);
}

Status too_little_memory(const Graph& graph, int batch, const char* bound, size_t needed, size_t available) {
  const auto mib = [](size_t bytes) { return (bytes + (1 << 20) - 1) >> 20; };
  return Status(Code::Quota, fmt::format("{} at batch size {} needs {}{} MiB more, but {} MiB are free",
                                         graph.name, batch, bound, mib(needed), mib(available)))
      .with_hint("a smaller batch needs less");
}

}  // namespace radl::engine
