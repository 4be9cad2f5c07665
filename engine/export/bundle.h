// A trained model as it lies on disk: a folder with model.json (shape, classes, normalisation), model.txt
// (its description) and model.safetensors (weights and statistics, PyTorch's names and orders). Training
// writes it; eval, predict, serve, export and inspect read it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/status.h"
#include "engine/export/safetensors.h"
#include "engine/model/network.h"

namespace radl::engine::exporter {

struct Bundle {
  std::string folder, name;
  std::string description;  // the model's text
  InputShape input;
  int classes = 0;
  std::vector<float> mean, deviation;    // of the input, per channel on 0..1
  std::vector<std::string> class_names;  // may be empty
};

// `path`: the folder, its model.json, or a run's folder with `model` in it. Corrupt names file and key.
Result<Bundle> read_bundle(const std::string& path);
// Invalid, and nothing is written, when a weight or a statistic is not finite.
Status write_bundle(const std::string& folder, const Bundle& bundle, Network& network);

// Builds the network and loads its weights.
Result<std::unique_ptr<Network>> load_network(const Bundle& bundle, const BuildOptions& options);

// Every parameter and statistic of the network must be in the file with its shape, and nothing else but
// PyTorch's num_batches_tracked; Invalid names the first that is missing, odd, of another shape or not
// finite. A "module." before all names is taken off.
Status assign_weights(Network& network, const SafetensorsFile& file, const std::string& name);
// The network's parameters and statistics under PyTorch's names and in its order (pytorch_order.h). The views
// point into the network and, where the order differs, into `storage`.
struct Weights {
  std::vector<TensorView> views;
  std::vector<std::vector<float>> storage;
};
Weights pytorch_weights(Network& network);

// "cat", or "class 3" without names.
std::string class_label(const Bundle& bundle, int index);

}  // namespace radl::engine::exporter
