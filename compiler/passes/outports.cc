#include "compiler/passes/outports.h"

#include "compiler/check/outports.h"

namespace radl::passes {

std::vector<ir::PortRule> parse_outports(std::string_view text) {
  std::vector<ir::PortRule> rules;
  for (const sema::OutportsItem& item : sema::outports_items(text)) {
    const auto source = item.source();
    if (!item.possible() || !source) continue;
    ir::PortRule rule;
    rule.protocol = std::string(item.protocol);
    rule.cidr = *source;
    rule.remote = item.remote;
    rule.remote_end = item.remote_end;
    rule.local = item.local;
    rule.local_end = item.local_end;
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace radl::passes
