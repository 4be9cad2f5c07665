#include "runtime/clouds/simulated/faults.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <vector>

#include "common/text.h"

namespace radl::simulated {
namespace {

using Unit = FaultInfo::Unit;

constexpr FaultInfo kFaults[] = {
    {"latency", &Faults::latency, 0.2, Unit::Seconds, "each call takes this long"},
    {"boot", &Faults::boot, 40, Unit::Seconds, "a machine takes this long to boot"},
    {"shutdown", &Faults::shutdown, 20, Unit::Seconds, "a machine takes this long to disappear"},
    {"consistency", &Faults::consistency, 60, Unit::Seconds, "lists show changes with a delay"},
    {"page_size", &Faults::page_size, 7, Unit::Count,
     "lists come in small pages; each is a call that may fail"},
    {"foreign", &Faults::foreign, 12, Unit::Count, "the account contains resources of others"},
    {"instance_limit", &Faults::instance_limit, 0, Unit::Count,
     "maximum number of machines in the account; 0: no limit"},
    {"jitter", &Faults::jitter, 1, Unit::Switch, "times vary around their mean; 0: they are constant"},
    {"tags", &Faults::tags, 1, Unit::Switch, "if the file and radlc set the same tag, the file's value wins"},
    {"in_use", &Faults::in_use, 1, Unit::Switch, "a resource in use cannot be destroyed"},
    {"throttling", &Faults::throttling, 0.1, Unit::Chance, "a call is throttled"},
    {"errors", &Faults::errors, 0.05, Unit::Chance,
     "the cloud returns an internal error, with the work done or not"},
    {"lost_before", &Faults::lost_before, 0.05, Unit::Chance,
     "the connection breaks before the work is done"},
    {"lost_after", &Faults::lost_after, 0.05, Unit::Chance, "the connection breaks after the work is done"},
    {"quota", &Faults::quota, 0.02, Unit::Chance, "the limit of machines is reached for some minutes"},
    {"capacity", &Faults::capacity, 0.05, Unit::Chance,
     "an instance type has no capacity in a zone for some minutes"},
    {"broken", &Faults::broken, 0.04, Unit::Chance,
     "a machine or volume fails while it is created, and remains"},
    {"preemption", &Faults::preemption, 0.04, Unit::Chance,
     "a machine is preempted with two minutes' notice"},
    {"login", &Faults::login, 0.1, Unit::Chance, "a login to a machine fails"},
    {"steps", &Faults::steps, 0.05, Unit::Chance, "a step fails, or its connection breaks"},
};

const FaultInfo* fault_named(std::string_view name) {
  for (const FaultInfo& fault : kFaults)
    if (fault.name == name) return &fault;
  return nullptr;
}

Status no_such_fault(std::string_view name) {
  std::vector<std::string> names;
  for (const FaultInfo& fault : kFaults) names.emplace_back(fault.name);
  std::string near = nearest(name, names);
  return invalid(fmt::format("unknown fault '{}'", name))
      .with_hint(near.empty() ? "there are: all, none, " + join(names, ", ") : "did you mean " + near + "?");
}

Result<double> fault_value(const FaultInfo& fault, std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool number =
      error == std::errc() && end == text.data() + text.size() && std::isfinite(value) && value >= 0;
  switch (fault.unit) {
    case Unit::Seconds:
      if (number && value <= 86400) return value;
      return invalid(fmt::format("{}={}: must be seconds, 0 to 86400", fault.name, text));
    case Unit::Count: {
      double least = fault.value == &Faults::page_size ? 1 : 0;
      if (number && value == std::floor(value) && value >= least && value <= 1e6) return value;
      return invalid(fmt::format("{}={}: must be an integer, {} to 1000000", fault.name, text, least));
    }
    case Unit::Switch:
      if (number && (value == 0 || value == 1)) return value;
      return invalid(fmt::format("{}={}: must be 0 or 1", fault.name, text));
    case Unit::Chance:
      // At 1 nothing would ever succeed, and nobody could wait for it.
      if (number && value <= 0.9) return value;
      return invalid(fmt::format("{}={}: must be a chance, 0 to 0.9", fault.name, text));
  }
  return internal_error("unknown unit of a fault");
}

}  // namespace

std::span<const FaultInfo> fault_table() { return kFaults; }

Result<Faults> parse_faults(std::string_view text, Faults faults) {
  for (std::string_view piece : split(text, ',')) {
    piece = trim(piece);
    if (piece.empty()) continue;
    if (piece == "none") {
      faults = Faults();
      continue;
    }
    if (piece == "all") {
      for (const FaultInfo& fault : kFaults) faults.*fault.value = fault.when_on;
      continue;
    }
    size_t equals = piece.find('=');
    const FaultInfo* fault = fault_named(trim(piece.substr(0, equals)));
    if (!fault) return no_such_fault(trim(piece.substr(0, equals)));
    faults.*fault->value = fault->when_on;
    if (equals == piece.npos) continue;
    Result<double> value = fault_value(*fault, trim(piece.substr(equals + 1)));
    if (!value.ok()) return value.status();
    faults.*fault->value = *value;
  }
  return faults;
}

std::string faults_text(const Faults& faults) {
  std::vector<std::string> pieces;
  for (const FaultInfo& fault : kFaults) {
    if (faults.*fault.value != Faults().*fault.value)
      pieces.push_back(fmt::format("{}={}", fault.name, faults.*fault.value));
  }
  return pieces.empty() ? "none" : join(pieces, ",");
}

}  // namespace radl::simulated
