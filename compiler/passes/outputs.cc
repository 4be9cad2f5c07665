// Outputs of the program.
#include <fmt/format.h>

#include <map>

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
      for (const auto& [name, sentence] : instance.outputs) {
        auto* block = ast::as<ast::Block>(sentence);
        if (block != nullptr) check_features(*block);
      }
    });
    // In the order of the source.
    for (const ast::Tree* tree : build_.root->trees) {
      for (const ast::Sentence* sentence : tree->sentences) {
        auto* block = ast::as<ast::Block>(sentence);
        if (block == nullptr || block->kind != ast::Kind::Output) continue;
        if (build_.root->outputs.at(block->name.text) == block) add(*block);
      }
    }
  }

 private:
  void wrong(Span at, std::string message) {
    build_.diagnostics.report(DiagCode::OutputDeclaration, at, std::move(message));
  }

  void check_features(const ast::Block& block) {
    static const std::vector<std::string> names = {"value", "description", "sensitive"};
    std::map<std::string_view, Span> seen;
    bool broken = false;
    for (const ast::Feature* feature : block.body.items) {
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
        wrong(feature->name.span, fmt::format("'{}' stands twice", feature->name.text));
      }
    }
    if (!seen.contains("value") && !broken)
      wrong(block.name.span, fmt::format("output '{}' has no value", block.name.text));
  }

  void add(const ast::Block& block) {
    ir::Output output;
    output.name = std::string(block.name.text);
    output.origin = build_.origin(block.name.span);
    for (const ast::Feature* feature : block.body.items) {
      if (feature->form != ast::FeatureKind::Simple || feature->name.text != "description") continue;
      expr::Value text = build_.scopes->evaluate(*feature->value, *build_.root);
      if (text.kind() == ValueKind::Text)
        output.description = text.as_text();
      else if (!text.is_error())
        wrong(feature->value->span, "'description' takes a text");
    }
    output.sensitive = build_.scopes->output_sensitive(*build_.root, block.name.text);
    expr::Value value = build_.scopes->output(*build_.root, block.name.text, block.name.span);
    if (value.kind() == ValueKind::Namespace)
      return wrong(block.name.span, "an output takes a value, not a group of names");
    if (value.sensitive() && !output.sensitive) {
      build_.diagnostics
          .report(DiagCode::SecretShown, block.name.span,
                  fmt::format("output '{}' would show a secret", block.name.text))
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
