// Any bytes as a model's text: what is accepted is printed and read back as the same graph.
#include <cstdint>

#include "engine/model/graph.h"

using namespace radl::engine;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Shape& input : {Shape{8, 8, 3}, Shape{1, 5, 1}}) {
    const auto graph = parse_model(text, input, 4);
    if (!graph.ok()) continue;
    const std::string printed = to_text(*graph);
    const auto again = parse_model(printed, input, 4);
    if (!again.ok() || to_text(*again) != printed || again->parameter_count != graph->parameter_count)
      __builtin_trap();
  }
  return 0;
}
