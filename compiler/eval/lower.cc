// RADL 1 and EC3's dialect: what is written is the value.
#include <algorithm>

#include "compiler/eval/hir.h"
#include "compiler/eval/literals.h"

namespace radl::hir {

namespace {

void write(Feature& made, const ast::Feature& feature) {
  made.name = feature.name.text;
  made.name_span = feature.name.span;
  made.span = feature.span;
  made.op_span = feature.op_span;
  made.op = feature.op;
  made.strict = feature.strict;
  made.written = &feature;
}

}  // namespace

Feature without_value(const ast::Feature& feature) {
  Feature made;
  write(made, feature);
  return made;
}

Features literal_features(const ast::Features& features, Arena& arena) {
  Features made;
  made.items.reserve(arena, features.items.size());
  for (const ast::Feature* feature : features.items) {
    if (feature->form == ast::FeatureKind::Error) continue;
    if (feature->form == ast::FeatureKind::Simple) {
      Feature& one = made.items.grow(arena);
      write(one, *feature);
      one.value = feature->value;
      continue;
    }
    const auto* group = arena.make<Features>(literal_features(*feature->group, arena));
    if (feature->form == ast::FeatureKind::Soft) {
      made.softs.push(arena, {feature->weight, feature->span, group, feature});
    } else {
      Feature& one = made.items.grow(arena);
      write(one, *feature);
      one.value = arena.make<Group>(ast::Kind::Group, feature->group->span, group);
    }
  }
  return made;
}

Block without_features(const ast::FeatureBlock& block) {
  return {block.keyword, block.name, block.span, block.body.present, {}};
}

std::vector<Block>* blocks_of(Part& part, ast::Kind kind) {
  switch (kind) {
    case ast::Kind::Network:
      return &part.networks;
    case ast::Kind::System:
      return &part.systems;
    case ast::Kind::Ansible:
      return &part.ansibles;
    case ast::Kind::Description:
      return &part.descriptions;
    case ast::Kind::General:
      return &part.generals;
    default:
      return nullptr;
  }
}

namespace {

class Lowering {
 public:
  Lowering(Part& part, std::vector<Arena>& arenas) : part_(part), arenas_(arenas) { arenas_.emplace_back(); }

  void run(const ast::Tree& tree) {
    for (const ast::Block* block : tree.blocks) add(*block);
  }

 private:
  Arena& arena() { return arenas_.back(); }

  void add(const ast::Block& block) {
    if (std::vector<Block>* blocks = blocks_of(part_, block.kind)) {
      auto& written = static_cast<const ast::FeatureBlock&>(block);
      blocks->push_back(without_features(written));
      blocks->back().features = literal_features(written.body, arena());
    } else if (auto* configure = ast::as<ast::Configure>(&block)) {
      part_.configures.push_back({block.keyword, block.name, block.span, configure});
    } else if (auto* deploy = ast::as<ast::Deploy>(&block)) {
      auto* cloud = ast::as<ast::String>(deploy->cloud);
      part_.deploys.push_back(
          {block.name, cloud ? ast::Name{cloud->text, cloud->span} : ast::Name{}, block.span, deploy->count});
    } else if (auto* contextualize = ast::as<ast::Contextualize>(&block)) {
      add(*contextualize);
    }
  }

  void add(const ast::Contextualize& written) {
    Contextualize& made = part_.contextualizes.emplace_back(
        Contextualize{written.span, written.keyword, written.max_time, {}, {}});
    made.items.reserve(written.items.size());
    for (const ast::Item* item : written.items)
      made.items.push_back({item->system, item->configure, item->tool, item->span, item->step, item->after});
    for (const ast::Option* option : written.options)
      made.options.push_back(
          {option->name.text, option->name.span, option->span, {}, option->op, false, option->value});
  }

  Part& part_;
  std::vector<Arena>& arenas_;
};

}  // namespace

void lower(const ast::Tree& tree, Document& into) {
  Part& part = into.parts.emplace_back();
  part.source = tree.source;
  part.dialect = tree.dialect;
  part.broken = tree.syntax_errors;
  Lowering(part, into.arenas).run(tree);
}

}  // namespace radl::hir
