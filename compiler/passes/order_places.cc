#include "compiler/passes/order_places.h"

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "compiler/syntax/walk.h"

namespace radl::passes {

namespace {

using Places = std::map<const ast::Block*, size_t>;

const Places& places_of(const Instance& instance, std::map<const Instance*, Places>& known) {
  auto [found, fresh] = known.try_emplace(&instance);
  if (fresh) {
    for (const ast::Block* block : instance.blocks) found->second.emplace(block, found->second.size());
  }
  return found->second;
}

// The name in module['job-${x}'] after `each` is expanded; "" if it is computed otherwise.
std::string name_asked_for(const ast::PathPart& part) {
  auto text_of = [](const ast::Expr* written) -> std::string {
    auto* bound = ast::as<ast::Bound>(written);
    if (bound == nullptr || bound->value->sensitive()) return "";
    const auto text = expr::as_string(*bound->value);
    return text && text->kind() == expr::Kind::String ? text->as_text() : "";
  };
  auto* written = ast::as<ast::String>(part.index);
  if (written == nullptr) return text_of(part.index);
  if (written->parts.empty()) return std::string(written->text);
  std::string name;
  for (const ast::StringPart& piece : written->parts) {
    const std::string text = piece.value == nullptr ? std::string(piece.text) : text_of(piece.value);
    if (text.empty()) return "";
    name += text;
  }
  return name;
}

// First words of the references in a block, and in the values and functions of `let` that it names; of
// module['NAME'] the name, or every module's if it is computed.
std::set<std::string_view> words_of(const ast::Block& block, const Instance& instance) {
  std::set<std::string_view> words;
  std::vector<const ast::Block*> left = {&block};
  auto name = [&](std::string_view word) {
    auto let = instance.lets.find(word);
    if (words.insert(word).second && let != instance.lets.end()) left.push_back(let->second);
  };
  std::function<void(const ast::Expr&)> value = [&](const ast::Expr& written) {
    auto* reference = ast::as<ast::Reference>(&written);
    if (reference != nullptr && !reference->parts.empty()) {
      const std::string_view first = reference->parts[0].name.text;
      if (first == "module" && reference->parts.size() > 1 && reference->parts[1].index != nullptr) {
        const std::string module = name_asked_for(reference->parts[1]);
        for (const auto& child : instance.children)
          if (module.empty() || child->use->name.text == module) words.insert(child->use->name.text);
      }
      name(first);
    }
    auto* call = ast::as<ast::Call>(&written);
    if (call != nullptr && instance.lets.contains(call->function.text)) name(call->function.text);
    each_part(written, value);
  };
  while (!left.empty()) {
    const ast::Block* next = left.back();
    left.pop_back();
    each_value(*next, value);
  }
  return words;
}

}  // namespace

std::vector<size_t> places_in_source(const std::vector<Build::TrainingStep>& trainings) {
  std::map<const Instance*, Places> known;
  // The way down to each: the place of every `use`, then its own.
  std::vector<std::vector<size_t>> ways;
  for (const Build::TrainingStep& training : trainings) {
    std::vector<size_t> way = {places_of(*training.instance, known).at(training.configure)};
    for (const Instance* at = training.instance; at->parent != nullptr; at = at->parent)
      way.insert(way.begin(), places_of(*at->parent, known).at(at->use));
    ways.push_back(std::move(way));
  }
  std::vector<size_t> sorted(trainings.size()), places(trainings.size());
  std::iota(sorted.begin(), sorted.end(), size_t{0});
  std::stable_sort(sorted.begin(), sorted.end(), [&](size_t a, size_t b) { return ways[a] < ways[b]; });
  for (size_t i = 0; i < sorted.size(); i++) places[sorted[i]] = i;
  return places;
}

std::vector<std::pair<const Instance*, std::string_view>> modules_taken_by(
    const Build::TrainingStep& training) {
  std::vector<std::pair<const Instance*, std::string_view>> taken;
  const ast::Block* block = training.configure;
  for (const Instance* at = training.instance; at != nullptr; block = at->use, at = at->parent) {
    for (std::string_view word : words_of(*block, *at)) {
      if (const Instance* child = at->child(word)) taken.emplace_back(at, child->use->name.text);
    }
  }
  return taken;
}

}  // namespace radl::passes
