// Outputs of the program.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/text.h"
#include "compiler/passes/build.h"

namespace radl::passes {

namespace {

using ValueKind = expr::Kind;

class Outputs {
 public:
  explicit Outputs(Build& build) : build_(build) {}

  void run() {
    visit(static_cast<const Instance&>(*build_.root), [&](const Instance& instance) {
      for (const auto& [name, block] : instance.outputs) {
        auto* feature_block = ast::as<ast::FeatureBlock>(block);
        if (feature_block != nullptr) check_features(*feature_block);
      }
    });
    // In the order of the source.
    for (const ast::Block* block : build_.root->blocks) {
      auto* feature_block = ast::as<ast::FeatureBlock>(block);
      if (feature_block == nullptr || feature_block->kind != ast::Kind::Output) continue;
      if (build_.root->outputs.at(feature_block->name.text) == feature_block) add(*feature_block);
    }
  }

 private:
  void wrong(Span at, std::string message) {
    build_.diagnostics.report(DiagCode::OutputDeclaration, at, std::move(message));
  }

  void check_features(const ast::FeatureBlock& feature_block) {
    static const std::vector<std::string> names = {"value", "description", "sensitive"};
    std::map<std::string_view, Span> seen;
    bool broken = false;
    for (const ast::Feature* feature : feature_block.body.items) {
      if (feature->form == ast::FeatureKind::Error) broken = true;
      if (feature->form == ast::FeatureKind::Error) continue;
      if (feature->form != ast::FeatureKind::Simple || feature->op != ast::Op::Eq) {
        wrong(feature->span, "an output takes features written with `=`");
        continue;
      }
      if (std::find(names.begin(), names.end(), feature->name.text) == names.end()) {
        auto& diagnostic =
            build_.diagnostics.report(DiagCode::OutputDeclaration, feature->name.span,
                                      fmt::format("an output has no feature '{}'", feature->name.text));
        std::string near = nearest(feature->name.text, names);
        diagnostic.with_help(near.empty() ? "features: value, description, sensitive"
                                          : fmt::format("did you mean '{}'?", near));
      } else if (!seen.emplace(feature->name.text, feature->span).second) {
        wrong(feature->name.span, fmt::format("duplicate '{}'", feature->name.text));
      }
    }
    if (!seen.contains("value") && !broken)
      wrong(feature_block.name.span, fmt::format("output '{}' has no value", feature_block.name.text));
  }

  static bool holds_names(const expr::Value& value) {
    if (value.kind() == ValueKind::List)
      return std::any_of(value.items().begin(), value.items().end(), holds_names);
    if (value.kind() == ValueKind::Map)
      return std::any_of(value.entries().begin(), value.entries().end(),
                         [](const auto& entry) { return holds_names(entry.second); });
    return value.kind() == ValueKind::Namespace;
  }

  void add(const ast::FeatureBlock& feature_block) {
    ir::Output output;
    output.name = std::string(feature_block.name.text);
    output.origin = build_.origin(feature_block.name.span);
    for (const ast::Feature* feature : feature_block.body.items) {
      if (feature->form != ast::FeatureKind::Simple || feature->name.text != "description") continue;
      expr::Value text = build_.scopes->evaluate(*feature->value, *build_.root);
      if (text.kind() == ValueKind::String)
        output.description = text.as_text();
      else if (!text.is_error())
        wrong(feature->value->span, "'description' takes a string");
    }
    output.sensitive = build_.scopes->output_sensitive(*build_.root, feature_block.name.text);
    expr::Value value = build_.scopes->output(*build_.root, feature_block.name.text, feature_block.name.span);
    if (holds_names(value))
      return wrong(feature_block.name.span, "an output takes a value, not a group of names");
    if (value.sensitive() && !output.sensitive) {
      build_.diagnostics
          .report(DiagCode::SecretShown, feature_block.name.span,
                  fmt::format("output '{}' would show a secret", feature_block.name.text))
          .with_help("add `sensitive = yes` to it");
      return;
    }
    if (value.is_error()) return;
    expr::Emitter emitter(&build_.secrets, "output." + output.name,
                          [this](const std::string& system) { return build_.node_addresses(system); });
    output.value = emitter.emit(value);
    build_.program.outputs.push_back(std::move(output));
  }

  Build& build_;
};

}  // namespace

void outputs(Build& build) { Outputs(build).run(); }

}  // namespace radl::passes
