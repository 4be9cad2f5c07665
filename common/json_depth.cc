#include "common/json_depth.h"

#include <algorithm>

namespace radl {

JsonShape json_shape(std::string_view text) {
  JsonShape shape;
  int depth = 0;
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '\\') ++at;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '[' || c == '{') shape.depth = std::max(shape.depth, ++depth);
    if ((c == ']' || c == '}') && depth > 0) --depth;
    shape.values += c == ',' || c == '[' || c == '{';
  }
  return shape;
}

}  // namespace radl
