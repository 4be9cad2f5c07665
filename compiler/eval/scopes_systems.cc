// Outputs, systems and the numbers of their nodes.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/text.h"
#include "compiler/eval/expand.h"
#include "compiler/eval/scope_data.h"
#include "compiler/resources/resource_schema.h"

namespace radl::passes {

Value Scopes::output(const Instance& instance, std::string_view name, Span at) {
  Scope& here = scope(instance);
  auto& [state, value] = here.output_values[name];
  std::string what = named_in(fmt::format("output '{}'", name), instance);
  if (state == SlotState::Busy) return cycle(what, at);
  if (state == SlotState::Done) return value;
  state = SlotState::Busy;
  const Working working(*this, std::move(what), at);
  auto* feature_block = ast::as<ast::FeatureBlock>(instance.outputs.at(name));
  Value made;
  for (const ast::Feature* feature : feature_block->body.items) {
    if (feature->form == ast::FeatureKind::Simple && feature->name.text == "value")
      made = evaluate(*feature->value, instance);
  }
  if (!made.is_error() && !made.sensitive() && output_sensitive(instance, name)) made.mark_sensitive();
  auto& slot = here.output_values[name];
  slot = {SlotState::Done, made};
  return made;
}

bool Scopes::output_sensitive(const Instance& instance, std::string_view name) {
  auto* feature_block = ast::as<ast::FeatureBlock>(instance.outputs.at(name));
  for (const ast::Feature* feature : feature_block->body.items) {
    if (feature->form != ast::FeatureKind::Simple || feature->name.text != "sensitive") continue;
    Value value = evaluate(*feature->value, instance);
    if (value.sensitive()) return true;
    return value.kind() == ValueKind::Boolean ? value.as_boolean()
                                              : value.kind() == ValueKind::String && value.as_text() == "yes";
  }
  return false;
}

// ---- systems

namespace {

std::vector<std::string> systems_in(const Value& value) {
  std::vector<std::string> names;
  if (value.kind() == ValueKind::System) names.push_back(value.as_text());
  if (value.kind() == ValueKind::List)
    for (const Value& each : value.items())
      if (each.kind() == ValueKind::System) names.push_back(each.as_text());
  return names;
}

}  // namespace

bool Scopes::shown_in_plans(const Value& value, Span at) {
  if (!value.sensitive() || value.is_error()) return true;
  diagnostics_.report(DiagCode::SecretShown, at,
                      "what a recipe runs on is shown in plans: it cannot be a secret");
  return false;
}

std::vector<std::string> Scopes::systems_named(const ast::Name& name, const Instance& instance) {
  constexpr std::string_view kInput = "input.";
  if (instance.systems.contains(name.text)) return {instance.full(name.text)};
  const size_t dot = std::min(name.text.find('.'), name.text.size());
  if (const Instance* module = instance.child(name.text.substr(0, dot)); module && dot < name.text.size()) {
    const std::string_view member = name.text.substr(dot + 1);
    if (!module->outputs.contains(member)) return {};
    const Value value = output(*module, member, name.span);
    return shown_in_plans(value, name.span) ? systems_in(value) : std::vector<std::string>();
  }
  if (!name.text.starts_with(kInput)) return {};
  std::string_view input_name = name.text.substr(kInput.size());
  if (!instance.inputs.contains(input_name)) {
    diagnostics_.report(DiagCode::UnknownMember, name.span,
                        fmt::format("there is no input named '{}'", input_name));
    return {};
  }
  Value value = input(instance, input_name, name.span);
  if (!shown_in_plans(value, name.span)) return {};
  std::vector<std::string> names = systems_in(value);
  if (names.empty() && !value.is_error() && !(value.kind() == ValueKind::List && value.items().empty())) {
    diagnostics_.report(DiagCode::UnknownSystem, name.span,
                        fmt::format("input '{}' is not a system", input_name));
  }
  return names;
}

std::vector<std::string> Scopes::systems_of(const ast::Item& item, const Instance& instance) {
  if (item.systems == nullptr) return systems_named(item.system, instance);
  Value value = evaluate(*item.systems, instance);
  if (!shown_in_plans(value, item.systems->span)) return {};
  std::vector<std::string> names = systems_in(value);
  bool empty = value.kind() == ValueKind::List && value.items().empty();
  if (names.empty() && !value.is_error() && !empty) {
    auto& report =
        diagnostics_.report(DiagCode::UnknownSystem, item.systems->span,
                            fmt::format("expected a system, not {}", expr::kind_name(value.kind())));
    if (value.kind() == ValueKind::Node)
      report.with_help(
          "a recipe is for all nodes of a system: `when = self.ordinal == 0` at its resources leaves out the "
          "others");
  }
  return names;
}

std::string Scopes::cloud_of(const ast::Deploy& deploy, const Instance& instance) {
  if (deploy.cloud == nullptr) return {};
  const Value value = evaluate(ast::without_quotes(*deploy.cloud), instance);
  const Span at = deploy.cloud->span;
  if (value.sensitive())
    diagnostics_.report(DiagCode::SecretShown, at,
                        "the cloud of a deploy is shown in plans: it cannot be a secret");
  else if (value.has_unknown())
    diagnostics_.report(DiagCode::NotKnownYet, at, "a cloud must be known before apply");
  else if (value.kind() == ValueKind::String && !value.as_text().empty())
    return value.as_text();
  else if (!value.is_error() && value.kind() != ValueKind::Null)
    diagnostics_.report(
        DiagCode::FeatureExpression, at,
        fmt::format("the cloud of a deploy is a name, not {}",
                    value.kind() == ValueKind::String ? "an empty string" : expr::kind_name(value.kind())));
  return {};
}

std::optional<int64_t> Scopes::deploy_count(const ast::Deploy& deploy, const Instance& instance) {
  auto known = deploy_counts_.find({&deploy, &instance});
  if (known == deploy_counts_.end()) {
    auto count = compute_deploy_count(deploy, instance);
    known = deploy_counts_.emplace(std::pair(&deploy, &instance), count).first;
  }
  return known->second;
}

std::optional<int64_t> Scopes::compute_deploy_count(const ast::Deploy& deploy, const Instance& instance) {
  if (deploy.count == nullptr) return std::nullopt;
  Value value = evaluate(*deploy.count, instance);
  Span at = deploy.count->span;
  auto wrong = [&](DiagCode code, std::string message) {
    Diagnostic& said = diagnostics_.report(code, at, std::move(message));
    if (value.is_text() && !value.sensitive() && deploy.count->kind == ast::Kind::String)
      said.with_help("write the number without quotes: 2, or input.nodes");
    return std::nullopt;
  };
  if (value.sensitive())
    return wrong(DiagCode::SecretShown,
                 "the number of nodes is shown in plans: it cannot come from a sensitive input");
  if (value.is_error()) return std::nullopt;
  if (value.has_unknown())
    return wrong(DiagCode::NotKnownYet, "the number of nodes must be known before apply");
  // The reference takes `deploy s 1.5`; it can only mean the whole part.
  bool radl1 = instance.trees.empty() || instance.trees.front()->dialect != ast::Dialect::Radl2;
  if (radl1 && value.kind() == ValueKind::Real && value.unit().empty() && value.as_real() >= 0)
    value = Value::integer(static_cast<int64_t>(std::min(value.as_real(), 1e9)));
  if (value.kind() != ValueKind::Integer || !value.unit().empty())
    return wrong(DiagCode::DeployCount,
                 value.kind() == ValueKind::Real && value.unit().empty()
                     ? fmt::format("a number of nodes is an integer, not {}: see floor(), ceil() and round()",
                                   value.as_real())
                     : fmt::format("a number of nodes is an integer, not {}", expr::kind_name(value.kind())));
  if (value.as_integer() < 0)
    return wrong(DiagCode::DeployCount,
                 fmt::format("{} nodes cannot be deployed; use 0 or more", value.as_integer()));
  if (value.as_integer() > kMaxNodes)
    return wrong(DiagCode::DeployCount,
                 fmt::format("a program may have {} nodes, here are {}", kMaxNodes, value.as_integer()));
  return value.as_integer();
}

void Scopes::index_deploys() {
  deploys_indexed_ = true;
  visit(program_, [&](const Instance& instance) {
    for (const ast::Deploy* deploy : instance.deploys) {
      for (const std::string& system : systems_named(deploy->name, instance)) {
        auto& slot = counts_[system];
        if (slot == nullptr) slot = std::make_unique<CountSlot>();
        slot->deploys.emplace_back(deploy, &instance);
      }
    }
  });
}

std::optional<int64_t> Scopes::count(const std::string& system, Span at) {
  if (!expanded_) {
    diagnostics_.report(DiagCode::ValueCycle, at, "the number of nodes cannot decide which blocks there are");
    return std::nullopt;
  }
  if (const std::vector<int>* chosen = ordinals(system)) return static_cast<int64_t>(chosen->size());
  if (!deploys_indexed_) index_deploys();
  auto found = counts_.find(system);
  if (found == counts_.end()) return 0;
  CountSlot& slot = *found->second;
  std::string what = fmt::format("the number of nodes of system '{}'", system);
  if (slot.state == SlotState::Busy) {
    cycle(what, at);
    return std::nullopt;
  }
  if (slot.state == SlotState::Done) return slot.count;
  slot.state = SlotState::Busy;
  const Working working(*this, std::move(what), at);
  int64_t total = 0;
  bool known = true;
  for (const auto& [deploy, instance] : slot.deploys) {
    auto count = deploy_count(*deploy, *instance);
    known = known && count.has_value();
    total += count.value_or(0);
  }
  slot.state = SlotState::Done;
  if (known) slot.count = total;
  return slot.count;
}

const std::vector<int>* Scopes::ordinals(const std::string& system) {
  auto chosen = options_.chosen_nodes.find(system);
  return chosen == options_.chosen_nodes.end() ? nullptr : &chosen->second;
}

std::optional<Value> Scopes::attribute(const std::string& system, int64_t ordinal, std::string_view member,
                                       Span at) {
  std::string address = fmt::format("{}[{}]", system, ordinal);
  if (member == "ordinal") return Value::integer(ordinal);
  if (member == "system") return Value::string(system);
  if (member == "address") return Value::string(address);
  if (member == "number" || member == "hostname" || member == "fqdn") {
    auto facts = facts_ ? facts_(system, ordinal) : std::nullopt;
    if (!facts) {
      diagnostics_.report(DiagCode::ValueCycle, at,
                          fmt::format("'{}' of a node cannot decide which nodes there are", member));
      return Value();
    }
    if (member == "number") return Value::integer(facts->number);
    return Value::string(member == "hostname" ? facts->host_name : facts->host_name + "." + facts->domain);
  }
  for (std::string_view name : {"ip", "private_ip", "public_ip", "port", "user", "id"}) {
    if (member == name) return Value::unknown(fmt::format("{}.{}", address, member));
  }
  return std::nullopt;
}

bool Scopes::each_job(const List<ast::Resource*>& resources, const Instance& instance, const Self* self,
                      const OnJob& on_job) {
  for (const ast::Resource* resource : resources) {
    if (resource->each == nullptr) {
      const ast::Feature* when = self == nullptr ? nullptr : when_of(resource->body);
      const auto wanted = when == nullptr ? std::optional(true)
                                          : when_says(evaluate(*when->value, instance, self),
                                                      when->value->span, diagnostics_);
      if (!wanted) return false;
      if (*wanted) on_job(*resource, self);
      continue;
    }
    if (!repeat(*resource->each, instance, self, nullptr,
                [&](const Self& inside) { return each_job(resource->inner, instance, &inside, on_job); }))
      return false;
  }
  return true;
}

bool Scopes::each_feature(const List<ast::Feature*>& features, const Instance& instance, const Self* self,
                          bool* used_self, const OnFeature& on_feature) {
  bool fine = true;
  for (const ast::Feature* feature : features) {
    if (feature->each != nullptr) {
      const bool repeated = repeat(*feature->each, instance, self, used_self, [&](const Self& inside) {
        fine = each_feature(feature->group->items, instance, &inside, used_self, on_feature) && fine;
        return true;
      });
      if (!repeated) return false;
    } else if (feature->named != nullptr) {
      const Value name = evaluate(*feature->named, instance, self, used_self);
      if (name.is_error()) return false;
      if (name.sensitive() || name.kind() != ValueKind::String || name.as_text().empty()) {
        diagnostics_.report(DiagCode::PropertyValue, feature->named->span,
                            "the name of a property is a string that is known before apply, and no secret");
        return false;
      }
      auto* made = instance.made->arena.make<ast::Feature>(*feature);
      made->name = {instance.made->arena.copy(name.as_text()), feature->named->span};
      on_feature(*made, self);
    } else {
      on_feature(*feature, self);
    }
  }
  return fine;
}

bool Scopes::each_job(const ast::Configure& configure, const Instance& instance, const OnJob& on_job) {
  return each_job(configure.resources, instance, nullptr, on_job);
}

const Scopes::JobSteps& Scopes::job_steps(const ast::Configure& configure, const Instance& instance) {
  auto [slot, fresh] = scope(instance).job_steps.try_emplace(configure.name.text);
  JobSteps& steps = slot->second;
  if (!fresh) return steps;  // if its own name asks for it, it is not known
  bool fine = each_job(configure, instance, [&](const ast::Resource& job, const Self* self) {
    Value name = job.name == nullptr ? Value() : evaluate(*job.name, instance, self);
    if (name.kind() == ValueKind::String && !name.as_text().empty())
      steps.ids.push_back(fmt::format("{}/{}", job.type.text, name.as_text()));
    else
      steps.wrong = true;
  });
  steps.wrong |= !fine;
  steps.known = !steps.wrong;
  return steps;
}

namespace {

const ast::Resource* job_in(const List<ast::Resource*>& resources) {
  for (const ast::Resource* resource : resources) {
    if (ir::is_job_type(resource->type.text)) return resource;
    if (const ast::Resource* inner = job_in(resource->inner)) return inner;
  }
  return nullptr;
}

}  // namespace

const ast::Resource* find_job(const ast::Configure& configure) { return job_in(configure.resources); }

}  // namespace radl::passes
