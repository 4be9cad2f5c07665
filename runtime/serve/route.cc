#include "runtime/serve/route.h"

#include "common/text.h"

namespace radl::serve {

std::optional<std::vector<std::string>> path_parameters(std::string_view route,
                                                        const std::vector<std::string>& path) {
  std::vector<std::string> held;
  size_t at = 0;
  for (const std::string_view part : split(route.substr(1), '/')) {
    if (at >= path.size()) return {};
    if (part == "{path}") {  // all that is left
      held.push_back(join({path.begin() + long(at), path.end()}, "/"));
      return held;
    }
    if (part.starts_with('{'))
      held.push_back(path[at]);
    else if (part != path[at])
      return {};
    ++at;
  }
  if (at != path.size()) return {};
  return held;
}

}  // namespace radl::serve
