#include "runtime/clouds/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/clouds/caller.h"

namespace radl {
namespace {

// Seconds; `usual` where nothing is set.
Result<std::chrono::milliseconds> seconds_of(const Lookup& environment, const std::string& variable,
                                             std::chrono::milliseconds usual) {
  const std::string text = environment(variable);
  if (text.empty()) return usual;
  double seconds = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || !(seconds >= 0 && seconds <= 3600))
    return invalid(fmt::format("{}={}: must be seconds, 0 to 3600", variable, text));
  return std::chrono::milliseconds(static_cast<long long>(seconds * 1000));
}

}  // namespace

Result<Timing> timing_from(const Lookup& environment, const std::string& prefix, Timing usual) {
  Timing timing = usual;
  auto settles = seconds_of(environment, prefix + "_SETTLES_AFTER", usual.settles_after);
  if (!settles.ok()) return settles.status();
  timing.settles_after = *settles;
  auto first = seconds_of(environment, prefix + "_PACE", usual.pace.first);
  if (!first.ok()) return first.status();
  timing.pace.first = *first;
  if (!environment(prefix + "_PACE").empty())
    timing.pace.longest = std::max(*first, std::min(usual.pace.longest, *first * 5));
  return timing;
}

Result<std::string> caller_from(const Lookup& environment) {
  const std::string given = environment("RADL_CALLER_CIDR");
  if (given.empty()) return given;
  auto cidr = parse_cidr(given);
  return cidr.ok() ? cidr : Result<std::string>(std::move(cidr).status().at("RADL_CALLER_CIDR"));
}

}  // namespace radl
