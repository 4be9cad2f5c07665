// The space of a search: its parameters and where their values come from.
//
// A space is a JSON object, name -> one of
//   [value, ...]                                   a choice
//   {"min": a, "max": b}                           a number; with "log": true by its logarithm; with
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
  std::vector<Json> values;  // of a choice; empty: a number
  double min = 0, max = 0;
  bool log = false, integer = false;
  double step = 0;  // between the values of a number; 0: any value
  int steps = 3;    // of a number in a grid; 0: all its values, which `step` determines
  std::map<std::string, std::vector<Json>> when;
  bool is_choice() const { return !values.empty(); }
  // A value for a position in [0, 1).
  Json at(double position) const;
  // The position of a value, the middle of a choice's part.
  double position(const Json& value) const;
  bool exists(const Json& chosen) const;
  // The value next to a number. Only of a range.
  Json nearest(double number) const;
  // A choice has it, or it lies within the range.
  bool takes(const Json& value) const;
};

class Space {
 public:
  // Invalid: it says which parameter is wrong, and why.
  static Result<Space> parse(const Json& json);
  // In an order in which conditions come after what they depend on; otherwise by name.
  const std::vector<Parameter>& parameters() const { return parameters_; }
  // Values for a position of each parameter; a parameter whose condition does not hold has none.
  Json values(const std::vector<double>& positions) const;
  // The same, but values of `kept` that a parameter takes replace those of their position.
  Json values(const std::vector<double>& positions, const Json& kept) const;
  // What of `values` lies in the space, each number as near as the space has one.
  Json known(const Json& values) const;
  // All combinations, without those that differ only in parameters that do not exist.
  std::vector<Json> grid(size_t most) const;

 private:
  std::vector<Parameter> parameters_;
};

}  // namespace radl::farm
