#include "compiler/eval/mentions.h"

#include "compiler/syntax/walk.h"

namespace radl {
namespace {

class Reader {
 public:
  explicit Reader(Mentions& into) : into_(into) {}

  void block(const ast::Block& block) {
    own_ = block.kind == ast::Kind::Input || block.kind == ast::Kind::Let ? &block : nullptr;
    if (auto* deploy = ast::as<ast::Deploy>(&block)) {
      into_.deployed.insert(deploy->name.text);
      word(deploy->name.text);
    }
    if (auto* context = ast::as<ast::Contextualize>(&block)) items(context->items);
    // Those inside an `each` come as blocks of their own.
    if (auto* each = ast::as<ast::EachBlock>(&block)) {
      if (each->each.list) value(*each->each.list);
    } else {
      each_value(block, [this](const ast::Expr& inner) { value(inner); });
    }
  }

 private:
  void items(const List<ast::Item*>& list) {
    for (const ast::Item* item : list) {
      into_.configured.insert(item->configure.text);
      word(item->system.text);
      items(item->inner);
    }
  }

  void value(const ast::Expr& written) {
    if (auto* reference = ast::as<ast::Reference>(&written); reference && !reference->parts.empty()) {
      const List<ast::PathPart>& parts = reference->parts;
      const std::string_view first = parts[0].name.text;
      if (first == "input" && parts.size() > 1) {
        if (parts[1].name)
          input(parts[1].name.text);
        else
          into_.computed_input = true;
      } else if (own_ == nullptr || own_->kind != ast::Kind::Let || own_->name.text != first) {
        into_.words.insert(first);
      }
    }
    // The reader may mean the value (W0403); a second warning that it is unused would not help.
    if (auto* text = ast::as<ast::String>(&written); text && text->word) into_.words.insert(text->text);
    if (auto* call = ast::as<ast::Call>(&written)) into_.words.insert(call->function.text);
    each_part(written, [this](const ast::Expr& inner) { value(inner); });
  }

  // Names that are no expressions: `deploy input.nodes 2`, `system input.nodes configure c`.
  void word(std::string_view name) {
    constexpr std::string_view kInput = "input.";
    if (name.starts_with(kInput)) input(name.substr(kInput.size()));
  }

  void input(std::string_view name) {
    if (own_ == nullptr || own_->kind != ast::Kind::Input || own_->name.text != name)
      into_.inputs.insert(name);
  }

  Mentions& into_;
  const ast::Block* own_ = nullptr;
};

}  // namespace

Mentions mentions_in(const Instance& instance) {
  Mentions made;
  Reader reader(made);
  for (const ast::Tree* tree : instance.trees)
    each_block(tree->blocks, [&](const ast::Block& block) { reader.block(block); });
  return made;
}

}  // namespace radl
