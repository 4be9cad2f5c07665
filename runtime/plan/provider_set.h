// The providers that this run may use, by name.
#pragma once

#include <map>
#include <string>

#include "runtime/providers/provider.h"

namespace radl {

struct ProviderSet {
  std::map<std::string, Provider*> by_name;  // "local" -> ...
  std::string fallback = "local";            // for a node whose `deploy` names no cloud
  std::map<std::string, std::string>
      of_cloud;  // id of a credential -> provider's name; else the id is the name

  // Its name, and nullptr where there is none of it.
  std::string name_for(const ir::Node& node) const;
  Provider* find(const std::string& name) const;
};

inline std::string ProviderSet::name_for(const ir::Node& node) const {
  if (node.cloud.empty()) return fallback;
  auto known = of_cloud.find(node.cloud);
  return known == of_cloud.end() ? node.cloud : known->second;
}

inline Provider* ProviderSet::find(const std::string& name) const {
  auto known = by_name.find(name);
  return known == by_name.end() ? nullptr : known->second;
}

}  // namespace radl
