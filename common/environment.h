// The environment variables that one user's work sees. A value, so that one process can serve several users,
// each with credentials, homes and proxies of their own.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>

namespace radl {

// The value of a variable; "" if it is not set. An Environment is one.
using Lookup = std::function<std::string(const std::string& name)>;

// Copies share the variables. Thread-safe: nothing changes them.
class Environment {
 public:
  using Variables = std::map<std::string, std::string>;

  Environment() = default;  // no variables
  explicit Environment(Variables variables);

  // Without line ends after it, as `export KEY="$(cat FILE)"` and secrets of containers leave them; "" if the
  // variable is not set.
  std::string operator()(const std::string& name) const;
  bool has(const std::string& name) const;
  const Variables& variables() const;  // as they are written
  // The same with one variable set to another value.
  Environment with(const std::string& name, std::string value) const;

 private:
  std::shared_ptr<const Variables> variables_;  // null: none
};

// The environment of this process at the time of the call. For the front ends, which belong to one user;
// everything below them gets an Environment.
Environment environment_of_process();

// The first of these variables that has a value, without blanks around it; "" if none has.
std::string first_set(const Lookup& environment, std::initializer_list<const char*> names);

}  // namespace radl
