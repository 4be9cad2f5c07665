// Reads ONNX files (onnx/onnx.proto): the parts of a model that onnx_import.h needs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace radl::engine::exporter {

struct OnnxTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> values;      // of the types float, double and float16
  std::vector<int64_t> integers;  // of the types int64 and int32
  bool is_integer = false;
  size_t size() const { return is_integer ? integers.size() : values.size(); }
};

struct OnnxAttribute {
  float real = 0;
  int64_t integer = 0;
  std::string text;
  std::vector<int64_t> integers;
  std::vector<float> reals;
  std::vector<OnnxTensor> tensors;  // at most one
};

struct OnnxNode {
  std::string op, name;  // "Conv"; operators of other domains are "DOMAIN.OP"
  std::vector<std::string> inputs, outputs;
  std::map<std::string, OnnxAttribute> attributes;

  int64_t integer(const std::string& name, int64_t otherwise) const;
  float real(const std::string& name, float otherwise) const;
  std::vector<int64_t> integers(const std::string& name) const;
  std::string text(const std::string& name, const std::string& otherwise) const;
};

struct OnnxValue {
  std::string name;
  std::vector<int64_t> shape;  // 0: unknown or free
};

struct OnnxFile {
  std::string producer, graph_name;
  int64_t opset = 0;  // of the operators without a domain
  std::vector<OnnxNode> nodes;
  std::map<std::string, OnnxTensor> constants;  // by name
  std::vector<OnnxValue> inputs, outputs;       // `inputs` without the constants
  std::map<std::string, std::string> metadata;
};

// Corrupt: not such a file, or it ends early. Unsupported: its weights are in other files, or of a type that
// is not a number.
Result<OnnxFile> parse_onnx(std::string_view bytes, const std::string& name);

}  // namespace radl::engine::exporter
