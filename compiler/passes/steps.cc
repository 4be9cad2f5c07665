// Items and trainings to steps: one for each recipe and node, one for each training. Edges come later
// (order.cc).
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/store_address.h"
#include "compiler/eval/mentions.h"
#include "compiler/passes/recipes.h"

namespace radl::passes {

namespace {

class StepMaker {
 public:
  explicit StepMaker(Build& build) : build_(build), recipes_(build) {}

  void run() {
    find_left_out();
    if (!build_.configuration_off) {
      add_applications();
      for (BoundItem& item : build_.items) add_item(item);
    }
    check_unbound();
    add_trainings();
    check_files();
    tell_idle();
  }

 private:
  // Systems and recipes with a `deploy` or item that `when`, or an `each` over nothing, excludes. Their
  // values may exist only in the other case.
  void find_left_out() {
    if (build_.diagnostics.has_errors()) return;  // which may have left it out
    std::set<std::string_view> deployed, bound;
    for (const hir::Part& part : build_.values.parts)
      for (const hir::Deploy& deploy : part.deploys) deployed.insert(deploy.system.text);
    for (const BoundItem& item : build_.items) bound.insert(item.recipe);
    visit(static_cast<const Instance&>(*build_.root), [&](const Instance& instance) {
      const Mentions mentions = mentions_in(instance);
      auto add = [&](const std::set<std::string_view>& names, const std::set<std::string_view>& there) {
        for (std::string_view name : names)
          if (std::string full = instance.full(name); !there.contains(full))
            left_out_.insert(std::move(full));
      };
      add(mentions.deployed, deployed);
      add(mentions.configured, bound);
    });
  }

  // What RADL 1 installs by name comes before everything else on a node. Roles and collections are for the
  // node that runs Ansible: its runner brings them.
  void add_applications() {
    for (const ir::Node& node : build_.program.nodes) {
      ir::Step step;
      for (const ir::Application& application : node.applications) {
        if (application.preinstalled || application.name.starts_with("ansible.")) continue;
        // "org.gnu.make" is the package make.
        std::string name = application.name.substr(application.name.rfind('.') + 1);
        step.resources.push_back({"package", name, ir::Json{{"state", "present"}}, node.origin});
      }
      if (!node.configured || step.resources.empty()) continue;
      step.recipe = "disk.0.applications";
      step.id = fmt::format("{}/{}", node.address, step.recipe);
      step.nodes = {node.address};
      step.origin = node.origin;
      ir::Json names;
      for (const ir::Resource& resource : step.resources) names.push_back(resource.name);
      step.digest = json_digest({{"packages", names}});
      build_.program.steps.push_back(std::move(step));
    }
  }

  void add_item(BoundItem& item) {
    auto places = build_.nodes_of.find(item.system);
    const std::vector<size_t> none;
    const std::vector<size_t>& nodes = places == build_.nodes_of.end() ? none : places->second;
    if (item.kind == ir::StepKind::Native) {
      looked_at_.insert(item.configure);
      return add_native(item, nodes);
    }
    std::string body =
        build_.scopes->fill_body(item.configure->recipe->text, *item.instance, item.configure->recipe->span);
    std::string digest = body_digest(item.kind, body, *item.instance);
    for (size_t place : nodes) {
      if (!build_.program.nodes[place].configured) continue;
      ir::Step step = make(item, build_.program.nodes[place]);
      step.body = body;
      step.digest = digest;
      push(item, std::move(step));
    }
  }

  void add_native(BoundItem& item, const std::vector<size_t>& nodes) {
    std::optional<Recipes::Made> shared;
    for (size_t place : nodes) {
      const ir::Node& node = build_.program.nodes[place];
      if (!node.configured) continue;
      Self self{node.system, node.ordinal};
      ir::Step step = make(item, node);
      std::optional<Recipes::Made> own;
      if (!shared) {
        own = recipes_.native(*item.configure, *item.instance, item.recipe, &self);
        if (!own) return;  // reported; the other nodes would say the same
        if (own->used_self) own = recipes_.native(*item.configure, *item.instance, step.id, &self);
        if (!own) return;
        if (!own->used_self) shared = own;
      }
      const Recipes::Made& made = shared ? *shared : *own;
      step.resources = made.resources;
      step.digest = made.digest;
      push(item, std::move(step));
    }
    // No node runs it now, but its errors are reported, unless a `when` excludes it.
    if (nodes.empty() && !left_out_.contains(item.system)) {
      Self self{item.system, 0};
      recipes_.native(*item.configure, *item.instance, item.recipe, &self);
    }
  }

  ir::Step make(const BoundItem& item, const ir::Node& node) {
    ir::Step step;
    step.id = fmt::format("{}/{}", node.address, item.recipe);
    step.recipe = item.recipe;
    step.kind = item.kind;
    step.nodes = {node.address};
    step.group = item.group;
    step.origin = build_.origin(item.configure->name.span);
    return step;
  }

  void push(BoundItem& item, ir::Step step) {
    item.steps.push_back(build_.steps.size());
    build_.steps.push_back(std::move(step));
  }

  // A recipe may include another of the document by its file name, `other.yml`.
  std::string body_digest(ir::StepKind kind, const std::string& body, const Instance& instance) {
    ir::Json parts = {{"kind", ir::step_kind_name(kind)}, {"body", body}};
    for (size_t at = body.find(".yml"); at != body.npos; at = body.find(".yml", at + 1)) {
      size_t begin = at;
      while (begin > 0 && (std::isalnum(static_cast<unsigned char>(body[begin - 1])) ||
                           body[begin - 1] == '_' || body[begin - 1] == '-'))
        begin--;
      auto found = instance.configures.find(std::string_view(body).substr(begin, at - begin));
      auto* other = found == instance.configures.end() ? nullptr : ast::as<ast::Configure>(found->second);
      if (other != nullptr && other->recipe != nullptr)
        parts["includes"][std::string(other->name.text)] = std::string(other->recipe->text);
    }
    return json_digest(parts);
  }

  // Also checks native recipes that no item uses, so that their errors are found.
  void check_unbound() {
    visit(static_cast<const Instance&>(*build_.root), [&](const Instance& instance) {
      for (const auto& [name, block] : instance.configures) {
        auto* configure = ast::as<ast::Configure>(block);
        if (configure == nullptr || configure->resources.empty() || looked_at_.contains(configure)) continue;
        if (find_job(*configure) != nullptr || left_out_.contains(instance.full(name))) continue;
        Self self{"node", 0};
        recipes_.native(*configure, instance, instance.full(name), &self);
      }
    });
  }

  // In the order of the source.
  void tell_idle() {
    std::set<const ast::Configure*> running;
    for (const BoundItem& item : build_.items)
      if (!item.steps.empty()) running.insert(item.configure);
    for (const sema::ConfigureDefinition& definition : build_.document.configures.list) {
      const ast::Configure& configure = definition.written();
      if (configure.recipe == nullptr || running.contains(&configure)) continue;
      build_.idle_recipes.push_back({std::string(definition.block->name.text),
                                     std::string(configure.recipe->text),
                                     build_.origin(configure.name.span)});
    }
  }

  void add_trainings() {
    visit(static_cast<const Instance&>(*build_.root), [&](const Instance& instance) {
      // In the order of the source: `configures` is sorted by name.
      for (const ast::Block* block : instance.blocks) {
        auto* configure = ast::as<ast::Configure>(block);
        if (configure == nullptr || find_job(*configure) == nullptr) continue;
        for (ir::Step& step : recipes_.jobs(*configure, instance))
          add_training(*configure, instance, std::move(step));
      }
    });
  }

  void add_training(const ast::Configure& configure, const Instance& instance, ir::Step step) {
    const ast::Resource& written = *find_job(configure);
    auto [first, fresh] = job_names_.emplace(step.id, configure.name.span);
    if (!fresh) {
      const std::string_view kind = written.type.text;
      build_.diagnostics
          .report(DiagCode::TrainingPlace, written.name->span,
                  fmt::format("another {} has the name '{}'", kind, step.id.substr(kind.size() + 1)))
          .note(first->second, "the other one")
          .with_help(configure.resources[0] == &written
                         ? fmt::format(
                               "in a module, `{} module.name ( ... )` gives each instance its own name", kind)
                         : "put the variable of `each` into the name");
      return;
    }
    if (build_.configuration_off) return;
    build_.trainings.push_back({build_.steps.size(), &instance, &configure});
    build_.steps.push_back(std::move(step));
  }

  // What a program made goes to others by way of this computer.
  void check_files() {
    std::map<std::string, const ir::Step*> programs;
    for (const Build::TrainingStep& job : build_.trainings)
      programs[build_.steps[job.step].id] = &build_.steps[job.step];
    for (const Build::TrainingStep& job : build_.trainings) {
      for (const ir::Json& input : build_.steps[job.step].program->value("inputs", ir::Json::array())) {
        if (!input.contains("files")) continue;
        const std::string name = ir::unknowns_in(input).front();
        const auto made_by = programs.find(name.substr(0, name.rfind('.')));
        if (made_by == programs.end()) continue;  // it has an error of its own
        const std::string results = made_by->second->program->value("results", "");
        if (!is_store_address(results)) continue;
        WithinUse within(build_.diagnostics, job.instance->used_from);
        build_.diagnostics
            .report(DiagCode::PropertyValue, find_job(*job.configure)->type.span,
                    fmt::format("the files of {} go to {}: they cannot be an input of another program",
                                made_by->first, results))
            .with_help("give it a folder of this computer as `results`");
      }
    }
  }

  Build& build_;
  Recipes recipes_;
  std::set<const ast::Configure*> looked_at_;
  std::set<std::string> left_out_;
  std::map<std::string, Span> job_names_;
};

}  // namespace

void steps(Build& build) { StepMaker(build).run(); }

}  // namespace radl::passes
