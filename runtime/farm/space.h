// The space of a search: its parameters and the sources of their values.
//
// A space is a JSON object, name -> one of
//   [value, ...]                                   a choice
//   {"min": a, "max": b}                           a number; with "log": true on a logarithmic scale; with
//                                                  "integer": true a whole number; with "step": s one of a,
//                                                  a + s, a + 2 s, ..; "steps": n values of it in a grid
//   {"values": [..]}                               a choice
// An object may have "when": {"other": [value, ..]}: the parameter exists only if `other` has such a value.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/status.h"

namespace radl::farm {

using Json = nlohmann::json;

struct Parameter {
  std::string name;
  std::vector<Json> values;  // of a choice; empty for a number
  double min = 0, max = 0;
  bool log = false, integer = false;
  double step = 0;  // distance of a number's values; 0: continuous
  int steps = 3;    // number of grid values; 0: all multiples of `step`
  std::map<std::string, std::vector<Json>> when;
  bool is_choice() const { return !values.empty(); }
  // The value at a position in [0, 1).
  Json at(double position) const;
  // The position of a value; the middle of its part for a choice.
  double position(const Json& value) const;
  bool exists(const Json& chosen) const;
  // The value nearest to a number. Ranges only.
  Json nearest(double number) const;
  // True if a choice contains it, or if it is within the range.
  bool takes(const Json& value) const;
};

class Space {
 public:
  // Invalid: names the parameter and the error.
  static Result<Space> parse(const Json& json);
  // Sorted so that conditions follow the parameters they depend on; otherwise by name.
  const std::vector<Parameter>& parameters() const { return parameters_; }
  // The values at each parameter's position, without parameters whose condition is false.
  Json values(const std::vector<double>& positions) const;
  // Same, with the valid values in `kept` instead of those by position.
  Json values(const std::vector<double>& positions, const Json& kept) const;
  // The part of `values` in the space, with each number rounded to the nearest valid one.
  Json known(const Json& values) const;
  // All combinations, without duplicates that differ only in nonexistent parameters.
  std::vector<Json> grid(size_t most) const;

 private:
  std::vector<Parameter> parameters_;
};

}  // namespace radl::farm
