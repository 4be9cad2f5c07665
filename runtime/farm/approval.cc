#include "runtime/farm/approval.h"

#include <algorithm>

#include "common/json_values.h"

namespace radl::farm {
namespace {

double approved_figure(const Json& terms, const char* figure, const char* end) {
  return json::number_of(json::member(terms, figure), end);
}

}  // namespace

bool Approval::apply(const Event& event) {
  const std::string kind = json::text_of(event, "event");
  const double at = json::number_of(event, "at");
  const auto nodes = static_cast<size_t>(std::max(0.0, json::number_of(event, "nodes")));
  if (kind == "approve") {
    terms_ = event;
    paused_ = nullptr;
    used_ = since_ = 0;
    nodes_ = 0;
  } else if (kind == "began") {
    if (!terms_.is_null() && !terms_.contains("began")) terms_["began"] = at;
    count(at, nodes);
  } else if (kind == "nodes") {
    count(at, nodes);
  } else if (kind == "limit") {
    if (terms_.contains("nodes")) terms_["nodes"]["most"] = nodes;
  } else if (kind == "pause") {
    paused_ = event;
  } else if (kind == "closed") {
    close(at);
  } else {
    return false;
  }
  return true;
}

void Approval::count(double at, size_t nodes) {
  used_ = node_seconds(at);
  since_ = at;
  nodes_ = nodes;
}

double Approval::node_seconds(double now) const {
  return used_ + static_cast<double>(nodes_) * std::max(0.0, now - since_);
}

std::optional<double> Approval::node_seconds_left(double now) const {
  const double most = approved_figure(terms_, "node_seconds", "high");
  return most > 0 ? std::optional(most - node_seconds(now)) : std::nullopt;
}

void Approval::close(double at) {
  count(at, 0);
  const double began = json::number_of(terms_, "began");
  if (began <= 0 || !paused_.is_null()) return;
  const double seconds = approved_figure(terms_, "seconds", "value");
  if (seconds > 0)
    finished_.push_back({seconds, at - began, approved_figure(terms_, "node_seconds", "value"), used_});
}

}  // namespace radl::farm
