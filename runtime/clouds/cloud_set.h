// The clouds that this run may use.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "runtime/clouds/cloud.h"

namespace radl {

struct CloudSet {
  std::map<std::string, Cloud*> by_id;  // CloudId::text() -> cloud
  std::string fallback = "local";       // for a node whose `deploy` names no cloud
  // The name that a `deploy` may use (the id of a credential, a cloud's type) -> CloudId::text().
  std::map<std::string, std::string> by_name;

  // CloudId::text() of the cloud that a node is for; the name itself where there is none of it.
  std::string id_for(const ir::Node& node) const {
    const std::string& name = node.cloud.empty() ? fallback : node.cloud;
    auto known = by_name.find(name);
    return known == by_name.end() ? name : known->second;
  }
  Cloud* find(const std::string& id) const {
    auto known = by_id.find(id);
    return known == by_id.end() ? nullptr : known->second;
  }
  void add(Cloud& cloud) {
    by_id[cloud.id().text()] = &cloud;
    by_name.emplace(cloud.id().type, cloud.id().text());
  }
};

}  // namespace radl
