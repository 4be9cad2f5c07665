#include "engine/train/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace radl::engine {
namespace {

// Seconds. Shorter exchanges cannot be distinguished from a machine's other work.
constexpr double kLeastExchange = 0.01;
// Exchanges of a view before a hint about its links.
constexpr int kBeforeLinks = 20;
// Exchanges in a row in which the same member is the slowest; a loaded machine pauses now and then.
constexpr int kSlowInARow = 20;
// Share of a link's throughput from which the link counts as full.
constexpr double kFullLink = 0.5;

std::string takes_text(double exchange_seconds, double step_seconds) {
  return fmt::format("an exchange takes {:.0f} ms, a step {:.0f} ms", 1000 * exchange_seconds,
                     1000 * step_seconds);
}

}  // namespace

Hint link_hint(const LinkMeasure& m, Encoding gradients) {
  if (m.workers < 2 || m.exchange_seconds < kLeastExchange || m.exchange_seconds <= m.step_seconds) return {};
  // A sum passes each link of the ring 2 (n - 1) times, one after the other.
  const double distance = static_cast<double>(m.workers - 1) * m.round_trip_seconds;
  const std::string takes = takes_text(m.exchange_seconds, m.step_seconds);
  if (distance > m.exchange_seconds / 2)
    return {"distance",
            fmt::format("the distance between the nodes limits the training: {}, the round trip {:.0f} ms. "
                        "Set mode to 'auto' or 'local_steps', or use nodes of one zone",
                        takes, 1000 * m.round_trip_seconds)};
  return {"link", fmt::format("the links between the nodes limit the training: {}. {}", takes,
                              compresses(gradients)
                                  ? "Set mode to 'auto' or 'local_steps', or use fewer nodes with more cores"
                                  : "Set gradients to 'int8' or 'power_sgd', or mode to 'auto'")};
}

Hint slow_node_hint(const std::string& name, size_t slow, std::span<const double> steps) {
  double others = 0;
  for (size_t i = 0; i < steps.size(); ++i)
    if (i != slow) others = std::max(others, steps[i]);
  return {
      "slow_node",
      fmt::format("{} is slow: its step takes {:.0f} ms, those of the others at most {:.0f} ms, and all wait "
                  "for it. Give it a faster or less loaded node, or use the mode async",
                  name, 1000 * steps[slow], 1000 * others)};
}

Hint server_hint(const ServerMeasure& m) {
  if (m.exchange_seconds < kLeastExchange || m.exchange_seconds <= m.step_seconds) return {};
  const std::string takes = takes_text(m.exchange_seconds, m.step_seconds);
  if (m.round_trip_seconds > m.exchange_seconds / 2)
    return {"distance",
            fmt::format("the distance to the servers limits this worker: {}, the round trip {:.0f} ms. "
                        "Set mode to 'auto' or 'local_steps', which need no servers",
                        takes, 1000 * m.round_trip_seconds)};
  if (m.link_bytes_per_second > 0 && m.bytes / m.exchange_seconds > kFullLink * m.link_bytes_per_second)
    return {"link",
            fmt::format("the link to the servers is full: {}. Set gradients and weights to 'bf16', or "
                        "put servers on more nodes",
                        takes)};
  return {"servers",
          fmt::format("the servers are saturated: {}, and the link is not full. Add servers, or give "
                      "them more cores",
                      takes)};
}

void ViewHints::begin_view() {
  seen_ = slow_in_a_row_ = 0;
  slow_ = -1;
  quickest_ = {};
  said_.clear();
}

void ViewHints::add(const LinkMeasure& measure, std::span<const double> steps, const cluster::View& view,
                    bool leads) {
  if (measure.exchange_seconds <= 0) return;  // the first one carries no time of one before it
  ++seen_;
  if (seen_ == 1 || measure.exchange_seconds < quickest_.exchange_seconds) quickest_ = measure;
  const int slow = slow_member(steps);
  slow_in_a_row_ = slow == slow_ ? slow_in_a_row_ + 1 : 1;
  slow_ = slow;
  if (!leads) return;
  if (slow >= 0 && slow_in_a_row_ >= kSlowInARow) {
    const auto rank = static_cast<size_t>(slow);
    const std::string name = fmt::format("worker/{}", view.members[rank].index);
    if (said_.insert(name).second) say(slow_node_hint(name, rank, steps), name, steps[rank]);
  }
  if (!links_ || seen_ < kBeforeLinks) return;
  LinkMeasure now = quickest_;
  now.step_seconds = measure.step_seconds;
  if (const Hint hint = link_hint(now, gradients_); hint && said_.insert(hint.about).second)
    say(hint, "", now.step_seconds);
}

void ViewHints::say(const Hint& hint, const std::string& peer, double step_seconds) {
  nlohmann::ordered_json line = {{"about", hint.about}};
  if (!peer.empty()) line["peer"] = peer;
  line["step_seconds"] = step_seconds;
  line["message"] = hint.message;
  progress_.emit("warning", line);
}

}  // namespace radl::engine
