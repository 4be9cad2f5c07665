#include "engine/model/sized_network.h"

#include <fmt/format.h>

#include <algorithm>

namespace radl::engine {

namespace {

size_t values_of(const InputShape& s) {
  return static_cast<size_t>(s.height) * static_cast<size_t>(s.width) * static_cast<size_t>(s.channels);
}

class SizedNetwork : public Network {
 public:
  SizedNetwork(std::unique_ptr<Network> full, std::vector<std::unique_ptr<Network>> smaller)
      : full_(std::move(full)), smaller_(std::move(smaller)), stale_(smaller_.size(), true) {}

  std::span<float> parameters() override { return full_->parameters(); }
  std::span<float> gradients() override { return last_->gradients(); }
  std::span<float> statistics() override { return full_->statistics(); }
  const std::vector<ParameterInfo>& parameter_layout() const override { return full_->parameter_layout(); }
  const std::vector<ParameterInfo>& statistics_layout() const override { return full_->statistics_layout(); }
  void parameters_changed() override {
    full_->parameters_changed();
    stale_.assign(stale_.size(), true);
  }

  StepResult forward_backward(const Batch& batch, const GradientsReady& ready) override {
    const size_t values = batch.images.size() / static_cast<size_t>(batch.size);
    for (size_t i = 0; i < smaller_.size(); ++i)
      if (values_of(smaller_[i]->input()) == values) return step_smaller(i, batch, ready);
    last_ = full_.get();
    return full_->forward_backward(batch, ready);
  }
  StepResult evaluate(const Batch& batch, std::span<float> logits) override {
    return full_->evaluate(batch, logits);
  }

  std::string description() const override { return full_->description(); }
  InputShape input() const override { return full_->input(); }
  int classes() const override { return full_->classes(); }
  size_t memory_bytes() const override {
    size_t sum = full_->memory_bytes();
    for (const auto& network : smaller_) sum += network->memory_bytes();
    return sum;
  }
  const Graph& graph() const override { return full_->graph(); }
  uint64_t step() const override { return full_->step(); }
  void set_step(uint64_t step) override { full_->set_step(step); }
  Status whiten(const Batch& batch) override {
    stale_.assign(stale_.size(), true);
    return full_->whiten(batch);
  }
  std::string kernel_listing() const override { return full_->kernel_listing(); }
  void set_profiling(bool on) override { full_->set_profiling(on); }
  std::vector<OperationTime> profile() const override { return full_->profile(); }

 private:
  StepResult step_smaller(size_t i, const Batch& batch, const GradientsReady& ready) {
    Network& network = *smaller_[i];
    last_ = &network;
    if (stale_[i]) {
      std::copy(parameters().begin(), parameters().end(), network.parameters().begin());
      network.parameters_changed();
      stale_[i] = false;
    }
    std::copy(statistics().begin(), statistics().end(), network.statistics().begin());
    network.set_step(full_->step());
    const StepResult result = network.forward_backward(batch, ready);
    full_->set_step(network.step());
    std::copy(network.statistics().begin(), network.statistics().end(), statistics().begin());
    return result;
  }

  std::unique_ptr<Network> full_;
  std::vector<std::unique_ptr<Network>> smaller_;
  std::vector<bool> stale_;  // its weights are older than those of full_
  Network* last_ = full_.get();
};

bool same_layout(const Network& a, const Network& b) {
  const auto &x = a.parameter_layout(), &y = b.parameter_layout();
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& p, const auto& q) {
    return p.name == q.name && p.shape == q.shape && p.offset == q.offset;
  });
}

}  // namespace

Result<std::unique_ptr<Network>> build_sized_network(const std::string& model, InputShape full,
                                                     const std::vector<InputShape>& smaller, int classes,
                                                     const BuildOptions& options) {
  Result<std::unique_ptr<Network>> network = Network::build(model, full, classes, options);
  if (!network || smaller.empty()) return network;
  std::vector<std::unique_ptr<Network>> others;
  for (const InputShape& s : smaller) {
    const std::string size = fmt::format("images of {}x{}", s.height, s.width);
    Result<std::unique_ptr<Network>> other = Network::build(model, s, classes, options);
    if (!other) return std::move(other).status().at(size);
    if (!same_layout(**network, **other))
      return invalid(fmt::format("the model has other weights for {} than for {}x{}", size, full.height,
                                 full.width))
          .with_hint("end it with globalavgpool or globalmaxpool");
    others.push_back(std::move(*other));
  }
  return std::unique_ptr<Network>(std::make_unique<SizedNetwork>(std::move(*network), std::move(others)));
}

}  // namespace radl::engine
