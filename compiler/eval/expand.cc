#include "compiler/eval/expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "compiler/eval/copy.h"

namespace radl {

using expr::Value;

class Expander::Expansion {
 public:
  Expansion(Instance& instance, Values& values, Diagnostics& diagnostics)
      : instance_(instance), values_(values), diagnostics_(diagnostics), copier_(instance.made->arena) {}

  std::vector<const ast::Block*> expanded(const ast::Block& block) {
    std::vector<const ast::Block*> outer = std::exchange(made_, {});
    run(block, nullptr);
    return std::exchange(made_, std::move(outer));
  }

 private:
  void run(const ast::Block& block, const Variables* variables) {
    auto* each = ast::as<ast::EachBlock>(&block);
    if (each == nullptr) return add(block, variables);
    repeat(each->each, variables, [&](const Variables* inside) {
      std::deque<Variables> lets;  // which point to each other
      for (const ast::Block* one : each->blocks) {
        if (auto* let = ast::as<ast::Let>(one)) inside = &lets.emplace_back(declare(*let, inside));
      }
      for (const ast::Block* one : each->blocks)
        if (one->kind != ast::Kind::Let) run(*one, inside);
    });
  }

  // A `let` inside an `each` becomes one of the instance, of a name that no file can write.
  Variables declare(const ast::Let& let, const Variables* variables) {
    Variables made{let.name.text, nullptr, variables,
                   arena().copy(fmt::format("{}#{}", let.name.text, ++lets_))};
    instance_.lets.emplace(made.let, copier_.copy(let, &made));
    return made;
  }

  // ---- features

  static bool repeats(const ast::Features& body) {
    return std::any_of(body.items.begin(), body.items.end(), [](const ast::Feature* feature) {
      return feature->each || feature->named || (feature->group && repeats(*feature->group));
    });
  }

  ast::Features spread(const ast::Features& body, const Variables* variables) {
    ast::Features made = body;
    made.items = {};
    spread(body.items, variables, made.items);
    return made;
  }

  void spread(const List<ast::Feature*>& items, const Variables* variables, List<ast::Feature*>& into) {
    for (const ast::Feature* feature : items) {
      if (feature->each) {
        repeat(*feature->each, variables,
               [&](const Variables* inside) { spread(feature->group->items, inside, into); });
        continue;
      }
      ast::Feature* made = copier_.copy(*feature, variables);
      if (feature->group) made->group = arena().make<ast::Features>(spread(*feature->group, variables));
      if (made->named != nullptr) made->name = name_of(*made->named, ".");
      made->named = nullptr;
      if (feature->named == nullptr || made->name) into.push(arena(), made);
    }
  }

  // nullptr if nothing in it is repeated.
  template <class T>
  const T* spread_body(const ast::Block& block, const Variables* variables) {
    auto* written = ast::as<T>(&block);
    if (written == nullptr || block.kind == ast::Kind::Input || !repeats(written->body)) return nullptr;
    T* made = arena().make<T>(*written);
    made->body = spread(written->body, variables);
    return made;
  }

  Arena& arena() { return instance_.made->arena; }

  Diagnostic& report(DiagCode code, Span at, std::string message) {
    return diagnostics_.report(code, at, std::move(message));
  }

  template <class Body>
  void repeat(const ast::Each& each, const Variables* variables, Body&& body) {
    const ast::Expr* expression = copier_.copy(each.list, variables);
    Value list = values_.value(*expression, instance_);
    if (list.sensitive()) {
      report_secret_existence(each.list->span, diagnostics_);
      return;
    }
    if (list.is_error()) return;
    auto elements = values_.elements(list, each.list->span);
    if (!elements) return;
    auto& kept = instance_.made->values;
    for (auto& [key, element] : *elements) {
      if (kept.size() > 2 * kMaxRepetitions) {
        if (!std::exchange(too_many_, true))
          report(DiagCode::ExpressionCost, each.span,
                 fmt::format("`each` repeats more than {} times in all", kMaxRepetitions));
        return;
      }
      kept.push_back(std::move(key));
      const Value* first = &kept.back();
      kept.push_back(std::move(element));
      const Value* second = &kept.back();
      Variables outer{each.first.text, each.second ? first : second, variables};
      Variables inner{each.second.text, second, &outer};
      body(each.second ? &inner : &outer);
    }
  }

  // nullopt after a report.
  std::optional<bool> says(const ast::Expr* when, const Variables* variables) {
    return when_says(values_.value(*copier_.copy(when, variables), instance_), when->span, diagnostics_);
  }

  // False, reported or not, for what is not to be there.
  bool wanted(const ast::Expr* when, const Variables* variables) {
    return when == nullptr || says(when, variables).value_or(false);
  }

  ast::Features without(const ast::Features& body, const ast::Feature* left_out) {
    ast::Features made = body;
    made.items = {};
    for (ast::Feature* feature : body.items)
      if (feature != left_out) made.items.push(arena(), feature);
    return made;
  }

  template <class T>
  void add_with_body(const T& block, const Variables* variables) {
    const ast::Feature* when = when_of(block.body);
    if (when == nullptr) return push(block, variables);
    const std::optional<bool> there = says(when->value, variables);
    if (there != true) {
      if (block.name) instance_.left_out.emplace(std::pair(block.kind, block.name.text), there.has_value());
      return;
    }
    T* made = arena().make<T>(block);
    made->body = without(block.body, when);
    push(*made, variables);
  }

  // `count` makes a deploy of the system: behind this nothing knows that there was none.
  void add_system(const ast::FeatureBlock& block, const Variables* variables) {
    const ast::Feature* count = nullptr;
    ast::Features rest = block.body;
    rest.items = {};
    for (ast::Feature* feature : block.body.items) {
      if (feature->form != ast::FeatureKind::Simple || feature->name.text != "count") {
        rest.items.push(arena(), feature);
        continue;
      }
      if (count != nullptr)
        report(DiagCode::ConflictingValues, feature->span, "`count` has another value already")
            .note(count->span, "first set here");
      else if (feature->op != ast::Op::Eq)
        report(DiagCode::DeployCount, feature->op_span, "`count` takes `=`: a number of nodes is exact");
      count = feature;
    }
    if (count == nullptr) return push(block, variables);
    auto* system = arena().make<ast::FeatureBlock>(block);
    system->body = rest;
    const size_t before = made_.size();
    push(*system, variables);
    if (made_.size() == before || count->value == nullptr) return;
    auto* deploy =
        arena().make<ast::Deploy>(ast::Kind::Deploy, count->span, ast::Name{"deploy", count->name.span},
                                  made_.back()->name, nullptr, copier_.copy(count->value, variables));
    deploy->of_system = true;
    made_.push_back(deploy);
  }

  void add(const ast::Block& block, const Variables* variables) {
    if (auto* made = spread_body<ast::FeatureBlock>(block, variables)) return add(*made, variables);
    if (auto* made = spread_body<ast::Use>(block, variables)) return add(*made, variables);
    if (block.kind == ast::Kind::System)
      return add_system(static_cast<const ast::FeatureBlock&>(block), variables);
    if (auto* use = ast::as<ast::Use>(&block)) return add_with_body(*use, variables);
    if (block.kind == ast::Kind::Output)
      return add_with_body(static_cast<const ast::FeatureBlock&>(block), variables);
    if (auto* deploy = ast::as<ast::Deploy>(&block)) {
      if (wanted(deploy->when, variables)) push(block, variables);
      return;
    }
    if (auto* context = ast::as<ast::Contextualize>(&block)) {
      bool plain =
          variables == nullptr &&
          std::all_of(context->items.begin(), context->items.end(), [](const ast::Item* item) {
            return !item->each && !item->when && !item->named && !item->step_of && item->after_named.empty();
          });
      if (plain) return push(block, variables);
      auto* made = arena().make<ast::Contextualize>(*context);
      made->items = {};
      add_items(context->items, variables, made->items);
      made_.push_back(made);
      return;
    }
    push(block, variables);
  }

  void add_items(const List<ast::Item*>& items, const Variables* variables, List<ast::Item*>& into) {
    for (const ast::Item* item : items) {
      if (item->each)
        repeat(*item->each, variables,
               [&](const Variables* inside) { add_items(item->inner, inside, into); });
      else if (wanted(item->when, variables))
        add_item(copier_.copy(*item, variables), into);
    }
  }

  void add_item(ast::Item* item, List<ast::Item*>& into) {
    if (item->named != nullptr) {
      item->configure = name_of(*item->named);
      if (!item->configure) return;
      item->named = nullptr;
    }
    for (const ast::Expr* name : item->after_named)
      if (ast::Name found = name_of(*name)) item->after.push(arena(), found);
    item->after_named = {};
    if (item->step_of != nullptr) item->step = step_of(*item->step_of);
    into.push(arena(), item);
  }

  void push(const ast::Block& block, const Variables* variables) {
    if (variables == nullptr && block.named == nullptr) {
      made_.push_back(&block);
      return;
    }
    ast::Block* made = copier_.copy(block, variables);
    if (made->named != nullptr && !name(*made)) return;
    made_.push_back(made);
  }

  // `more`: signs that the name may have besides.
  static bool is_name(std::string_view text, std::string_view more) {
    auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
      return letter(c) || (c >= '0' && c <= '9') || c == '-' || more.find(c) != more.npos;
    });
  }

  bool name(ast::Block& block) {
    block.name = name_of(*block.named);
    block.named = nullptr;
    return static_cast<bool>(block.name);
  }

  // Null after a report.
  ast::Number* step_of(const ast::Expr& written) {
    Value value = values_.value(written, instance_);
    if (value.sensitive()) return report_secret_existence(written.span, diagnostics_), nullptr;
    if (value.is_error()) return nullptr;
    if (value.has_unknown()) {
      report(DiagCode::NotKnownYet, written.span, "a step must be known before apply");
      return nullptr;
    }
    if (value.kind() != expr::Kind::Integer || !value.unit().empty() || value.as_integer() < 0) {
      report(DiagCode::WrongOperand, written.span,
             fmt::format("a step is an integer that is not negative, not {}",
                         value.kind() == expr::Kind::Integer ? expr::display(value).value_or("")
                                                             : std::string(kind_name(value.kind()))));
      return nullptr;
    }
    auto* made = arena().make<ast::Number>(ast::Kind::Number, written.span);
    made->integer = value.as_integer();
    made->real = static_cast<double>(made->integer);
    made->digits = arena().copy(std::to_string(made->integer));
    return made;
  }

  // No name after a report.
  ast::Name name_of(const ast::Expr& written, std::string_view more = "") {
    Value value = values_.value(written, instance_);
    Span at = written.span;
    if (value.sensitive())
      report(DiagCode::SecretShown, at, "names are shown in plans: they cannot be secrets");
    else if (value.is_error())
      return {};
    else if (value.kind() != expr::Kind::String)
      report(DiagCode::NotKnownYet, at, "a name must be known before apply");
    else if (!is_name(value.as_text(), more))
      report(DiagCode::WrongOperand, at,
             fmt::format("'{}' is not a name: use letters, digits, `_` and `-`, a letter first",
                         value.as_text()));
    else
      return {arena().copy(value.as_text()), at};
    return {};
  }

  static constexpr size_t kMaxRepetitions = 100'000;  // of one instance

  Instance& instance_;
  Values& values_;
  Diagnostics& diagnostics_;
  bool too_many_ = false;
  int lets_ = 0;  // made of those inside an `each`
  Copier copier_;
  std::vector<const ast::Block*> made_;
};

const ast::Feature* when_of(const ast::Features& body) {
  for (const ast::Feature* feature : body.items)
    if (feature->form == ast::FeatureKind::Simple && feature->name.text == "when") return feature;
  return nullptr;
}

void report_secret_existence(Span at, Diagnostics& diagnostics) {
  diagnostics.report(DiagCode::SecretShown, at,
                     "what there is is shown in plans: it cannot depend on a secret");
}

std::optional<bool> when_says(const Value& value, Span at, Diagnostics& diagnostics) {
  if (value.sensitive())
    report_secret_existence(at, diagnostics);
  else if (value.is_error())
    return std::nullopt;
  else if (value.has_unknown())
    diagnostics.report(DiagCode::NotKnownYet, at, "`when` must be known before apply");
  else if (value.kind() != expr::Kind::Boolean)
    diagnostics
        .report(DiagCode::WrongOperand, at,
                fmt::format("`when` takes a boolean, not {}", kind_name(value.kind())))
        .with_help(value.is_text() ? "a condition has no quotes: `when = input.os == 'linux'`" : "");
  else
    return value.as_boolean();
  return std::nullopt;
}

Expander::Expander(Instance& instance, Values& values, Diagnostics& diagnostics)
    : expansion_(std::make_unique<Expansion>(instance, values, diagnostics)) {}

Expander::~Expander() = default;

std::vector<const ast::Block*> Expander::expanded(const ast::Block& block) {
  return expansion_->expanded(block);
}

}  // namespace radl
