// The plan as JSON and back: docs/plan.md describes every key.
#include "compiler/resources/resource_schema.h"
#include "runtime/plan/plan.h"

namespace radl {

namespace {

Json to_json(const FieldChange& change) {
  return {{"field", change.field},
          {"before", change.before},
          {"after", change.after},
          {"forces_replacement", change.forces_replacement},
          {"forces_restart", change.forces_restart}};
}

Json to_json(const Offer& offer) {
  Json json = {{"name", offer.name},
               {"zone", offer.zone},
               {"price_per_hour", offer.price_per_hour},
               {"spec", offer.spec}};
  const OfferFacts& facts = offer.facts;
  if (!facts.market.empty()) json["market"] = facts.market;
  if (!facts.as_of.empty()) json["as_of"] = facts.as_of;
  if (!facts.priced) json["priced"] = false;
  if (facts.on_demand) json["on_demand_per_hour"] = *facts.on_demand;
  if (facts.spot) json["spot_per_hour"] = *facts.spot;
  if (!facts.beside_as_of.empty()) json["beside_as_of"] = facts.beside_as_of;
  if (facts.cpu > 0) {
    json["cpu"] = facts.cpu;
    json["memory_bytes"] = facts.memory_bytes;
  }
  if (facts.gpu > 0) {
    json["gpu"] = facts.gpu;
    json["gpu_model"] = facts.gpu_model;
  }
  return json;
}

Json to_json(const Change& change);
Json to_json(const Action& action);
Json to_json(const Drift& drift);
Json to_json(const OutputChange& output);
Json to_json(const ResourceCost& cost);

template <class T>
Json list_of(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(to_json(value));
  return list;
}

Json to_json(const Change& change) {
  Json json = {{"resource", change.resource},
               {"what", change.what},
               {"before", change.before},
               {"after", change.after}};
  if (!change.diff.empty()) json["diff"] = change.diff;
  return json;
}

Json to_json(const Action& action) {
  Json json = {{"id", action.id},
               {"verb", verb_name(action.verb)},
               {"nodes", action.nodes},
               {"summary", action.summary},
               {"why", action.why},
               {"needs", action.needs},
               {"changes", list_of(action.changes)}};
  json["seconds"] = action.seconds ? Json(*action.seconds) : Json();
  if (action.is_step) {
    json["step"] = action.step_kind;
    json["order"] = action.order;
    if (ir::is_job_type(action.step_kind)) {
      json["resume"] = action.resume;
      json["ends"] = action.ends;
      json["joins"] = action.joins;
      if (action.rejoins) json["rejoins"] = true;
    }
    if (!action.spec.is_null()) json["spec"] = action.spec;
    return json;
  }
  json["type"] = action.type;
  json["cloud"] = action.cloud;
  json["removed_after"] = action.removed_after;
  if (action.verb != Verb::Delete) {
    json["spec"] = action.spec;
    json["uses"] = action.uses;
  }
  if (!action.offers.empty()) {
    json["offers"] = list_of(action.offers);
    json["chosen"] = action.chosen;
    json["base_spec"] = action.base_spec;
  }
  if (!action.nodes.empty() || !action.price_per_hour.zero()) json["price_per_hour"] = action.price_per_hour;
  return json;
}

Json to_json(const Drift& drift) {
  return {{"address", drift.address},
          {"what", drift.what},
          {"changes", list_of(drift.changes)},
          {"detail", drift.detail}};
}

Json to_json(const OutputChange& output) {
  return {{"name", output.name},
          {"verb", verb_name(output.verb)},
          {"before", output.sensitive ? Json() : output.before},
          {"after", output.sensitive ? Json() : output.after},
          {"sensitive", output.sensitive}};
}

Json to_json(const ResourceCost& cost) {
  Json json = {{"address", cost.address},
               {"cloud", cost.cloud},
               {"machine", cost.machine},
               {"price_per_hour_before", cost.before},
               {"price_per_hour", cost.after}};
  if (!cost.candidates.empty()) {
    json["candidates"] = list_of(cost.candidates);
    json["chosen"] = cost.chosen;
  }
  return json;
}

Json to_json(const PlanTotals& totals) {
  return {{"create", totals.create},
          {"update", totals.update},
          {"replace", totals.replace},
          {"delete", totals.remove},
          {"run", totals.run},
          {"forget", totals.forget},
          {"price_per_hour_before", totals.price_per_hour_before},
          {"price_per_hour", totals.price_per_hour},
          {"seconds", totals.seconds},
          {"seconds_complete", totals.seconds_complete}};
}

// ---- reading: throws Json::exception or std::out_of_range on what does not fit; plan_from_json turns that
// into Invalid

Verb verb_from(const std::string& name) {
  for (Verb verb : {Verb::Create, Verb::Update, Verb::Replace, Verb::Delete, Verb::Run, Verb::Forget}) {
    if (name == verb_name(verb)) return verb;
  }
  throw std::out_of_range("unknown verb '" + name + "'");
}

std::optional<Money> money_in(const Json& json, const char* name) {
  return json.contains(name) ? std::optional(json.at(name).get<Money>()) : std::nullopt;
}

Offer read_offer(const Json& json) {
  Offer offer{json.at("name"), json.at("zone"), json.at("price_per_hour").get<Money>(), json.at("spec"), {}};
  offer.facts.market = json.value("market", "");
  offer.facts.as_of = json.value("as_of", "");
  offer.facts.beside_as_of = json.value("beside_as_of", "");
  offer.facts.priced = json.value("priced", true);
  offer.facts.on_demand = money_in(json, "on_demand_per_hour");
  offer.facts.spot = money_in(json, "spot_per_hour");
  offer.facts.cpu = json.value("cpu", 0.0);
  offer.facts.memory_bytes = json.value("memory_bytes", 0.0);
  offer.facts.gpu = json.value("gpu", 0.0);
  offer.facts.gpu_model = json.value("gpu_model", "");
  return offer;
}

void read_offers(const Json& json, Action& action) {
  for (const Json& offer : json.at("offers")) action.offers.push_back(read_offer(offer));
  action.chosen = json.at("chosen").get<size_t>();
  if (action.chosen >= action.offers.size()) throw std::out_of_range("an invalid offer");
  action.base_spec = json.at("base_spec");
}

ResourceCost read_cost(const Json& json) {
  ResourceCost cost{json.at("address"), json.at("cloud"), json.at("machine"),
                    json.at("price_per_hour_before").get<Money>(), json.at("price_per_hour").get<Money>()};
  if (!json.contains("candidates")) return cost;
  for (const Json& offer : json.at("candidates")) cost.candidates.push_back(read_offer(offer));
  cost.chosen = json.at("chosen").get<size_t>();
  if (cost.chosen >= cost.candidates.size()) throw std::out_of_range("an invalid candidate");
  return cost;
}

Action read_action(const Json& json) {
  Action action;
  action.id = json.at("id");
  action.verb = verb_from(json.at("verb"));
  action.nodes = json.at("nodes").get<std::vector<std::string>>();
  action.summary = json.at("summary");
  action.why = json.at("why");
  action.needs = json.at("needs").get<std::vector<std::string>>();
  for (const Json& change : json.at("changes")) {
    action.changes.push_back({change.at("field"), change.at("before"), change.at("after"),
                              change.at("forces_replacement").get<bool>(),
                              change.at("forces_restart").get<bool>()});
  }
  if (const Json& seconds = json.at("seconds"); !seconds.is_null()) action.seconds = seconds.get<double>();
  action.is_step = json.contains("step");
  if (action.is_step) {
    action.step_kind = json.at("step");
    action.order = json.at("order").get<std::vector<std::string>>();
    action.resume = json.value("resume", false);
    action.ends = json.value("ends", action.ends);
    action.joins = json.value("joins", action.joins);
    action.rejoins = json.value("rejoins", false);
    action.spec = json.value("spec", Json());
    return action;
  }
  action.type = json.at("type");
  action.cloud = json.at("cloud");
  action.removed_after = json.at("removed_after").get<std::vector<std::string>>();
  action.spec = json.value("spec", Json());
  action.uses = json.value("uses", std::vector<std::string>());
  if (json.contains("offers")) read_offers(json, action);
  action.price_per_hour = json.value("price_per_hour", Money());
  return action;
}

Drift read_drift(const Json& json) {
  Drift drift{json.at("address"), json.at("what"), {}, json.at("detail")};
  for (const Json& change : json.at("changes")) {
    drift.changes.push_back({change.at("resource"), change.at("what"), change.at("before"),
                             change.at("after"), change.value("diff", "")});
  }
  return drift;
}

PlanTotals read_totals(const Json& json) {
  PlanTotals totals;
  totals.create = json.at("create");
  totals.update = json.at("update");
  totals.replace = json.at("replace");
  totals.remove = json.at("delete");
  totals.run = json.at("run");
  totals.forget = json.at("forget");
  totals.price_per_hour_before = json.at("price_per_hour_before").get<MoneySum>();
  totals.price_per_hour = json.at("price_per_hour").get<MoneySum>();
  totals.seconds = json.at("seconds");
  totals.seconds_complete = json.at("seconds_complete");
  return totals;
}

Plan read_plan(const Json& json) {
  Plan plan;
  plan.infrastructure = json.at("infrastructure");
  plan.destroys = json.at("destroys");
  plan.partial = json.at("partial");
  const Json& of = json.at("of");
  plan.source_digest = of.at("source_digest");
  for (const Json& source : of.at("sources"))
    plan.sources.push_back({source.at("path"), source.at("sha256")});
  plan.lineage = of.at("lineage");
  plan.serial = of.at("serial");
  plan.catalog = of.at("catalog");
  for (const auto& [cloud, survey] : of.at("surveys").items())
    plan.surveys[cloud] = {survey.at("taken_at").get<double>(), survey.at("facts")};
  for (const Json& action : json.at("actions")) plan.actions.push_back(read_action(action));
  for (const Json& barrier : json.at("barriers")) {
    plan.barriers.push_back({barrier.at("id"), barrier.at("needs").get<std::vector<std::string>>(),
                             barrier.at("needs_success").get<bool>()});
  }
  for (const Json& output : json.at("outputs")) {
    plan.outputs.push_back({output.at("name"), verb_from(output.at("verb")), output.at("before"),
                            output.at("after"), output.at("sensitive").get<bool>()});
  }
  for (const Json& move : json.value("moves", Json::array()))
    plan.moves.push_back({move.at("from"), move.at("to"), move.at("with_recipe").get<bool>()});
  for (const Json& scaling : json.value("scaled", Json::array())) {
    std::optional<Scaling> chosen;
    if (scaling.contains("nodes"))
      chosen = Scaling{scaling.at("of").get<int>(), scaling.at("nodes").get<std::vector<int>>()};
    plan.scaled.push_back({scaling.at("system"), chosen});
  }
  plan.as_found = json.value("as_found", std::map<std::string, Json>());
  plan.protections = json.value("protections", std::map<std::string, std::string>());
  for (const Json& drift : json.at("drift")) plan.drift.push_back(read_drift(drift));
  plan.unseen = json.at("unseen").get<std::map<std::string, std::string>>();
  for (const Json& cost : json.at("costs")) {
    plan.costs.push_back(read_cost(cost));
  }
  plan.notes = json.at("notes").get<std::vector<std::string>>();
  plan.totals = read_totals(json.at("totals"));
  return plan;
}

}  // namespace

Json to_json(const Plan& plan) {
  Json sources = Json::array(), barriers = Json::array(), surveys = Json::object(), moves = Json::array();
  Json scaled = Json::array();
  for (const state_change::PutScaling& put : plan.scaled) {
    scaled.push_back({{"system", put.system}});
    if (put.chosen) scaled.back().update({{"of", put.chosen->of}, {"nodes", put.chosen->ordinals}});
  }
  for (const state_change::Move& move : plan.moves)
    moves.push_back({{"from", move.from}, {"to", move.to}, {"with_recipe", move.with_recipe}});
  for (const auto& [cloud, survey] : plan.surveys)
    surveys[cloud] = {{"taken_at", survey.taken_at}, {"facts", survey.facts}};
  for (const ir::Source& source : plan.sources)
    sources.push_back({{"path", source.path}, {"sha256", source.sha256}});
  for (const Barrier& barrier : plan.barriers)
    barriers.push_back(
        {{"id", barrier.id}, {"needs", barrier.needs}, {"needs_success", barrier.needs_success}});
  Json json = {{"plan", plan.version},
               {"infrastructure", plan.infrastructure},
               {"destroys", plan.destroys},
               {"partial", plan.partial},
               {"changes", plan.changes_anything()},
               {"of",
                {{"source_digest", plan.source_digest},
                 {"sources", std::move(sources)},
                 {"lineage", plan.lineage},
                 {"serial", plan.serial},
                 {"catalog", plan.catalog},
                 {"surveys", std::move(surveys)}}},
               {"actions", list_of(plan.actions)},
               {"barriers", std::move(barriers)},
               {"outputs", list_of(plan.outputs)},
               {"moves", std::move(moves)},
               {"protections", plan.protections},
               {"as_found", plan.as_found},
               {"drift", list_of(plan.drift)},
               {"unseen", plan.unseen},
               {"costs", list_of(plan.costs)},
               {"notes", plan.notes},
               {"totals", to_json(plan.totals)}};
  if (!scaled.empty()) json["scaled"] = std::move(scaled);
  for (const Unowned& one : plan.unowned)
    json["unowned"].push_back({{"cloud", one.cloud},
                               {"id", one.id},
                               {"type", one.type},
                               {"address", one.address},
                               {"why", one.why}});
  for (const Kept& one : plan.kept) json["kept"].push_back({{"address", one.address}, {"by", one.by}});
  for (const Elsewhere& one : plan.elsewhere)
    json["existing"].push_back(
        {{"cloud", one.cloud}, {"infrastructure", one.infrastructure}, {"resources", one.resources}});
  return json;
}

Result<Plan> plan_from_json(const Json& json) {
  if (!json.is_object() || !json.contains("plan") || !json["plan"].is_number_integer()) {
    return invalid("this is not a plan: it has no version");
  }
  if (json["plan"].get<long long>() > kPlanVersion) {
    return Status(Code::Invalid,
                  "the plan was made by a newer radlc (plan version " + json["plan"].dump() + ")")
        .with_hint("make it again with this radlc, or apply it with that one");
  }
  if (json["plan"].get<long long>() < kPlanVersion) {
    return Status(Code::Invalid,
                  "the plan was made by an older radlc (plan version " + json["plan"].dump() + ")")
        .with_hint("make it again with this radlc");
  }
  try {
    return read_plan(json);
  } catch (const Json::exception& error) {
    return invalid(std::string("the plan cannot be read: ") + error.what());
  } catch (const std::out_of_range& error) {
    return invalid(std::string("the plan cannot be read: ") + error.what());
  }
}

}  // namespace radl
