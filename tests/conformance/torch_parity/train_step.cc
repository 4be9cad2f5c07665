// One training step of a trained model's folder, with everything in between written down.
//
// Usage: conformance_train_step MODEL BATCH.safetensors OUT.safetensors [exact]
// BATCH holds `images` [n, h, w, c], normalised, and `labels` [n]. OUT gets `logits` and `loss` of an
// evaluation, `train_loss`, and grad.NAME and after.NAME (SGD: rate 0.1, Nesterov momentum 0.9, weight decay
// 0.0005, two updates with the same gradient) of every parameter, after.NAME of every statistic; all in
// PyTorch's order. With `exact` also exact.logits, exact.train_loss and exact.grad.NAME, by the reference
// network in double precision.
#include <fmt/format.h>

#include <cstdio>

#include "engine/export/bundle.h"
#include "engine/model/reference_network.h"
#include "engine/optim/optimizer.h"

using namespace radl;
using namespace radl::engine;

namespace {

struct Output {
  std::vector<exporter::TensorView> views;
  std::vector<std::vector<float>> storage;

  void add(const std::string& name, std::vector<int64_t> shape, std::vector<float> values) {
    storage.push_back(std::move(values));
    views.push_back({name, std::move(shape), storage.back()});
  }
  void add(const std::string& prefix, Network& network) {
    for (auto& view : exporter::pytorch_weights(network).views)
      add(prefix + view.name, view.shape, {view.values.begin(), view.values.end()});
  }
};

Status step(Network& network, const Batch& batch, Output& out) {
  const auto n = size_t(batch.size), classes = size_t(network.classes());
  std::vector<float> logits(n * classes);
  const StepResult evaluated = network.evaluate(batch, logits);
  out.add("logits", {batch.size, network.classes()}, logits);
  out.add("loss", {1}, {float(evaluated.loss)});
  out.add("train_loss", {1}, {float(network.forward_backward(batch).loss)});
  // The gradients are written through the parameters' names and order.
  const std::vector<float> kept(network.parameters().begin(), network.parameters().end());
  std::copy(network.gradients().begin(), network.gradients().end(), network.parameters().begin());
  out.add("grad.", network);
  std::copy(kept.begin(), kept.end(), network.parameters().begin());
  OptimizerConfig config;
  config.nesterov = true;
  config.weight_decay = 0.0005f;
  auto sgd = Optimizer::make(config, network.parameter_layout());
  if (!sgd.ok()) return sgd.status();
  for (int update = 0; update < 2; ++update) (*sgd)->step(network.parameters(), network.gradients(), 0.1f);
  out.add("after.", network);
  return {};
}

// The same in double precision by plain loops: what the fast kernels are to be but for rounding.
void exact_step(Network& network, const Batch& batch, Output& out) {
  const std::vector<double> images(batch.images.begin(), batch.images.end()),
      parameters(network.parameters().begin(), network.parameters().end());
  std::vector<double> statistics(network.statistics().begin(), network.statistics().end()),
      gradients(parameters.size());
  ReferenceNetwork<double> reference(network.graph(), 1, 0);
  reference.forward(images, batch.labels, batch.size, false, 0, parameters, statistics);
  out.add("exact.logits", {batch.size, network.classes()},
          {reference.logits().begin(), reference.logits().end()});
  const auto trained = reference.forward(images, batch.labels, batch.size, true, 0, parameters, statistics);
  out.add("exact.train_loss", {1}, {float(trained.loss)});
  reference.backward(batch.labels, gradients);
  std::copy(gradients.begin(), gradients.end(), network.parameters().begin());
  out.add("exact.grad.", network);
  std::copy(parameters.begin(), parameters.end(), network.parameters().begin());
}

Status run(const std::string& model, const std::string& input, const std::string& output, bool exact) {
  auto bundle = exporter::read_bundle(model);
  if (!bundle.ok()) return bundle.status();
  auto file = exporter::read_safetensors(input);
  if (!file.ok()) return file.status();
  const auto *images = file->find("images"), *labels = file->find("labels");
  if (!images || !labels || images->shape.empty()) return invalid(input + ": needs images and labels");
  const std::vector<int32_t> classes(labels->values.begin(), labels->values.end());
  const int n = int(images->shape[0]);
  auto network =
      exporter::load_network(*bundle, {.batch_size = n, .precision = Precision::Fp32, .training = true});
  if (!network.ok()) return network.status();
  Output out;
  if (exact) exact_step(**network, {images->values, classes, n}, out);
  if (Status s = step(**network, {images->values, classes, n}, out); !s.ok()) return s;
  return exporter::write_safetensors(output, out.views, {});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return fmt::print(stderr, "usage: {} MODEL BATCH OUT [exact]\n", argv[0]), 2;
  const Status done = run(argv[1], argv[2], argv[3], argc > 4 && std::string_view(argv[4]) == "exact");
  if (!done.ok()) fmt::print(stderr, "{}\n", done.text());
  return done.ok() ? 0 : 1;
}
