// Whether each template finds what it names at the moment when EC3 adds it: EC3 checks the cluster after each
// one, so that what a template names must be in itself or in those before it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/compat/ec3/cluster.h"

namespace radl::ec3 {

class OrderCheck {
 public:
  explicit OrderCheck(const Cluster& cluster) : cluster_(cluster) {}

  // Right after a template was added.
  void look();
  // Reports names that a later template defined. The check of the document reports those still undefined.
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
