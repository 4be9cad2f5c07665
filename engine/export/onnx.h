// Exports a trained model as an ONNX file for onnxruntime and other tools.
//
// Opset 17, IR version 8. Input "images": float [batch, channels, height, width], RGB, with a free batch
// size. With a normalization, its values are pixels 0..255, which the first nodes normalize. Without
// one, the input must already be normalized. Outputs "logits" and "probabilities": float [batch,
// classes].
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/status.h"
#include "engine/model/graph.h"

namespace radl::engine::exporter {

struct OnnxOptions {
  std::vector<float> mean, deviation;           // per channel on 0..1; empty: the input is already normalized
  std::vector<std::string> class_names;         // stored as metadata "class_names", a JSON list
  std::map<std::string, std::string> metadata;  // further metadata_props
};

// `parameters` and `statistics` are the network's flat buffers. Unsupported: over protobuf's limit of 2 GB.
Result<std::string> encode_onnx(const Graph& graph, std::span<const float> parameters,
                                std::span<const float> statistics, const OnnxOptions& options = {});
Status write_onnx(const std::string& path, const Graph& graph, std::span<const float> parameters,
                  std::span<const float> statistics, const OnnxOptions& options = {});

}  // namespace radl::engine::exporter
