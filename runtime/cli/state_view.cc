#include "runtime/cli/state_view.h"

#include <fmt/format.h>

#include <cstdio>

#include "common/human.h"
#include "common/json_values.h"
#include "runtime/cli/shown.h"
#include "runtime/plan/render.h"

namespace radl::cli {
namespace {

constexpr const char* kRunning = "running";

std::string login_of(const Json& resource) {
  const Json& attributes = json::member(resource, "attributes");
  if (!resource.contains("system") || !attributes.contains("host")) return "";
  return fmt::format("  {}@{}:{}", attributes.value("user", ""), attributes.value("host", ""),
                     attributes.value("port", 22));
}

std::string value_text(const Json& output) {
  return output.value("sensitive", false) ? "(sensitive)" : shown(render_value(output.at("value")));
}

}  // namespace

Json with_running(Json state, const std::set<std::string>& running) {
  for (Json& step : state["steps"])
    if (running.contains(step.at("id").get<std::string>())) step["status"] = kRunning;
  return state;
}

void print_state(const Session& session, const Json& state, const std::string& where,
                 const std::string& going_on, const std::set<std::string>& running) {
  const Style style(session.terminal.color);
  std::printf("%s%s%s  (%s, serial %lld)\n", style.bold().data(), shown(json::text_of(state, "name")).c_str(),
              style.off().data(), shown(where).c_str(), state.value("serial", 0LL));
  if (!going_on.empty())
    std::printf("%s%s%s\n", style.yellow().data(), shown(going_on).c_str(), style.off().data());
  const size_t open = state.value("open_intents", size_t{0});
  if (open > 0 && !state.contains("at_work") && going_on.empty())
    std::printf("%san interrupted run left %zu things open: apply or destroy looks them up%s\n",
                style.yellow().data(), open, style.off().data());
  for (const Json& resource : state.at("resources"))
    std::printf("  %-24s %-8s %-9s%s\n", shown(json::text_of(resource, "address")).c_str(),
                shown(json::text_of(resource, "type")).c_str(),
                shown(json::text_of(resource, "status")).c_str(), shown(login_of(resource)).c_str());
  for (const Json& step : state.at("steps")) {
    const std::string id = json::text_of(step, "id"), error = json::text_of(step, "error");
    const bool runs = running.contains(id);
    std::printf("  %-24s %-8s %-9s  %s\n", shown(id).c_str(), shown(json::text_of(step, "kind")).c_str(),
                runs ? kRunning : shown(json::text_of(step, "status")).c_str(),
                runs ? "" : duration_text(step.value("seconds", 0.0)).c_str());
    if (!error.empty()) std::printf("      %s\n", shown(error).c_str());
  }
  for (const Json& output : state.at("outputs"))
    std::printf("  output %s = %s\n", shown(json::text_of(output, "name")).c_str(),
                value_text(output).c_str());
}

int print_outputs(const Session& session, const Json& state, const OutputWish& wish) {
  Json all = Json::object();
  for (const Json& output : state.at("outputs")) {
    const std::string name = json::text_of(output, "name");
    const Json& value = output.at("value");
    if (!wish.name.empty() && name != wish.name) continue;
    if (wish.raw && !wish.name.empty()) {
      std::printf("%s", value.is_string() ? value.get<std::string>().c_str() : value.dump().c_str());
      return kDone;
    }
    all[name] = {{"value", value},
                 {"sensitive", output.value("sensitive", false)},
                 {"description", json::text_of(output, "description")}};
    if (!wish.json) std::printf("%s = %s\n", shown(name).c_str(), value_text(output).c_str());
  }
  if (!wish.name.empty() && all.empty())
    return report(session, not_found("no output " + wish.name + " in " + json::text_of(state, "name")));
  if (wish.json) std::printf("%s\n", (wish.name.empty() ? all : all[wish.name]["value"]).dump(2).c_str());
  return kDone;
}

}  // namespace radl::cli
