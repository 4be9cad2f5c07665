// Turns an ONNX file into a model of the engine: its text, and its weights with PyTorch's names and order.
//
// The operators are those that onnx.h writes for convolutional networks, and the forms in which PyTorch's and
// TensorFlow's exporters write the same layers. Only what the logits depend on counts: a final Softmax is
// left out, since predictions apply one.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "engine/export/onnx_file.h"
#include "engine/export/safetensors.h"
#include "engine/model/network.h"

namespace radl::engine::exporter {

// What a file does not say.
struct OnnxInput {
  InputShape shape{0, 0, 0};  // zeros: as the file has it
  std::vector<float> mean,
      deviation;  // the file's input is (pixel / 255 - mean) / deviation; empty: it says so
  std::vector<std::string> class_names;
};

struct ImportedModel {
  std::string name, description;  // the model's text
  InputShape input;
  int classes = 0;
  std::vector<float> mean, deviation;  // per channel, with the normalization that the file does itself
  std::vector<std::string> class_names;
  SafetensorsFile weights;
};

// Unsupported names an operator that the engine does not have, and its node. Invalid: `input` is needed and
// missing.
Result<ImportedModel> import_onnx(const OnnxFile& file, const OnnxInput& input);

}  // namespace radl::engine::exporter
