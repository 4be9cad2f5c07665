// Checks whether PyYAML accepts a recipe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace radl::sema {

// The first error that PyYAML would report: offset in `text` and message. nullopt if the recipe is
// valid.
struct YamlFault {
  size_t offset;
  std::string message;
};
std::optional<YamlFault> yaml_fault(std::string_view text);

}  // namespace radl::sema
