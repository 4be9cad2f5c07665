// The environment variables of one user. A value type, so that one process can serve several users with
// different credentials, homes and proxies.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>

namespace radl {

// Returns the value of a variable; "" if not set. An Environment is a Lookup.
using Lookup = std::function<std::string(const std::string& name)>;

// Copies share the variables. Immutable and thread-safe.
class Environment {
 public:
  using Variables = std::map<std::string, std::string>;

  Environment() = default;  // no variables
  explicit Environment(Variables variables);

  // Strips trailing line ends, as left by `export KEY="$(cat FILE)"` and container secrets. "" if the
  // variable is not set.
  std::string operator()(const std::string& name) const;
  bool has(const std::string& name) const;
  const Variables& variables() const;  // unchanged values
  // Returns a copy with one variable set to another value.
  Environment with(const std::string& name, std::string value) const;

 private:
  std::shared_ptr<const Variables> variables_;  // null: none
};

// The environment of this process at the time of the call. Only front ends, which belong to one user, call
// it; all code below them receives an Environment.
Environment environment_of_process();

// Value of the first of these variables that is set and not blank, trimmed; "" if none is.
std::string first_set(const Lookup& environment, std::initializer_list<const char*> names);

}  // namespace radl
