// The JSON header of a safetensors file, read as it goes by: what a hostile one takes is of its own size's
// order.
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
  uint64_t begin = 0, end = 0;  // of its bytes, behind the header
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // as in the text
  std::map<std::string, std::string> metadata;
};

// Corrupt, with the tensor's name and what is wrong: not JSON, a key more than once, a field missing or of
// another kind, a shape of more than 2^40 values or 64 dimensions, more than 262144 tensors or 4096 entries
// of metadata.
Result<SafetensorsHeader> read_safetensors_header(std::string_view text);

}  // namespace radl::engine::exporter
