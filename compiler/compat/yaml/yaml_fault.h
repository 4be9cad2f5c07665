// Whether a recipe is the YAML that PyYAML takes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace radl::sema {

// The first thing that PyYAML would refuse in a recipe: offset in `text` and what is wrong; nullopt when it
// is fine.
struct YamlFault {
  size_t offset;
  std::string message;
};
std::optional<YamlFault> yaml_fault(std::string_view text);

}  // namespace radl::sema
