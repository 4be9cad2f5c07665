// Reports undeclared names in code that was not evaluated: after `and`, in the branch that is not taken, in
// blocks excluded by `when`, in an unused `let`.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/suggestion.h"
#include "compiler/passes/build.h"
#include "compiler/syntax/places.h"
#include "compiler/syntax/renamed.h"
#include "compiler/syntax/walk.h"

namespace radl::passes {

namespace {

// What the files of an instance declare, written out or not.
struct DeclaredNames {
  std::set<std::string_view> names = {"input", "output", "system", "module", "none", "self"};
  bool computed = false;  // a system or module of a computed name: it may be any

  void add(const ast::Each& each) {
    names.insert(each.first.text);
    if (each.second) names.insert(each.second.text);
  }
};

class Names {
 public:
  Names(const Instance& instance, Diagnostics& diagnostics)
      : instance_(instance), diagnostics_(diagnostics) {}

  void check(const ast::Tree& tree) {
    each_block(tree.blocks, [&](const ast::Block& block) { declare(block); });
    each_block(tree.blocks, [&](const ast::Block& block) {
      if (auto* each = ast::as<ast::EachBlock>(&block)) {
        if (each->each.list) value(*each->each.list);
      } else if (block.kind == ast::Kind::Input) {
        input(static_cast<const ast::FeatureBlock&>(block));
      } else {
        each_value(block, [&](const ast::Expr& inner) { value(inner); });
      }
    });
    for (const PlaceWord& found : place_words(tree, instance_.trees)) word(found);
  }

 private:
  void declare(const ast::Block& block) {
    if (block.name) declared_.names.insert(block.name.text);
    declared_.computed |=
        block.named != nullptr && (block.kind == ast::Kind::System || block.kind == ast::Kind::Use);
    if (auto* each = ast::as<ast::EachBlock>(&block)) declared_.add(each->each);
    if (auto* let = ast::as<ast::Let>(&block))
      for (const ast::Name& parameter : let->parameters) declared_.names.insert(parameter.text);
    if (auto* features = ast::as<ast::FeatureBlock>(&block)) declare(features->body);
    if (auto* use = ast::as<ast::Use>(&block)) declare(use->body);
    if (auto* configure = ast::as<ast::Configure>(&block)) declare(configure->resources);
    if (auto* context = ast::as<ast::Contextualize>(&block)) declare(context->items);
    if (ast::as<ast::EachBlock>(&block) == nullptr)
      each_value(block, [&](const ast::Expr& inner) { declare_variables(inner); });
  }

  void declare(const ast::Features& features) {
    for (const ast::Feature* feature : features.items) {
      if (feature->each) declared_.add(*feature->each);
      if (feature->group) declare(*feature->group);
    }
  }

  void declare(const List<ast::Resource*>& resources) {
    for (const ast::Resource* resource : resources) {
      if (resource->each) declared_.add(*resource->each);
      declare(resource->body);
      declare(resource->inner);
    }
  }

  void declare(const List<ast::Item*>& items) {
    for (const ast::Item* item : items) {
      if (item->each) declared_.add(*item->each);
      declare(item->inner);
    }
  }

  void declare_variables(const ast::Expr& written) {
    if (auto* made = ast::as<ast::Comprehension>(&written)) declared_.add(made->each);
    each_part(written, [&](const ast::Expr& inner) { declare_variables(inner); });
  }

  // The words of a type are no names.
  void input(const ast::FeatureBlock& block) {
    for (const ast::Feature* feature : block.body.items)
      if (feature->value && feature->name.text != "type") value(*feature->value);
  }

  void value(const ast::Expr& written) {
    if (auto* reference = ast::as<ast::Reference>(&written); reference && !reference->parts.empty())
      name(*reference);
    each_part(written, [&](const ast::Expr& inner) { value(inner); });
  }

  // A word for a cloud or zone does not refer to the value of the same name. For a system it did in older
  // versions of `radl 2`, so the user must decide.
  void word(const PlaceWord& found) {
    const std::string_view text = found.word->text;
    const std::string name = fmt::format("'{}'", text), value = fmt::format("'${{{}}}'", text);
    auto& report =
        diagnostics_.report(found.of_system ? DiagCode::PlaceValue : DiagCode::CloudWord, found.word->span,
                            fmt::format("`{}` is read as the name of a cloud or zone, not as {}", text,
                                        found.of_each ? "the variable of `each`" : "the value of `let`"));
    report.note(found.declared->span, "the value is declared here")
        .with_help(found.of_system ? fmt::format("write {} for the value, or {} for the name", value, name)
                                   : fmt::format("write {} for the name, or {} for the value", name, value));
    const auto write_value = [&] {
      report.fix(fmt::format("write {}, the value", value), found.word->span, value);
    };
    if (found.of_system) write_value();
    report.fix(fmt::format("write {}, the name", name), found.word->span, name);
    if (!found.of_system) write_value();
  }

  void name(const ast::Reference& reference) {
    const ast::Name& first = reference.parts[0].name;
    const ast::Name member = reference.parts.size() > 1 ? reference.parts[1].name : ast::Name();
    if (first.text == "input") {
      if (member && !instance_.inputs.contains(member.text) && !instance_.may_declare("input", member.text))
        unknown(DiagCode::UnknownMember, member, "input", instance_.inputs);
    } else if (const Instance* child = instance_.child(first.text)) {
      const bool there = !member || child->outputs.contains(member.text) ||
                         child->left_out.contains({ast::Kind::Output, member.text});
      if (!there && !child->may_declare("output", member.text))
        unknown(DiagCode::UnknownMember, member, fmt::format("output of module '{}'", first.text),
                child->outputs, renamed_output(child->use->module->text, member.text));
    } else if (!declared_.computed && !declared_.names.contains(first.text) &&
               !instance_.may_declare("", first.text)) {
      unknown(DiagCode::UnknownName, first, "", {});
    }
  }

  // `present`: the name that a former one has now.
  void unknown(DiagCode code, const ast::Name& name, const std::string& what, const Instance::ByName& there,
               std::string_view present = {}) {
    const auto& all = diagnostics_.all();
    if (std::any_of(all.begin(), all.end(), [&](const Diagnostic& one) {
          return one.span.file == name.span.file && one.span.begin <= name.span.begin &&
                 one.span.end >= name.span.end && one.severity == Severity::Error;
        }))
      return;
    std::vector<std::string> names;
    for (const auto& [known, block] : there) names.emplace_back(known);
    if (what.empty()) names.assign(declared_.names.begin(), declared_.names.end());
    auto& diagnostic =
        diagnostics_.report(code, name.span,
                            what.empty() ? fmt::format("nothing here is named '{}'", name.text)
                                         : fmt::format("there is no {} named '{}'", what, name.text));
    if (std::string near = there.contains(present) ? std::string(present) : suggestion(name.text, names);
        !near.empty())
      diagnostic.with_help(near == present ? renamed_help(present) : fmt::format("did you mean '{}'?", near))
          .fix(fmt::format("write '{}'", near), name.span, near);
    else if (!what.empty() && !names.empty())
      diagnostic.with_help(names_it_has(names));
  }

  const Instance& instance_;
  Diagnostics& diagnostics_;
  DeclaredNames declared_;
};

}  // namespace

void names(Build& build) {
  std::set<const ast::Tree*> seen;  // of a module that is used several times, one
  visit(static_cast<const Instance&>(*build.root), [&](const Instance& instance) {
    for (const ast::Tree* tree : instance.trees) {
      if (tree->dialect != ast::Dialect::Radl2 || !seen.insert(tree).second) continue;
      WithinUse within(build.diagnostics, instance.used_from);
      Names(instance, build.diagnostics).check(*tree);
    }
  });
}

}  // namespace radl::passes
