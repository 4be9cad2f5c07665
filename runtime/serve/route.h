// The paths of the service's own requests, with names in braces for what differs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace radl::serve {

// "/runs/{run}" fits {"runs", "a-1"} and gives {"a-1"}; "{path}" is all that is left. Nothing: it does not
// fit.
std::optional<std::vector<std::string>> path_parameters(std::string_view route,
                                                        const std::vector<std::string>& path);

}  // namespace radl::serve
