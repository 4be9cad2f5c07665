// The safetensors format (github.com/huggingface/safetensors): an 8-byte length, a JSON header, and the
// bytes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace radl::engine::exporter {

struct TensorView {
  std::string name;
  std::vector<int64_t> shape;
  std::span<const float> values;  // product(shape) of them, row-major
};

// Writes F32 tensors in the given order, aligned to 8 bytes, atomically. Names must be unique.
Status write_safetensors(const std::string& path, std::span<const TensorView> tensors,
                         const std::map<std::string, std::string>& metadata);
Result<std::string> encode_safetensors(std::span<const TensorView> tensors,
                                       const std::map<std::string, std::string>& metadata);

struct StoredTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> values;  // F64, F16, BF16 and integers are rounded to the nearest float
};

struct SafetensorsFile {
  std::vector<StoredTensor> tensors;  // in the order of their data
  std::map<std::string, std::string> metadata;
  const StoredTensor* find(std::string_view name) const;
};

// Corrupt, with the reason: a header over 100 MB or larger than the file, anything that safetensors_header.h
// rejects, offsets that are out of bounds, overlap or leave gaps, a size that differs from shape x type, or
// an unknown type.
Result<SafetensorsFile> parse_safetensors(std::string_view bytes, const std::string& name);
Result<SafetensorsFile> read_safetensors(const std::string& path);

}  // namespace radl::engine::exporter
