// What every cloud's design is put together with.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl {

class DesignBuilder {
 protected:
  // `seconds`: how long one request for a resource takes.
  DesignBuilder(const CloudId& cloud, const DesignInput& input, double seconds)
      : cloud_(cloud), input_(input), seconds_(seconds) {}

  Wanted& add(std::string address, const char* type, std::string summary, Json spec,
              std::vector<std::string> references) {
    Wanted wanted;
    wanted.address = std::move(address);
    wanted.type = type;
    wanted.summary = std::move(summary);
    wanted.spec = std::move(spec);
    wanted.references = std::move(references);
    wanted.seconds = seconds_;
    return design_.resources.emplace_back(std::move(wanted));
  }

  // Each text once.
  void note(const std::string& text) {
    if (noted_.insert(text).second) design_.notes.push_back(text);
  }

  const CloudId& cloud_;
  const DesignInput& input_;
  Design design_;

 private:
  const double seconds_;
  std::set<std::string> noted_;
};

}  // namespace radl
