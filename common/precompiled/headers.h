// Headers that most sources include. Builds with RADL_PRECOMPILE (cmake/RadlPrecompiled.cmake) compile them
// once and put them before each source; other builds do not read this file, so each source still includes
// what it uses.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

// json_templates.cc compiles these for all sources.
#define RADL_TEMPLATE extern template
#include "common/precompiled/json_templates.h"
#undef RADL_TEMPLATE
