#include "runtime/farm/packing.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace radl::farm {
namespace {

// A node that stays long after the task is better left to a longer task: a second of that counts as a tenth
// of a second of additional rent. Measured on the task sets of packing_test.cc.
constexpr double kSlack = 0.1;

constexpr std::array<std::pair<std::string_view, Rule>, 3> kRules = {
    {{"fullest", Rule::Fullest}, {"spread", Rule::Spread}, {"least_rent", Rule::LeastRent}}};

double rent(const Host& host, double seconds, double now) {
  const double end = now + seconds, until = std::max(host.until, now);
  return end > until ? end - until : kSlack * (until - end);
}

}  // namespace

bool Resources::fits(const Resources& room) const {
  return cpu <= room.cpu && memory <= room.memory && gpu <= room.gpu && disk <= room.disk;
}

bool Host::is_large_enough(const Resources& needs) const {
  if (machines.empty()) return needs.fits(registered);
  return std::any_of(machines.begin(), machines.end(),
                     [&](const Resources& machine) { return needs.fits(machine); });
}

Resources& Resources::operator+=(const Resources& more) {
  cpu += more.cpu, memory += more.memory, gpu += more.gpu, disk += more.disk;
  return *this;
}

Resources& Resources::operator-=(const Resources& less) {
  cpu -= less.cpu, memory -= less.memory, gpu -= less.gpu, disk -= less.disk;
  return *this;
}

std::optional<Rule> find_rule(std::string_view name) {
  for (const auto& [text, rule] : kRules) {
    if (text == name) return rule;
  }
  return std::nullopt;
}

double fitness(const Resources& needs, const Host& host) {
  double sum = 0;
  int parts = 0;
  auto add = [&](int64_t needed, int64_t registered, int64_t remaining, bool counts) {
    if (registered == 0 || !counts) return;
    sum += static_cast<double>(registered - remaining + needed) / static_cast<double>(registered);
    ++parts;
  };
  add(needs.cpu, host.registered.cpu, host.remaining.cpu, true);
  add(needs.memory, host.registered.memory, host.remaining.memory, true);
  add(needs.gpu, host.registered.gpu, host.remaining.gpu, needs.gpu > 0);
  add(needs.disk, host.registered.disk, host.remaining.disk, needs.disk > 0);
  return parts == 0 ? 0 : sum / parts;
}

std::optional<size_t> choose_host(Rule rule, const Resources& needs, double seconds, double now,
                                  const std::vector<Host>& hosts, const std::vector<std::string>& avoid) {
  using Key = std::tuple<double, double, std::string_view>;  // the smallest is best
  auto avoided = [&](const Host& host) {
    return std::find(avoid.begin(), avoid.end(), host.name) != avoid.end();
  };
  const bool another = !avoid.empty() && std::any_of(hosts.begin(), hosts.end(), [&](const Host& host) {
    return host.open && host.is_large_enough(needs) && !avoided(host);
  });
  std::optional<size_t> best;
  Key best_key;
  for (size_t i = 0; i < hosts.size(); ++i) {
    const Host& host = hosts[i];
    if (!host.open || host.kept_free || !needs.fits(host.remaining) || (another && avoided(host))) continue;
    if (!host.is_large_enough(needs)) continue;
    const double full = fitness(needs, host);
    Key key{rule == Rule::LeastRent ? rent(host, seconds, now) : 0, rule == Rule::Spread ? full : -full,
            host.name};
    if (best && !(key < best_key)) continue;
    best = i;
    best_key = key;
  }
  return best;
}

}  // namespace radl::farm
