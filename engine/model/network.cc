// Network::build: parse, check memory, and choose between the planned network and the reference one.
#include "engine/model/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/kernels/parallel.h"
#include "engine/model/graph.h"
#include "engine/model/initialise.h"
#include "engine/model/memory_need.h"
#include "engine/model/planned_network.h"
#include "engine/model/reference_network.h"
#include "engine/tensor/buffer.h"

namespace radl::engine {

namespace {

// `--kernels ref`: the reference network with the common interface.
class PlainNetwork : public Network {
 public:
  PlainNetwork(Graph graph, const BuildOptions& options)
      : graph_(std::move(graph)),
        network_(graph_, options.seed, options.label_smoothing),
        parameters_(graph_.parameter_count),
        gradients_(options.training ? graph_.parameter_count : 0),
        statistics_(graph_.statistics_count) {
    initialise(graph_, options.seed, parameters_, statistics_);
  }

  std::span<float> parameters() override { return parameters_; }
  std::span<float> gradients() override { return gradients_; }
  std::span<float> statistics() override { return statistics_; }
  const std::vector<ParameterInfo>& parameter_layout() const override { return graph_.parameters; }
  const std::vector<ParameterInfo>& statistics_layout() const override { return graph_.statistics; }
  void parameters_changed() override {}

  StepResult forward_backward(const Batch& batch, const GradientsReady& ready) override {
    const StepResult result =
        network_.forward(batch.images, batch.labels, batch.size, true, step_, parameters_, statistics_);
    std::fill(gradients_.begin(), gradients_.end(), 0.0f);
    network_.backward(batch.labels, gradients_);
    if (ready) ready(0, gradients_.size());
    ++step_;
    return result;
  }
  StepResult evaluate(const Batch& batch, std::span<float> logits) override {
    const StepResult result =
        network_.forward(batch.images, batch.labels, batch.size, false, step_, parameters_, statistics_);
    if (!logits.empty()) std::copy(network_.logits().begin(), network_.logits().end(), logits.begin());
    return result;
  }

  std::string description() const override { return to_text(graph_); }
  InputShape input() const override { return {graph_.input.h, graph_.input.w, graph_.input.c}; }
  int classes() const override { return graph_.classes; }
  size_t memory_bytes() const override {
    return network_.memory_bytes() + 4 * (parameters_.size() + gradients_.size() + statistics_.size());
  }
  const Graph& graph() const override { return graph_; }
  uint64_t step() const override { return step_; }
  void set_step(uint64_t step) override { step_ = step; }
  Status whiten(const Batch& batch) override { return set_whitening(graph_, batch, parameters_); }
  std::string kernel_listing() const override {
    return "every layer: ref (plain loops in fp32, asked for)\n";
  }
  void set_profiling(bool) override {}
  std::vector<OperationTime> profile() const override { return {}; }

 private:
  Graph graph_;
  ReferenceNetwork<float> network_;
  std::vector<float> parameters_, gradients_, statistics_;
  uint64_t step_ = 0;
};

Status check_options(const BuildOptions& options) {
  static const std::vector<std::string> kKernels{"auto",   "accurate", "ref",   "eigen",
                                                 "onednn", "own",      "direct"};
  if (options.batch_size < 1 || options.batch_size > (1 << 20))
    return invalid(fmt::format("the batch size is from 1 to 1048576, not {}", options.batch_size));
  if (options.threads < 0 || options.threads > 1024)
    return invalid(fmt::format("threads are from 0 (all cores) to 1024, not {}", options.threads));
  if (!(options.label_smoothing >= 0 && options.label_smoothing < 1))
    return invalid(fmt::format("label smoothing is from 0 to below 1, not {}", options.label_smoothing));
  if (std::find(kKernels.begin(), kKernels.end(), options.kernels) == kKernels.end())
    return invalid(fmt::format("unknown kernels \"{}\"", options.kernels))
        .with_hint("known are auto, accurate, ref, eigen, onednn, own, direct");
  return ok_status();
}

// A layer that works on each position takes them all as the rows of one product, and counts them in an int.
Status check_positions(const Graph& graph, int batch) {
  for (const Layer& l : graph.layers) {
    const double positions = static_cast<double>(batch) * l.out.h * l.out.w;
    if ((l.per_token || l.kind == Kind::Attention) && positions > std::numeric_limits<int>::max())
      return invalid(fmt::format("{}: a batch of {} has {:.0f} positions, at most {} are taken together",
                                 l.name, batch, positions, std::numeric_limits<int>::max()))
          .with_hint("take a smaller batch");
  }
  return ok_status();
}

}  // namespace

Result<std::unique_ptr<Network>> Network::build(const std::string& model, InputShape input, int classes,
                                                const BuildOptions& options) {
  if (Status s = check_options(options); !s.ok()) return s;
  Result<Graph> graph = parse_model(model, {input.height, input.width, input.channels}, classes);
  if (!graph) return graph.status();
  if (Status s = check_least_memory(*graph, options); !s.ok()) return s;
  if (Status s = check_positions(*graph, options.batch_size); !s.ok()) return s;
  if (options.kernels == "ref")
    return std::unique_ptr<Network>(std::make_unique<PlainNetwork>(std::move(*graph), options));
  BuildOptions filled = options;
  if (filled.threads == 0) filled.threads = usable_cores();
  return make_planned_network(std::move(*graph), filled);
}

}  // namespace radl::engine
