// Which recipe goes to which system, in which of RADL's steps.
//
// No `contextualize` block in an instance: every system that has a configure of its own name gets that, at
// step 1. Otherwise exactly the items, of which a later one with the same system and configure takes the
// place of the earlier one.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/check/check.h"
#include "compiler/passes/build.h"
#include "compiler/passes/requirements.h"

namespace radl::passes {

namespace {

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
         });
}

class Binder {
 public:
  explicit Binder(Build& build) : build_(build) {}

  void run() {
    visit(static_cast<const Instance&>(*build_.root), [&](const Instance& instance) {
      places_.clear();
      if (instance.contextualize.empty()) {
        by_default(instance);
      } else {
        for (const ast::Contextualize* block : instance.contextualize) {
          for (const ast::Item* item : block->items) bind(instance, *item);
        }
        take_steps();
      }
    });
    options();
  }

 private:
  static const ast::Configure* find(const Instance& instance, std::string_view name) {
    auto found = instance.configures.find(name);
    return found == instance.configures.end() ? nullptr : ast::as<ast::Configure>(found->second);
  }

  static bool has_recipe(const ast::Configure& configure) {
    return configure.recipe != nullptr || !configure.resources.empty();
  }

  void by_default(const Instance& instance) {
    // In the order of the configures: `systems` is sorted by name, and RADL knows no order here.
    for (const auto& [name, block] : instance.systems) {
      const ast::Configure* configure = find(instance, name);
      if (configure == nullptr || !has_recipe(*configure)) continue;
      BoundItem item = make(instance, instance.full(name), *configure);
      item.group = 1;
      build_.items.push_back(std::move(item));
    }
  }

  BoundItem make(const Instance& instance, std::string system, const ast::Configure& configure) {
    BoundItem item;
    item.instance = &instance;
    item.system = std::move(system);
    item.configure = &configure;
    item.recipe = instance.full(configure.name.text);
    item.kind = configure.recipe != nullptr ? ir::StepKind::Ansible : ir::StepKind::Native;
    item.span = configure.name.span;
    return item;
  }

  void bind(const Instance& instance, const ast::Item& written) {
    const ast::Configure* configure = find(instance, written.configure.text);
    for (const ast::Name& name : written.after) check_after(instance, name);
    if (configure == nullptr) return;  // the check reports it
    if (const ast::Resource* job = find_job(*configure)) {
      const bool trains = job->type.text == "training";
      build_.diagnostics
          .report(DiagCode::TrainingPlace, written.configure.span,
                  fmt::format("'{}' {}: it names its nodes itself and runs after their other steps",
                              configure->name.text, trains ? "trains" : "is a program"))
          .with_help(fmt::format("take this item out; `after` of another item can name the {}",
                                 trains ? "training" : "program"));
      return;
    }
    std::vector<std::string> systems = build_.scopes->systems_of(written, instance);
    for (std::string& system : systems) {
      BoundItem item = make(instance, std::move(system), *configure);
      item.written = &written;
      item.span = written.span;
      if (written.step != nullptr) item.group = static_cast<int>(std::min(written.step->real, 1e9));
      tool(item, written);
      place(std::move(item));
    }
  }

  // An item with `after` but without `step` joins the latest step of the items that it follows: in
  // step 0 it would delay the items it waits for. Cycles are left unchanged; the order pass reports
  // them.
  void take_steps() {
    std::map<std::string_view, std::vector<size_t>> bound, waiting;  // configure -> places in items
    for (const auto& [key, place] : places_) bound[build_.items[place].configure->name.text].push_back(place);
    std::map<size_t, size_t> open;  // place -> how many items it waits for whose step is not known yet
    for (const auto& [key, place] : places_) {
      const ast::Item& written = *build_.items[place].written;
      if (written.step == nullptr && !written.after.empty()) open[place] = 0;
    }
    std::vector<size_t> ready;
    for (auto& [place, count] : open) {
      for (const ast::Name& name : build_.items[place].written->after) {
        waiting[name.text].push_back(place);
        for (size_t first : bound[name.text]) count += open.contains(first);
      }
      if (count == 0) ready.push_back(place);
    }
    while (!ready.empty()) {
      size_t place = ready.back();
      ready.pop_back();
      BoundItem& item = build_.items[place];
      for (const ast::Name& name : item.written->after)
        for (size_t first : bound[name.text]) item.group = std::max(item.group, build_.items[first].group);
      for (size_t later : waiting[item.configure->name.text])
        if (--open[later] == 0) ready.push_back(later);
    }
  }

  // The order pass knows more about `after`, but does not run after an error.
  void check_after(const Instance& instance, const ast::Name& name) {
    if (!build_.diagnostics.has_errors() || build_.diagnostics.has(DiagCode::ModuleNotFound)) return;
    if (instance.child(name.text) != nullptr || find(instance, name.text) != nullptr) return;
    if (sema::may_be_defined(build_.document, "configure", name.text)) return;
    build_.diagnostics.report(DiagCode::AfterUnknown, name.span,
                              fmt::format("there is no configure and no module '{}'", name.text));
  }

  void tool(BoundItem& item, const ast::Item& written) {
    if (!written.tool) return;
    if (!item.configure->resources.empty()) {
      build_.diagnostics.report(
          DiagCode::RecipeTool, written.tool.span,
          fmt::format("'{}' is a native recipe: it takes no `with`", item.configure->name.text));
    } else if (same_word(written.tool.text, "cloud_init")) {
      item.kind = ir::StepKind::CloudInit;
    }
  }

  void place(BoundItem item) {
    auto [found, fresh] = places_.emplace(std::pair(item.system, item.recipe), build_.items.size());
    if (fresh) {
      if (has_recipe(*item.configure))
        build_.items.push_back(std::move(item));
      else
        places_.erase(found);
    } else {
      build_.items[found->second] = std::move(item);
    }
  }

  void options() {
    const sema::Document& document = build_.document;
    if (document.max_time != nullptr && document.max_time->real > 0)
      build_.program.max_time_seconds = document.max_time->real;
    for (const hir::Feature* option : document.options) {
      if (option->value.kind() == hir::Kind::Error) continue;
      build_.program.options[std::string(option->name)] =
          value_json(build_, option->value, option->name, "option");
    }
    build_.configuration_off =
        document.contextualized && document.items.empty() && build_.root->children.empty() && !trains();
  }

  // `contextualize ()` turns the program's own recipes off, not the modules and jobs that it uses.
  bool trains() const {
    for (const auto& [name, block] : build_.root->configures) {
      auto* configure = ast::as<ast::Configure>(block);
      if (configure != nullptr && find_job(*configure) != nullptr) return true;
    }
    return false;
  }

  Build& build_;
  std::map<std::pair<std::string, std::string>, size_t>
      places_;  // of one instance: (system, recipe) -> place in items
};

}  // namespace

void items(Build& build) { Binder(build).run(); }

}  // namespace radl::passes
