// A trained model on disk: a folder with model.json (shape, classes, normalization), model.txt (its
// description) and model.safetensors (weights and statistics, with PyTorch's names and order). Training
// writes it; eval, predict, serve, export and inspect read it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/status.h"
#include "engine/export/onnx_import.h"
#include "engine/export/safetensors.h"
#include "engine/model/network.h"

namespace radl::engine::exporter {

struct Bundle {
  std::string folder, name;
  std::string description;  // the model as text
  InputShape input;
  int classes = 0;
  std::vector<float> mean, deviation;              // of the input, per channel, on the scale 0..1
  std::vector<std::string> class_names;            // may be empty
  std::shared_ptr<const SafetensorsFile> weights;  // of an ONNX file; nullptr: the folder's
};

// `path`: the folder, its model.json, a run's folder that contains `model`, or an ONNX file. Corrupt names
// file and key. `input`: what an ONNX file does not say; it has no effect on folders.
Result<Bundle> read_bundle(const std::string& path, const OnnxInput& input = {});
// Invalid if a weight or statistic is not finite; nothing is written then.
Status write_bundle(const std::string& folder, const Bundle& bundle, Network& network);

// Builds the network and loads its weights.
Result<std::unique_ptr<Network>> load_network(const Bundle& bundle, const BuildOptions& options);

// The file must contain every parameter and statistic of the network in its shape, and nothing else except
// PyTorch's num_batches_tracked. Invalid names the first one that is missing, unknown, of another shape or
// not finite. Strips a common prefix "module.".
Status assign_weights(Network& network, const SafetensorsFile& file, const std::string& name);
// The network's parameters and statistics with PyTorch's names and order (pytorch_order.h). The views point
// into the network or, if the order differs, into `storage`.
struct Weights {
  std::vector<TensorView> views;
  std::vector<std::vector<float>> storage;
};
Weights pytorch_weights(Network& network);

// "cat", or "class 3" if there are no names.
std::string class_label(const Bundle& bundle, int index);

}  // namespace radl::engine::exporter
