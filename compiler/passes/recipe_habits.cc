#include "compiler/passes/recipe_habits.h"

#include <utility>

namespace radl {

std::string_view resource_type_called(std::string_view type) {
  constexpr std::pair<std::string_view, std::string_view> kCalled[] = {
      {"apt", "package"},   {"yum", "package"},   {"dnf", "package"},     {"packages", "package"},
      {"run", "command"},   {"shell", "command"}, {"exec", "command"},    {"script", "command"},
      {"copy", "upload"},   {"template", "file"}, {"systemd", "service"}, {"folder", "directory"},
      {"dir", "directory"}, {"setup", "command"}};
  for (const auto& [other, here] : kCalled)
    if (other == type) return here;
  return {};
}

bool means_the_command(std::string_view property) {
  return property == "run" || property == "cmd" || property == "command" || property == "script" ||
         property == "line";
}

}  // namespace radl
