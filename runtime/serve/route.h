// Path patterns of the service's own requests, with parameters in braces.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace radl::serve {

// "/runs/{run}" matches {"runs", "a-1"} and returns {"a-1"}; "{path}" matches the rest. nullopt: no
// match.
std::optional<std::vector<std::string>> path_parameters(std::string_view route,
                                                        const std::vector<std::string>& path);

}  // namespace radl::serve
