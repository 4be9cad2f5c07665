#include "common/environment.h"

#include <unistd.h>

#include <string_view>

#include "common/text.h"

namespace radl {

Environment::Environment(Variables variables)
    : variables_(std::make_shared<const Variables>(std::move(variables))) {}

std::string Environment::operator()(const std::string& name) const {
  auto found = variables().find(name);
  if (found == variables().end()) return "";
  return found->second.substr(0, found->second.find_last_not_of("\r\n") + 1);
}

bool Environment::has(const std::string& name) const { return variables().contains(name); }

const Environment::Variables& Environment::variables() const {
  static const Variables none;
  return variables_ ? *variables_ : none;
}

Environment Environment::with(const std::string& name, std::string value) const {
  Variables changed = variables();
  changed[name] = std::move(value);
  return Environment(std::move(changed));
}

Environment environment_of_process() {
  Environment::Variables variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (const size_t equals = text.find('='); equals != text.npos)
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));  // the first of a name counts
  }
  return Environment(std::move(variables));
}

std::string first_set(const Lookup& environment, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (std::string value(trim(environment(name))); !value.empty()) return value;
  return "";
}

}  // namespace radl
