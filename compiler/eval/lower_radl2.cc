// `radl 2`: replaces expressions by their values, prefixes names of a module's blocks, and replaces `input.x`
// before a number of nodes or in an item by its systems. Omits configures that hold a job: passes/steps.cc
// reads them from their instance.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "compiler/eval/hir.h"
#include "compiler/eval/literals.h"
#include "compiler/eval/records.h"
#include "compiler/eval/secret_access.h"
#include "compiler/eval/value.h"

namespace radl::hir {

namespace {

using ValueKind = expr::Kind;

bool is_literal(const ast::Expr& value) {
  if (auto* text = ast::as<ast::String>(&value)) return text->parts.empty();
  if (auto* list = ast::as<ast::ListValue>(&value)) {
    for (const ast::Expr* item : list->items) {
      if (!is_literal(*item) || item->kind != ast::Kind::String) return false;
    }
    return true;
  }
  return value.kind == ast::Kind::Number || value.kind == ast::Kind::Random ||
         value.kind == ast::Kind::Ec3Reference || value.kind == ast::Kind::ErrorValue;
}

class Evaluating {
 public:
  Evaluating(Scope& scope, Arena& arena, Part& into, Diagnostics& diagnostics)
      : scope_(scope),
        arena_(arena),
        part_(into),
        diagnostics_(diagnostics),
        records_(arena, diagnostics,
                 [this](Feature feature, const expr::Value& value, Span at, Features& to) {
                   leaf(feature, value, at, to);
                 }) {}

  // Plain features first: lists of records are numbered after them.
  Features system(const ast::FeatureBlock& block) {
    place_ = full(block.name).text;
    Features made;
    layer_ = 0;
    for (const ast::Feature* feature : block.body.items)
      if (is_simple(*feature, "with")) take_over(*feature, made);
    in_system_ = true;
    add_features(block.body, made);
    in_system_ = false;
    std::map<std::string_view, const ast::Feature*> lists;
    for (const ast::Feature* feature : block.body.items) {
      if (feature->form != ast::FeatureKind::Simple || !is_record_list(feature->name.text)) continue;
      auto [first, fresh] = lists.emplace(feature->name.text, feature);
      if (fresh)
        list(*feature, made);
      else
        diagnostics_
            .report(DiagCode::ConflictingValues, feature->span,
                    fmt::format("`{}` has another value already", feature->name.text))
            .note(first->second->span, "first set here");
    }
    records_.finish(made);
    return made;
  }

  void add(const ast::Block& block) {
    if (std::vector<Block>* blocks = blocks_of(part_, block.kind); blocks && block.kind != ast::Kind::General)
      add(static_cast<const ast::FeatureBlock&>(block), *blocks);
    else if (auto* configure = ast::as<ast::Configure>(&block))
      add(*configure);
    else if (auto* deploy = ast::as<ast::Deploy>(&block))
      add(*deploy);
    else if (auto* contextualize = ast::as<ast::Contextualize>(&block))
      add(*contextualize);
  }

 private:
  ast::Name full(const ast::Name& name) { return {arena_.copy(scope_.full(name.text)), name.span}; }

  void add(const ast::FeatureBlock& block, std::vector<Block>& blocks) {
    Block made = without_features(block);
    made.name = full(block.name);
    place_ = (block.kind == ast::Kind::Ansible ? "ansible." : "network.") + std::string(made.name.text);
    if (block.kind == ast::Kind::System)
      made.features = scope_.features_of(block);
    else
      add_features(block.body, made.features);
    blocks.push_back(made);
  }

  static bool is_simple(const ast::Feature& feature, std::string_view name) {
    return feature.form == ast::FeatureKind::Simple && feature.name.text == name;
  }

  Features* group(const ast::Features& written) {
    const bool outer = std::exchange(in_system_, false);
    auto* made = arena_.make<Features>();
    add_features(written, *made);
    in_system_ = outer;
    return made;
  }

  void add_features(const ast::Features& written, Features& into) {
    into.items.reserve(arena_, into.items.size() + written.items.size());
    for (const ast::Feature* feature : written.items) {
      if (feature->form == ast::FeatureKind::Soft)
        add_soft(*feature, into);
      else if (feature->form != ast::FeatureKind::Error)
        add(*feature, into);
    }
  }

  // The planner may leave a soft group out, so it cannot hold what decides which things exist.
  void add_soft(const ast::Feature& written, Features& into) {
    ast::Features rest = *written.group;
    rest.items = {};
    for (ast::Feature* feature : written.group->items) {
      const std::string_view name = feature->name.text;
      const bool decides = name == "with" || name == "count" || name == "cloud" || is_record_list(name) ||
                           name.starts_with("net_interface.");
      if (decides)
        diagnostics_
            .report(DiagCode::FeatureExpression, feature->name.span,
                    fmt::format("`{}` cannot be in a `soft` group", name))
            .with_help("write it in the system itself");
      else
        rest.items.push(arena_, feature);
    }
    into.softs.push(arena_, {written.weight, written.span, group(rest), &written});
  }

  Feature shape_of(const ast::Feature& written) {
    Feature made = without_value(written);
    made.strict = true;
    made.layer = layer_;
    return made;
  }

  void add(const ast::Feature& written, Features& into) {
    Feature made = shape_of(written);
    if (written.form == ast::FeatureKind::Contains) {
      made.value = arena_.make<Group>(ast::Kind::Group, written.group->span, group(*written.group));
    } else if (written.value != nullptr) {
      const std::string_view name = written.name.text;
      if (in_system_ && (name == "with" || is_record_list(name))) return;  // see system()
      if (!is_literal(*written.value)) {
        const expr::Value value =
            scope_.value(ast::is_place(name) ? ast::without_quotes(*written.value) : *written.value);
        if (value.kind() == ValueKind::Map && !value.has_unknown()) return map(written, value, into);
        return leaf(made, value, written.value->span, into);
      }
      made.value = written.value;
      connect(made);
    }
    into.items.push(arena_, made);
  }

  // Adds the feature with that value; nothing for `none`, as if it were not written.
  void leaf(Feature made, const expr::Value& value, Span at, Features& into) {
    if (in_system_ && made.name == "cloud" && value.kind() == ValueKind::Null && value.sensitive()) {
      shown_secret(at, made.name);
      return;
    }
    const ast::Expr* converted = value_of(value, at, made.name);
    if (converted == nullptr) return;
    made.value = converted;
    if (made.value.sensitive() && made.op != ast::Op::Eq) made.value = shown_secret(at, made.name);
    connect(made);
    into.items.push(arena_, made);
  }

  bool takes_equal(const ast::Feature& written) {
    if (written.op == ast::Op::Eq) return true;
    diagnostics_.report(DiagCode::FeatureExpression, written.op_span,
                        fmt::format("`{}` takes `=`", written.name.text));
    return false;
  }

  void map(const ast::Feature& written, const expr::Value& value, Features& into) {
    if (takes_equal(written)) records_.map(shape_of(written), *written.value, value, into);
  }

  void list(const ast::Feature& written, Features& into) {
    if (written.value == nullptr || !takes_equal(written)) return;
    const expr::Value value = scope_.value(*written.value);
    const Span at = written.value->span;
    if (value.is_error()) return;
    if (value.has_unknown())
      report(DiagCode::NotKnownYet, at, fmt::format("'{}' must be known before apply", written.name.text));
    else if (value.sensitive())
      shown_secret(at, written.name.text);
    else if (value.kind() != ValueKind::Null)
      records_.list(shape_of(written), *written.value, value, into);
  }

  // `with = base`, or `with = [base, gpu]`: each in layers above the one before.
  void take_over(const ast::Feature& written, Features& into) {
    if (written.value == nullptr || !takes_equal(written)) return;
    const expr::Value value = scope_.value(*written.value);
    const Span at = written.value->span;
    if (value.is_error()) return;
    if (value.kind() == ValueKind::Null && value.sensitive()) {
      shown_secret(at, written.name.text);
      return;
    }
    if (value.kind() == ValueKind::Null) return;
    const bool list = value.kind() == ValueKind::List;
    for (size_t i = 0; i < (list ? value.items().size() : 1); ++i) {
      const expr::Value& base = list ? value.items()[i] : value;
      if (base.kind() != ValueKind::System) {
        diagnostics_.report(
            DiagCode::FeatureExpression, at,
            fmt::format("`with` takes a system, or a list of them, not {}", expr::kind_name(base.kind())));
        return;
      }
      for (const Features* taken : scope_.taken_over(base.as_text(), at))
        if (!take_over(*taken, at, into)) return;
    }
  }

  // False after a report.
  bool take_over(const Features& base, Span at, Features& into) {
    int highest = 0;
    for (const Feature& feature : base.items) highest = std::max<int>(highest, feature.layer);
    if (layer_ + highest + 1 > UINT16_MAX) {
      diagnostics_.report(DiagCode::ExpressionCost, at, "this system takes over too many others");
      return false;
    }
    for (Records kind : {Records::Disks, Records::Networks}) {
      const bool replaces = std::any_of(base.items.begin(), base.items.end(),
                                        [&](const Feature& feature) { return feature.records == kind; });
      if (replaces) records_.drop(kind, into);
    }
    for (Feature feature : base.items) {
      feature.layer = static_cast<uint16_t>(feature.layer + layer_);
      into.items.push(arena_, feature);
    }
    for (const Soft& soft : base.softs) into.softs.push(arena_, soft);
    layer_ = static_cast<uint16_t>(layer_ + highest + 1);
    return true;
  }

  void connect(Feature& feature) {
    if (feature.name.starts_with("net_interface.") && feature.name.ends_with(".connection"))
      connect(feature.value);
  }

  // A connection names a network of the module, or one whose name came in through an input.
  void connect(Value& value) {
    auto text = value.text();
    if (text && scope_.has_network(*text)) value = text_of(scope_.full(*text), value.span());
  }

  ast::Expr* error(Span at) { return arena_.make<ast::Expr>(ast::Kind::ErrorValue, at); }
  ast::Expr* text_of(std::string_view text, Span at) { return Value::text(arena_, arena_.copy(text), at); }

  ast::Expr* report(DiagCode code, Span at, std::string message) {
    diagnostics_.report(code, at, std::move(message));
    return error(at);
  }

  ast::Expr* shown_secret(Span at, std::string_view feature) {
    return report(DiagCode::SecretShown, at,
                  fmt::format("'{}' is shown in plans: it cannot be a secret", feature));
  }

  // Null for `none`.
  const ast::Expr* value_of(const ast::Expr& expression, std::string_view feature) {
    if (is_literal(expression)) return &expression;
    return value_of(scope_.value(expression), expression.span, feature);
  }

  ast::Expr* value_of(const expr::Value& value, Span at, std::string_view feature) {
    if (value.sensitive() && (value.is_number() || value.kind() == ValueKind::Boolean))
      return shown_secret(at, feature);
    // A secret without a value is still reported if it would be visible.
    if (value.is_error()) return value.sensitive() ? Value::secret(arena_, error(at), "") : error(at);
    if (value.kind() == ValueKind::Null) return nullptr;
    if (value.has_unknown())
      return report(DiagCode::NotKnownYet, at, fmt::format("'{}' must be known before apply", feature));
    int secrets = 0;
    ast::Expr* made =
        value.kind() == ValueKind::List ? list(value, at, feature) : plain(value, at, feature, secrets);
    if (made != nullptr) return made;
    return report(DiagCode::FeatureExpression, at,
                  fmt::format("'{}' cannot be {}", feature, expr::kind_name(value.kind())));
  }

  // Null for what no feature can be. A secret that is one of several is numbered, as in the IR.
  ast::Expr* plain(const expr::Value& value, Span at, std::string_view feature, int& secrets) {
    ast::Expr* made = nullptr;
    if (value.is_number())
      made = number(value, at);
    else if (value.kind() == ValueKind::Boolean)
      made = text_of(value.as_boolean() ? "yes" : "no", at);
    else if (value.kind() == ValueKind::String || value.kind() == ValueKind::System)
      made = text_of(value.as_text(expr::kPermitted), at);
    if (made == nullptr || !value.sensitive()) return made;
    std::string name = value.secret_name();
    if (name.empty())
      name = secrets++ == 0 ? fmt::format("{}.{}", place_, feature)
                            : fmt::format("{}.{}#{}", place_, feature, secrets);
    return Value::secret(arena_, made, name);
  }

  ast::Expr* number(const expr::Value& value, Span at) {
    const bool whole = value.kind() == ValueKind::Integer;
    auto* made = arena_.make<ast::Number>(ast::Kind::Number, at);
    made->digits = arena_.copy(*expr::display(whole ? expr::Value::integer(value.as_integer())
                                                    : expr::Value::real(value.as_real())));
    made->is_float = !whole;
    made->integer = whole ? value.as_integer() : 0;
    made->real = value.as_real();
    made->unit = {arena_.copy(value.unit()), at};
    return made;
  }

  // Each element as a text.
  ast::Expr* list(const expr::Value& value, Span at, std::string_view feature) {
    auto* made = arena_.make<ast::ListValue>(ast::Kind::ListValue, at);
    made->items.reserve(arena_, static_cast<uint32_t>(value.items().size()));
    int secrets = 0;
    for (const expr::Value& item : value.items()) {
      bool structure = item.kind() == ValueKind::List || item.kind() == ValueKind::Map;
      auto text = structure ? std::nullopt : expr::as_string(item);
      if (!text) return nullptr;
      made->items.push(arena_, plain(*text, at, feature, secrets));
    }
    return made;
  }

  void add(const ast::Configure& configure) {
    if (scope_.is_job(configure)) return;
    part_.configures.push_back({configure.keyword, full(configure.name), configure.span, &configure});
  }

  void add(const ast::Deploy& deploy) {
    Span at = deploy.count == nullptr ? deploy.span : deploy.count->span;
    Value count = number(expr::Value::integer(scope_.nodes_of(deploy)), at);
    ast::Name cloud{arena_.copy(scope_.cloud_of(deploy)), deploy.cloud ? deploy.cloud->span : Span{}};
    for (const std::string& system : scope_.systems_of(deploy))
      part_.deploys.push_back(
          {{arena_.copy(system), deploy.name.span}, cloud, deploy.span, count, deploy.of_system});
  }

  void add(const ast::Contextualize& written) {
    // Each instance numbers its own steps: another's numbers say nothing about its items.
    size_t numbered = 0;
    for (const ast::Item* item : written.items) numbered += item->step != nullptr;
    bool mixed = numbered != 0 && numbered != written.items.size();
    if (!mixed) diagnostics_.allow(DiagCode::StepZeroMixed, written.span);
    Contextualize made{written.span, written.keyword, written.max_time, {}, {}};
    for (const ast::Item* item : written.items) add(*item, made);
    place_ = "option";
    for (const ast::Option* option : written.options) {
      Feature one{option->name.text, option->name.span, option->span, {}, option->op, true, {}};
      if (option->value != nullptr) {
        const ast::Expr* value = value_of(*option->value, option->name.text);
        one.value = value != nullptr ? value : error(option->value->span);
      }
      if (one.value.sensitive()) one.value = shown_secret(option->value->span, option->name.text);
      made.options.push_back(one);
    }
    part_.contextualizes.push_back(std::move(made));
  }

  void add(const ast::Item& item, Contextualize& into) {
    const ast::Configure* configure = scope_.configure(item.configure.text);
    if (configure != nullptr && scope_.is_job(*configure)) return;  // reported by the items pass
    ast::Name name = configure != nullptr ? full(item.configure) : item.configure;
    for (const std::string& system : scope_.systems_of(item))
      into.items.push_back(
          {{arena_.copy(system), item.system.span}, name, item.tool, item.span, item.step, item.after});
  }

  Scope& scope_;
  Arena& arena_;
  Part& part_;
  Diagnostics& diagnostics_;
  RecordWriter records_;
  std::string place_;       // "worker", "network.lan": the beginning of names of secrets
  bool in_system_ = false;  // directly in its body
  uint16_t layer_ = 0;      // of the features that are added
};

}  // namespace

Features system_features(const ast::FeatureBlock& system, Scope& scope, Arena& arena,
                         Diagnostics& diagnostics) {
  Part none;
  return Evaluating(scope, arena, none, diagnostics).system(system);
}

void lower(const std::vector<const ast::Block*>& blocks, uint32_t file, Scope& scope, Arena& arena,
           Part& into, Diagnostics& diagnostics) {
  Evaluating evaluating(scope, arena, into, diagnostics);
  for (const ast::Block* block : blocks) {
    if (file == 0 || block->span.file == file) evaluating.add(*block);
  }
}

}  // namespace radl::hir
