// EC3's words in recipes: `ec3_append` and `ec3_prio` of plays, `ec3_file`, `ec3_xpath` and `ec3_jpath` of
// their variables.
#include <algorithm>
#include <map>
#include <set>

#include "common/text.h"
#include "compiler/compat/ec3/cluster.h"

namespace radl::ec3 {
namespace {

using Kind = Yaml::Kind;

constexpr size_t kMostText = size_t{64} << 20;  // a recipe that shows itself doubles with each variable

std::string shown_priority(const Yaml& value) {
  std::string text = dump_yaml(value);
  return std::string(trim(text.substr(0, text.find('\n'))));
}

// A template's braces would be Ansible's.
std::string without_braces(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '{')
      out += "\\x7b";
    else if (c == '}')
      out += "\\x7d";
    else
      out += c;
  }
  return out;
}

// What is looked up in recipes waits until the variables of the others have their values.
bool in_recipes(std::string_view path) {
  std::vector<std::string_view> parts = split(path, '/');
  return parts.size() < 3 || parts[1] == "configure";
}

class Expressions {
 public:
  Expressions(Cluster& cluster, const ReadFile& read_file, bool strict)
      : cluster_(cluster), read_file_(read_file), strict_(strict) {}

  void run() {
    for (Aspect* aspect : cluster_.order)
      if (has_plays(*aspect)) append(*aspect);
    for (Aspect* aspect : cluster_.order)
      if (has_plays(*aspect)) sort_plays(*aspect);
    for (bool recipes : {false, true})
      for (Aspect* aspect : cluster_.order)
        if (has_plays(*aspect)) variables(*aspect, recipes);
    for (Aspect* aspect : cluster_.order)
      if (aspect->keyword == "configure" && aspect->recipe) look_at_result(*aspect);
  }

 private:
  static bool has_plays(const Aspect& aspect) {
    return aspect.keyword == "configure" && aspect.recipe && aspect.recipe->is(Kind::List);
  }

  void error(const Aspect& aspect, std::string_view at, std::string message, std::string hint) {
    if (!strict_) return;
    Diagnostic& made =
        cluster_.diagnostics.report(DiagCode::Ec3Expression, place_in_recipe(aspect, at), std::move(message));
    if (!hint.empty()) made.with_help(std::move(hint));
  }

  void look_at_result(Aspect& aspect) {
    if (contains_itself(aspect.recipe)) {
      cluster_.diagnostics.report(DiagCode::Ec3Expression, place_in_recipe(aspect, "ec3_jpath"),
                                  "the recipe of `" + std::string(aspect.name) + "` would contain itself");
      aspect.composed = false;
      return;
    }
    if (cluster_.diagnostics.has(DiagCode::Ec3Expression)) return;
    for (std::string_view word : {"ec3_xpath", "ec3_jpath", "ec3_file", "ec3_append", "ec3_prio"})
      if (stays(aspect, word)) report_left(aspect, word);
  }

  // What is a word's own place in a play may wait there for another template; nothing is looked for
  // elsewhere.
  bool stays(const Aspect& aspect, std::string_view word) const {
    bool of_plays = word == "ec3_append" || word == "ec3_prio";
    std::set<const Yaml*> seen;
    if (!has_plays(aspect)) return holds(*aspect.recipe, word, seen);
    if (!of_plays) return strict_ && holds(*aspect.recipe, word, seen);
    for (const YamlPtr& play : aspect.recipe->items)
      for (const auto& entry : play->entries)
        if (holds(*entry.second, word, seen)) return true;
    return false;
  }

  void report_left(const Aspect& aspect, std::string_view word) {
    const char* help = !has_plays(aspect) ? "EC3 looks into recipes that are lists of plays"
                       : word == "ec3_append" || word == "ec3_prio"
                           ? "it belongs to a play: an entry of the list that the recipe is"
                           : "make it the value of a variable, in `vars:` as a map";
    cluster_.diagnostics
        .report(DiagCode::Ec3WordStays, deepest_in_recipe(aspect, word),
                "`" + std::string(word) + "` stays as it is: EC3 does not look for it here")
        .with_help(help);
  }

  static Span deepest_in_recipe(const Aspect& configure, std::string_view word);
  static bool holds(const Yaml& value, std::string_view word, std::set<const Yaml*>& seen) {
    if (!seen.insert(&value).second) return false;
    if (value.find(word)) return true;
    auto inside = [&](const YamlPtr& part) { return holds(*part, word, seen); };
    return std::any_of(value.items.begin(), value.items.end(), inside) ||
           std::any_of(value.entries.begin(), value.entries.end(),
                       [&](const auto& entry) { return inside(entry.second); });
  }

  // ---- ec3_append: the plays of another recipe

  void append(Aspect& aspect) {
    if (appended_.contains(&aspect)) return;
    busy_.insert(&aspect);
    std::vector<YamlPtr> plays;
    for (const YamlPtr& play : aspect.recipe->items) {
      YamlPtr name = play->find("ec3_append");
      if (!name) {
        plays.push_back(play);
        continue;
      }
      Aspect* source = cluster_.find("configure", name->text);
      if (source != nullptr && busy_.contains(source)) {
        error(aspect, "ec3_append", "`" + name->text + "` appends itself", {});
      } else if (source == nullptr || !has_plays(*source)) {
        error(aspect, "ec3_append", "there is no recipe `" + name->text + "` with plays to append", {});
      } else {
        append(*source);
        YamlPtr copy = copy_yaml(source->recipe);
        plays.insert(plays.end(), copy->items.begin(), copy->items.end());
      }
      aspect.composed = true;
    }
    YamlPtr made = Yaml::list();
    made->items = std::move(plays);
    aspect.recipe = made;
    busy_.erase(&aspect);
    appended_.insert(&aspect);
  }

  // ---- ec3_prio: smaller first; a play without one has its place in the list

  void sort_plays(Aspect& aspect) {
    std::vector<YamlPtr>& plays = aspect.recipe->items;
    auto has = [](const YamlPtr& play) { return play->find("ec3_prio") != nullptr; };
    if (std::none_of(plays.begin(), plays.end(), has)) return;
    struct Placed {
      YamlPtr priority, play;
    };
    std::vector<Placed> placed;
    for (size_t i = 0; i < plays.size(); ++i) {
      if (!plays[i]->is(Kind::Map))
        return error(aspect, "ec3_prio", "a play of `" + std::string(aspect.name) + "` is not a map", {});
      YamlPtr priority = plays[i]->find("ec3_prio");
      placed.push_back({priority ? priority : Yaml::integer(std::to_string(i)), plays[i]});
    }
    for (const Placed& each : placed) {
      if (placed.size() == 1 || same_order(*each.priority, *placed[0].priority)) continue;
      const Yaml& odd = is_number(*each.priority) ? *placed[0].priority : *each.priority;
      return error(aspect, "ec3_prio",
                   "the priority " + shown_priority(odd) + " cannot be compared with a number",
                   "`ec3_prio` takes a number; a play without one has its place in the list, from 0");
    }
    std::stable_sort(placed.begin(), placed.end(),
                     [](const Placed& a, const Placed& b) { return less(*a.priority, *b.priority); });
    plays.clear();
    for (const Placed& each : placed) plays.push_back(each.play);
    for (const YamlPtr& play : plays) play->erase("ec3_prio");
    aspect.composed = true;
  }

  static bool is_number(const Yaml& value) {
    return value.is(Kind::Integer) || value.is(Kind::Float) || value.is(Kind::Bool);
  }
  static bool same_order(const Yaml& a, const Yaml& b) {
    return (is_number(a) && is_number(b)) || (a.is(Kind::String) && b.is(Kind::String));
  }
  static double number_of(const Yaml& value) {
    if (value.is(Kind::Bool)) return value.boolean ? 1 : 0;
    return value.is(Kind::Float) ? value.real : std::strtod(value.text.c_str(), nullptr);
  }
  static bool less(const Yaml& a, const Yaml& b) {
    return a.is(Kind::String) ? a.text < b.text : number_of(a) < number_of(b);
  }

  // ---- variables

  void variables(Aspect& aspect, bool recipes) {
    for (const YamlPtr& play : aspect.recipe->items) {
      if (grown_ > kMostText) return;
      YamlPtr vars = play->find("vars");
      if (!vars || !vars->is(Kind::Map)) continue;
      for (auto& [name, value] : vars->entries) {
        if (!value->is(Kind::Map)) continue;
        YamlPtr made = variable(aspect, *name, *value, recipes);
        if (!made) continue;
        value = made;
        aspect.composed = true;
      }
    }
  }

  // nullptr: it remains unchanged.
  YamlPtr variable(const Aspect& aspect, const Yaml& name, const Yaml& value, bool recipes) {
    auto word = [&](std::string_view key) {
      YamlPtr found = value.find(key);
      return found && !found->empty() ? found : nullptr;
    };
    if (YamlPtr file = word("ec3_file"); file && !recipes) return from_file(aspect, name, *file);
    auto waits = [&](const YamlPtr& path) { return in_recipes(path->text) != recipes; };
    if (YamlPtr path = word("ec3_xpath"); path && (recipes || !waits(path))) {
      YamlPtr found = looked_up(aspect, name, *path, xpath_value(cluster_, path->text));
      return found ? Yaml::string(without_braces(found->text)) : nullptr;
    }
    if (YamlPtr path = word("ec3_jpath"); path && (recipes || !waits(path)))
      return looked_up(aspect, name, *path, jpath_value(cluster_, path->text));
    return nullptr;
  }

  YamlPtr looked_up(const Aspect& aspect, const Yaml& name, const Yaml& path, PathValue found) {
    if (found.value) grown_ += found.value->text.size();
    if (found.value && grown_ <= kMostText) return found.value;
    if (found.value)
      error(aspect, path.text, "the values of `ec3_xpath` are larger than 64 MiB in all", {});
    else
      error(aspect, path.text, "variable `" + name.text + "`: " + found.fault, found.hint);
    return nullptr;
  }

  YamlPtr from_file(const Aspect& aspect, const Yaml& name, const Yaml& file) {
    std::optional<std::string> text = read_file_(file.text);
    if (text) return Yaml::string(without_braces(*text));
    error(aspect, file.text, "variable `" + name.text + "`: there is no file `" + file.text + "`",
          "it is looked for beside the templates");
    return nullptr;
  }

  Cluster& cluster_;
  const ReadFile& read_file_;
  bool strict_;
  std::set<const Aspect*> appended_, busy_;
  size_t grown_ = 0;
};

// Values have no places: of several places of a word, the one that is furthest in is the one that stays.
Span Expressions::deepest_in_recipe(const Aspect& configure, std::string_view word) {
  Span found = place_in_recipe(configure, word);
  size_t furthest = 0;
  for (const ast::Configure* block : configure.written) {
    if (block->recipe == nullptr) continue;
    std::string_view body = block->recipe->text;
    for (size_t at = body.find(word); at != body.npos; at = body.find(word, at + 1)) {
      size_t column = at - (body.rfind('\n', at) + 1);
      if (column <= furthest) continue;
      furthest = column;
      uint32_t begin = block->recipe->span.begin + 6 + static_cast<uint32_t>(at);  // behind @begin
      found = {block->recipe->span.file, begin, begin + static_cast<uint32_t>(word.size())};
    }
  }
  return found;
}

}  // namespace

Span place_in_recipe(const Aspect& configure, std::string_view text) {
  for (const ast::Configure* block : configure.written) {
    if (block->recipe == nullptr || text.empty()) continue;
    size_t at = block->recipe->text.find(text);
    if (at == std::string_view::npos) continue;
    uint32_t begin = block->recipe->span.begin + 6 + static_cast<uint32_t>(at);  // behind @begin
    return {block->recipe->span.file, begin, begin + static_cast<uint32_t>(text.size())};
  }
  return configure.block->name.span;
}

void replace_expressions(Cluster& cluster, const ReadFile& read_file, bool strict) {
  Expressions(cluster, read_file, strict).run();
}

}  // namespace radl::ec3
