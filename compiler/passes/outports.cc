#include "compiler/passes/outports.h"

#include "compiler/sema/outports.h"

namespace radl::passes {

std::vector<ir::PortRule> parse_outports(std::string_view text) {
  std::vector<ir::PortRule> rules;
  for (const sema::OutportsItem& item : sema::outports_items(text)) {
    if (!item.possible()) continue;
    ir::PortRule rule;
    rule.protocol = std::string(item.protocol);
    if (!item.cidr.empty()) rule.cidr = std::string(item.cidr);
    rule.remote = item.remote;
    rule.remote_end = item.remote_end;
    rule.local = item.local;
    rule.local_end = item.local_end;
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace radl::passes
