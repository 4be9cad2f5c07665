#include "runtime/plan/softs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "compiler/ir/derive.h"

namespace radl {

namespace {

// Texts of one of the features in which case does not matter, and in general: 'Linux' is 'linux'.
bool same(const ir::Json& a, const ir::Json& b) {
  if (!a.is_string() || !b.is_string()) return a == b;
  const auto& left = a.get_ref<const std::string&>();
  const auto& right = b.get_ref<const std::string&>();
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

bool is_groups(const ir::Json& value) {
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const ir::Json& v) { return v.is_object(); });
}

// Groups of `contains`, united by their name. False when they contradict each other.
bool unite(ir::Json& into, const ir::Json& more) {
  for (const ir::Json& group : more) {
    auto there = std::find_if(into.begin(), into.end(), [&](const ir::Json& known) {
      return known.value("name", ir::Json()) == group.value("name", ir::Json());
    });
    if (there == into.end()) {
      into.push_back(group);
      continue;
    }
    for (const auto& [name, value] : group.items()) {
      if (there->contains(name) && !same(there->at(name), value)) return false;
      (*there)[name] = value;
    }
  }
  return true;
}

// Any image of a list is acceptable, so the result is the images in both lists. Empty if there is none.
ir::Json common(const ir::Json& a, const ir::Json& b) {
  auto list = [](const ir::Json& value) { return value.is_array() ? value : ir::Json::array({value}); };
  ir::Json found = ir::Json::array();
  for (const ir::Json& each : list(a)) {
    for (const ir::Json& other : list(b)) {
      if (same(each, other)) found.push_back(each);
    }
  }
  return found;
}

bool unite_equals(ir::JsonBox& into, const ir::Json& more) {
  if (!into) {
    into = more;
    return true;
  }
  if (is_groups(*into) && is_groups(more)) return unite(*into, more);
  if (into->is_number() && more.is_number()) return into->get<double>() == more.get<double>();
  if (same(*into, more)) return true;
  if (!into->is_array() && !more.is_array()) return false;
  ir::Json found = common(*into, more);
  if (found.empty()) return false;
  into = found.size() == 1 ? found.front() : found;
  return true;
}

void raise(std::optional<double>& end, bool& strict, const std::optional<double>& other, bool other_strict,
           double sign) {
  if (!other) return;
  if (!end || sign * *other > sign * *end) {
    end = other;
    strict = other_strict;
  } else if (*other == *end) {
    strict = strict || other_strict;
  }
}

}  // namespace

Result<ir::Requirement> both(const ir::Requirement& a, const ir::Requirement& b) {
  ir::Requirement made = a;
  bool numbers = a.min || a.max, others = b.min || b.max;
  if (numbers && others && a.unit != b.unit) return invalid("units differ");
  if ((numbers && b.equals && !others) || (others && a.equals && !numbers))
    return invalid("a number and a text");
  raise(made.min, made.min_strict, b.min, b.min_strict, 1);
  raise(made.max, made.max_strict, b.max, b.max_strict, -1);
  bool empty = made.min && made.max &&
               (*made.min > *made.max || (*made.min == *made.max && (made.min_strict || made.max_strict)));
  if (empty) return invalid("no number meets both");
  if (b.equals && !unite_equals(made.equals, *b.equals)) return invalid("the values differ");
  for (const auto& [op, text] : b.versions) {
    auto [there, fresh] = made.versions.emplace(op, text);
    if (!fresh && there->second != text) return invalid("the versions differ");
  }
  if (made.unit.empty()) made.unit = b.unit;
  return made;
}

SoftOutcome resolve_softs(const ir::Node& node, const std::function<Status(const ir::Node&)>& possible) {
  SoftOutcome outcome{node, 0, 0, {}, {}};
  for (const ir::Soft& soft : node.softs) {
    outcome.most += soft.weight;
    ir::Node wanted = outcome.node;
    std::string against;
    for (const auto& [name, want] : soft.requirements) {
      auto there = wanted.requirements.find(name);
      if (there == wanted.requirements.end()) {
        wanted.requirements[name] = want;
        continue;
      }
      Result<ir::Requirement> united = both(there->second, want);
      if (!united.ok()) {
        against = fmt::format("{} contradicts a requirement: {}", name, united.status().message());
        break;
      }
      there->second = std::move(*united);
    }
    if (against.empty()) {
      ir::derive_disks(wanted);
      if (Status status = possible(wanted); !status.ok()) against = status.message();
    }
    if (!against.empty()) {
      outcome.dropped.push_back(fmt::format("weight {}: {}", soft.weight, against));
      continue;
    }
    std::string features;
    for (const auto& [name, want] : soft.requirements) features += (features.empty() ? "" : ", ") + name;
    outcome.taken.push_back({soft.weight, std::move(features), std::move(outcome.node)});
    outcome.node = std::move(wanted);
    outcome.score += soft.weight;
  }
  return outcome;
}

}  // namespace radl
