// Checks that each template can resolve its references when EC3 adds it. EC3 checks the cluster after each
// template, so a template may only refer to names in itself or in earlier ones.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/compat/ec3/cluster.h"

namespace radl::ec3 {

class OrderCheck {
 public:
  explicit OrderCheck(const Cluster& cluster) : cluster_(cluster) {}

  // Call right after each template is added.
  void look();
  // Reports names that only a later template defines. The document check reports names that stay undefined.
  void report();

 private:
  struct Missing {
    std::string what;  // "network `private`", "disk 0 of system `front`"
    Span span;
  };
  std::vector<Missing> missing() const;

  const Cluster& cluster_;
  std::map<std::string, Missing> then_;  // by what
};

}  // namespace radl::ec3
