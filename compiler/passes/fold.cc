// Expressions and modules folded away: the program as RADL 1 documents, which the check and the passes behind
// it read.
//
// Trees of RADL 1 files are taken as they are. In others the values of features become literals at the place
// of their expressions, names of a module's blocks get its prefix, and `input.x` before a number of
// nodes or in an item becomes the systems that it stands for. Configures that train are left out:
// passes/steps.cc reads them from their instance.
#include <fmt/format.h>

#include "compiler/passes/build.h"

namespace radl::passes {

namespace {

using expr::Value;
using ValueKind = expr::Kind;

class Folder {
 public:
  explicit Folder(Build& build) : build_(build) {}

  void run() {
    for (const ast::Tree* tree : build_.root->trees) {
      if (tree->dialect == ast::Dialect::Radl2)
        fold(*tree, *build_.root, make_tree(*tree), tree);
      else
        build_.flat.push_back(tree);
    }
    ast::Tree* modules = nullptr;
    visit(static_cast<const Instance&>(*build_.root), [&](const Instance& instance) {
      if (instance.parent == nullptr) return;
      if (modules == nullptr) modules = &make_tree(*instance.trees.front());
      for (const ast::Tree* tree : instance.trees) fold(*tree, instance, *modules, nullptr);
    });
  }

 private:
  ast::Tree& make_tree(const ast::Tree& like) {
    auto made = std::make_unique<ast::Tree>();
    made->source = like.source;
    made->dialect = like.dialect;
    build_.flat.push_back(made.get());
    build_.folded.push_back(std::move(made));
    return *build_.folded.back();
  }

  // `only`: of an instance with several files, what stands in that one.
  void fold(const ast::Tree& tree, const Instance& instance, ast::Tree& into, const ast::Tree* only) {
    tree_ = &into;
    into.syntax_errors = into.syntax_errors || tree.syntax_errors;
    for (const ast::Block* block : instance.blocks) {
      if (only == nullptr || block->span.file == only->source->id()) add(*block, instance);
    }
  }

  void push(const ast::Block* block) { tree_->blocks.push(arena(), const_cast<ast::Block*>(block)); }
  Arena& arena() { return tree_->arena; }

  void add(const ast::Block& block, const Instance& instance) {
    switch (block.kind) {
      case ast::Kind::Version:
      case ast::Kind::Input:
      case ast::Kind::Output:
      case ast::Kind::Use:
      case ast::Kind::Let:
      case ast::Kind::Assert:
      case ast::Kind::Moved:
        return;
      case ast::Kind::Network:
      case ast::Kind::System:
      case ast::Kind::Ansible:
      case ast::Kind::Description:
        return add_block(static_cast<const ast::FeatureBlock&>(block), instance);
      case ast::Kind::Configure:
        return add_configure(static_cast<const ast::Configure&>(block), instance);
      case ast::Kind::Deploy:
        return add_deploy(static_cast<const ast::Deploy&>(block), instance);
      case ast::Kind::Contextualize:
        return add_contextualize(static_cast<const ast::Contextualize&>(block), instance);
      default:
        return push(&block);
    }
  }

  ast::Name full(ast::Name name, const Instance& instance) {
    if (!instance.prefix.empty()) name.text = arena().copy(instance.full(name.text));
    return name;
  }

  void add_block(const ast::FeatureBlock& feature_block, const Instance& instance) {
    auto* made = arena().make<ast::FeatureBlock>(feature_block);
    made->name = full(feature_block.name, instance);
    place_ = std::string(feature_block.kind == ast::Kind::System    ? ""
                         : feature_block.kind == ast::Kind::Ansible ? "ansible."
                                                                    : "network.") +
             std::string(made->name.text);
    made->body.items = fold_features(feature_block.body.items, instance);
    push(made);
  }

  List<ast::Feature*> fold_features(const List<ast::Feature*>& features, const Instance& instance) {
    List<ast::Feature*> made;
    for (ast::Feature* feature : features) {
      ast::Feature* folded = fold_feature(*feature, instance);
      if (folded != nullptr) made.push(arena(), folded);
    }
    return made;
  }

  ast::Feature* fold_feature(ast::Feature& feature, const Instance& instance) {
    if (feature.form == ast::FeatureKind::Error) return &feature;
    auto* made = arena().make<ast::Feature>(feature);
    made->strict = true;
    if (feature.group != nullptr) {
      made->group = arena().make<ast::Features>(*feature.group);
      made->group->items = fold_features(feature.group->items, instance);
      return made;
    }
    if (feature.value == nullptr) return made;
    made->value =
        is_literal(*feature.value) ? feature.value : fold_value(*feature.value, instance, feature.name.text);
    if (made->value != nullptr && feature.op != ast::Op::Eq && build_.secret_values.contains(made->value)) {
      shown_secret(feature.value->span, feature.name.text);
      made->value = error(feature.value->span);
    }
    if (made->value == nullptr) return nullptr;  // `none`: as if it were not written
    // It stands in the clear only here, in memory.
    if (build_.secret_values.contains(made->value))
      build_.diagnostics.allow(DiagCode::PlainSecret, feature.span);
    if (!instance.prefix.empty() && feature.name.text.starts_with("net_interface.") &&
        feature.name.text.ends_with(".connection")) {
      connect(*made, instance);
    }
    return made;
  }

  // A connection names a network of the module, or one whose name came in through an input.
  void connect(ast::Feature& feature, const Instance& instance) {
    auto* text = ast::as<ast::String>(feature.value);
    if (text == nullptr || !instance.networks.contains(text->text)) return;
    auto* made = arena().make<ast::String>(*text);
    made->text = arena().copy(instance.full(text->text));
    feature.value = made;
  }

  static bool is_literal(const ast::Expr& value) {
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

  template <class T>
  T* literal(ast::Kind kind, Span span) {
    T* made = arena().make<T>();
    made->kind = kind;
    made->span = span;
    return made;
  }

  void shown_secret(Span at, std::string_view feature) {
    build_.diagnostics.report(DiagCode::SecretShown, at,
                              fmt::format("'{}' is shown in plans: it cannot be a secret", feature));
  }

  ast::Expr* error(Span span) { return literal<ast::Expr>(ast::Kind::ErrorValue, span); }

  ast::Expr* fold_value(const ast::Expr& expression, const Instance& instance, std::string_view feature) {
    Value value = build_.scopes->evaluate(expression, instance);
    // What nodes are called, what they are connected to and how large they are stands in plans.
    if (value.sensitive() &&
        (feature.ends_with(".dns_name") || feature.ends_with(".connection") || feature == "instance_name" ||
         value.is_number() || value.kind() == ValueKind::Boolean)) {
      shown_secret(expression.span, feature);
      return error(expression.span);
    }
    if (value.is_error()) return error(expression.span);
    if (value.kind() == ValueKind::Null) return nullptr;
    if (value.has_unknown()) {
      build_.diagnostics.report(DiagCode::NotKnownYet, expression.span,
                                fmt::format("'{}' must be known before apply", feature));
      return error(expression.span);
    }
    ast::Expr* made = literal_of(value, expression.span);
    if (made == nullptr) {
      build_.diagnostics.report(DiagCode::FeatureExpression, expression.span,
                                fmt::format("'{}' cannot be {}", feature, expr::kind_name(value.kind())));
      return error(expression.span);
    }
    if (value.sensitive()) {
      build_.secret_values[made] =
          value.secret_name().empty() ? fmt::format("{}.{}", place_, feature) : value.secret_name();
    }
    return made;
  }

  ast::Expr* literal_of(const Value& value, Span span) {
    switch (value.kind()) {
      case ValueKind::Integer:
      case ValueKind::Real: {
        auto* number = literal<ast::Number>(ast::Kind::Number, span);
        std::string digits =
            *expr::display(value.kind() == ValueKind::Integer ? Value::integer(value.as_integer())
                                                              : Value::real(value.as_real()));
        number->digits = arena().copy(digits);
        number->is_float = value.kind() == ValueKind::Real;
        number->integer = number->is_float ? 0 : value.as_integer();
        number->real = value.as_real();
        number->unit = {arena().copy(value.unit()), span};
        return number;
      }
      case ValueKind::Boolean:
        return text(value.as_boolean() ? "yes" : "no", span);
      case ValueKind::String:
      case ValueKind::System:
        return text(value.as_text(), span);
      case ValueKind::List: {
        auto* list = literal<ast::ListValue>(ast::Kind::ListValue, span);
        for (const Value& item : value.items()) {
          auto shown = item.kind() == ValueKind::List || item.kind() == ValueKind::Map ? std::nullopt
                                                                                       : expr::display(item);
          if (!shown) return nullptr;
          list->items.push(arena(), text(*shown, span));
        }
        return list;
      }
      default:
        return nullptr;
    }
  }

  ast::Expr* text(const std::string& content, Span span) {
    auto* made = literal<ast::String>(ast::Kind::String, span);
    made->text = arena().copy(content);
    return made;
  }

  void add_configure(const ast::Configure& configure, const Instance& instance) {
    for (const ast::Resource* resource : configure.resources) {
      if (resource->type.text == "training") return;
    }
    auto* made = arena().make<ast::Configure>(configure);
    made->name = full(configure.name, instance);
    push(made);
  }

  void add_deploy(const ast::Deploy& deploy, const Instance& instance) {
    auto count = build_.scopes->deploy_count(deploy, instance);
    std::vector<std::string> systems = build_.scopes->systems_named(deploy.name, instance);
    bool unknown = systems.empty() && !deploy.name.text.starts_with("input.");
    if (unknown) systems.emplace_back(deploy.name.text);  // the check reports it
    std::string_view cloud = arena().copy(build_.scopes->cloud_named(deploy.cloud, instance));
    for (const std::string& system : systems) {
      auto* made = arena().make<ast::Deploy>(deploy);
      made->name.text = arena().copy(system);
      made->cloud.text = cloud;
      made->count = literal_of(Value::integer(count.value_or(1)),
                               deploy.count == nullptr ? deploy.span : deploy.count->span);
      push(made);
    }
  }

  void add_contextualize(const ast::Contextualize& block, const Instance& instance) {
    auto* made = arena().make<ast::Contextualize>(block);
    made->items = {};
    // Each instance numbers its own steps: another's numbers say nothing about its items.
    size_t numbered = 0;
    for (const ast::Item* item : block.items) numbered += item->step != nullptr;
    bool mixed = numbered != 0 && numbered != block.items.size();
    if (!mixed) build_.diagnostics.allow(DiagCode::StepZeroMixed, block.span);
    for (ast::Item* item : block.items) {
      auto found = instance.configures.find(item->configure.text);
      auto* configure = found == instance.configures.end() ? nullptr : ast::as<ast::Configure>(found->second);
      if (configure != nullptr && !build_.scopes->training_name(*configure, instance).empty())
        continue;  // reported by the items pass
      std::vector<std::string> systems = build_.scopes->systems_of(*item, instance);
      if (systems.empty() && item->systems == nullptr && !item->system.text.starts_with("input."))
        systems.emplace_back(item->system.text);
      for (const std::string& system : systems) {
        auto* copy = arena().make<ast::Item>(*item);
        copy->system.text = arena().copy(system);
        if (configure != nullptr) copy->configure = full(item->configure, instance);
        made->items.push(arena(), copy);
      }
    }
    made->options = {};
    for (ast::Option* option : block.options) {
      auto* copy = arena().make<ast::Option>(*option);
      place_ = "option";
      if (option->value != nullptr && !is_literal(*option->value))
        copy->value = fold_value(*option->value, instance, option->name.text);
      made->options.push(arena(), copy);
    }
    push(made);
  }

  Build& build_;
  ast::Tree* tree_ = nullptr;
  std::string place_;  // "worker", "network.lan": the beginning of names of secrets
};

}  // namespace

void fold(Build& build) { Folder(build).run(); }

}  // namespace radl::passes
