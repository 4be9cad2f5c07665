#include "runtime/plan/autoscaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace radl {

namespace {

constexpr int kMostOrdinals = 100000;

std::optional<int> number_in(const std::string& word) {
  if (word.empty() || word.size() > 6 || word.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoi(word);
}

const char* wish_name(ElasticLook::Wish wish) {
  return wish == ElasticLook::Wish::Add ? "add" : wish == ElasticLook::Wish::Remove ? "remove" : "renew";
}

// The count that is wanted, once fewer nodes were wanted for long enough.
int wanted_count(const ElasticRules& rules, size_t now, int wanted, double idle_seconds) {
  const int least = std::max(wanted, rules.min);
  const int count = rules.max ? std::min(least, std::max(*rules.max, rules.min)) : least;
  const bool early = count < static_cast<int>(now) && idle_seconds < rules.idle_seconds;
  return early ? static_cast<int>(now) : count;
}

}  // namespace

Result<ElasticLook> read_elastic_look(const std::string& text) {
  ElasticLook look;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, first, second, rest;
    words >> kind >> first >> second >> rest;
    const std::optional<int> number = number_in(first);
    const bool wish = kind == "wish" && (second == "add" || second == "remove" || second == "renew");
    if (!number || *number > kMostOrdinals || !rest.empty() ||
        (!wish && (kind != "wanted" || !second.empty())))
      return invalid(fmt::format("'{}' is neither a number of nodes nor a wish for one", line));
    if (wish)
      look.wishes[*number] = second == "add"      ? ElasticLook::Wish::Add
                             : second == "remove" ? ElasticLook::Wish::Remove
                                                  : ElasticLook::Wish::Renew;
    if (!wish) look.wanted = number;
  }
  return look;
}

ElasticChoice choose_elastic(const ElasticRules& rules, const std::vector<int>& now, const ElasticLook& look,
                             double idle_seconds) {
  ElasticChoice choice;
  std::set<int> nodes(now.begin(), now.end());
  const size_t most = rules.max ? static_cast<size_t>(*rules.max) : static_cast<size_t>(kMostOrdinals);
  const size_t least = static_cast<size_t>(rules.min);
  // What goes makes room for what comes.
  for (const bool add : {false, true}) {
    for (const auto& [ordinal, wanted] : look.wishes) {
      if ((wanted == ElasticLook::Wish::Add) != add) continue;
      const bool there = nodes.count(ordinal) != 0;
      if (there != add && (add ? nodes.size() >= most : nodes.size() <= least)) {
        choice.left_out =
            add ? fmt::format("{}[{}] is requested, but at most {} nodes are allowed", rules.system, ordinal,
                              most)
                : fmt::format("{}[{}] is no longer requested, but at least {} nodes are required",
                              rules.system, ordinal, least);
        continue;
      }
      if (add) nodes.insert(ordinal);
      if (!add) nodes.erase(ordinal);
      choice.fulfilled.push_back(fmt::format("{} {}", ordinal, wish_name(wanted)));
    }
  }
  choice.nodes.assign(nodes.begin(), nodes.end());
  if (!look.wanted) return choice;
  const int count = wanted_count(rules, choice.nodes.size(), *look.wanted, idle_seconds);
  if (auto chosen = chosen_nodes(rules.system, choice.nodes, {count, {}}); chosen.ok())
    choice.nodes = std::move(*chosen);
  return choice;
}

}  // namespace radl
