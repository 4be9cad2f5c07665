// Streaming parser for the JSON header of a safetensors file. Its memory use is proportional to the header's
// size, even for hostile input.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace radl::engine::exporter {

struct SafetensorsEntry {
  std::string name, type;
  std::vector<int64_t> shape;
  uint64_t count = 1;           // product(shape)
  uint64_t begin = 0, end = 0;  // of its bytes, relative to the end of the header
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the order of the text
  std::map<std::string, std::string> metadata;
};

// Corrupt, with the tensor's name and the reason: not JSON, a duplicate key, a field that is missing or has
// another type, a shape of more than 2^40 values or 64 dimensions, more than 262144 tensors, or more than
// 4096 metadata entries.
Result<SafetensorsHeader> read_safetensors_header(std::string_view text);

}  // namespace radl::engine::exporter
