// The importer of ONNX files (onnx_import.h): internal. onnx_import.cc has its course, onnx_operators.cc what
// becomes of each operator.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/export/onnx_lines.h"

namespace radl::engine::exporter {

using Dims = std::vector<int64_t>;

inline constexpr float kClose = 1e-4f;  // constants of a pattern

// Steps of x * 0.5 * (1 + erf(x / sqrt(2))), which is gelu, and of x * hardsigmoid(x).
struct Gate {
  enum class Step { Half, Scaled, Erf, Plus, HalfPlus, Times, HardSigmoid, Sigmoid } step;
  Wire x;
};

class OnnxImporter {
 public:
  OnnxImporter(const OnnxFile& file, const OnnxInput& given) : file_(file), given_(given) {}

  Result<ImportedModel> run() {
    if (Status begun = begin(); !begun.ok()) return begun;
    for (const OnnxNode& node : file_.nodes) {
      if (std::none_of(node.outputs.begin(), node.outputs.end(),
                       [&](const std::string& name) { return needed_.contains(name); }))
        continue;
      if (Status taken = take(node); !taken.ok()) return taken;
    }
    return finish();
  }

 private:
  // ---- the beginning
  Status begin();
  std::string logits() const;
  void mark_needed(const std::string& output);

  // ---- values
  const OnnxTensor* constant(const OnnxNode& node, size_t k) const {
    if (k >= node.inputs.size()) return nullptr;
    const auto found = constants_.find(node.inputs[k]);
    return found == constants_.end() ? nullptr : &found->second;
  }
  const Wire* wire(const OnnxNode& node, size_t k) const {
    if (k >= node.inputs.size()) return nullptr;
    const auto found = wires_.find(node.inputs[k]);
    return found == wires_.end() ? nullptr : &found->second;
  }
  const Gate* gate(const OnnxNode& node, size_t k, Gate::Step step) const {
    const auto found = gates_.find(node.inputs[k]);
    return found == gates_.end() || found->second.step != step ? nullptr : &found->second;
  }
  Status put(const OnnxNode& node, Wire wire) {
    wires_[node.outputs[0]] = std::move(wire);
    return {};
  }
  Status put(const OnnxNode& node, Result<Wire> wire) {
    return wire.ok() ? put(node, std::move(*wire)) : wire.status();
  }
  Status gated(const OnnxNode& node, Gate::Step step, const Wire& x) {
    gates_[node.outputs[0]] = {step, x};
    return {};
  }
  static Status cannot(const OnnxNode& node, const std::string& why = "") {
    return {Code::Unsupported, fmt::format("cannot run the operator {}{}{}", node.op,
                                           node.name.empty() ? "" : " (node '" + node.name + "')",
                                           why.empty() ? "" : ": " + why)};
  }

  // ---- operators
  Status take(const OnnxNode& node);
  Status layer(const OnnxNode& node, const Wire& x);
  Status compute_shape(const OnnxNode& node, bool& taken);
  Status convolution(const OnnxNode& node, const Wire& x);
  Status matrix(const OnnxNode& node, const Wire& x);
  Status norm(const OnnxNode& node, const Wire& x);
  Status pool(const OnnxNode& node, const Wire& x);
  Status flatten(const OnnxNode& node, const Wire& x);
  Status transpose(const OnnxNode& node, const Wire& x);
  Status join(const OnnxNode& node);
  Status arithmetic(const OnnxNode& node);
  Status with_constant(const OnnxNode& node, const Wire& x, const OnnxTensor& c, bool constant_first);
  Status gelu(const OnnxNode& node, bool& taken);
  Result<std::string> padding(const OnnxNode& node, const Dims& kernel, const Dims& dilations) const;

  Result<ImportedModel> finish();

  const OnnxFile& file_;
  const OnnxInput& given_;
  OnnxLines lines_;
  std::map<std::string, OnnxTensor> constants_;
  std::map<std::string, Wire> wires_;
  std::map<std::string, Gate> gates_;
  std::map<std::string, Dims> dims_;
  std::map<std::string, int> uses_;
  std::set<std::string> needed_;
  std::string logits_;
};

}  // namespace radl::engine::exporter
