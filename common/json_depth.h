// Size of a JSON text's tree. Check it before parsing: copying and freeing parsed values recurses, and each
// value takes many times its bytes.
#pragma once

#include <cstddef>
#include <string_view>

namespace radl {

struct JsonShape {
  int depth = 0;      // maximum nesting of lists and objects
  size_t values = 0;  // about how many values there are
};
// Any numbers if the text is not JSON.
JsonShape json_shape(std::string_view text);

}  // namespace radl
