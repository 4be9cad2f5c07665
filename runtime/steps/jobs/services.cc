#include "runtime/steps/jobs/services.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/shell_quote.h"

namespace radl::jobs {
namespace {

using nlohmann::json;

void add_service(const std::string& type, const std::string& name, const json& properties,
                 std::vector<std::string>& into) {
  if (type != "service" || !properties.is_object() || properties.value("state", "running") != "running")
    return;
  if (std::find(into.begin(), into.end(), name) == into.end()) into.push_back(name);
}

}  // namespace

std::vector<std::string> services_on(const ir::Program& program, const std::string& node) {
  std::vector<std::string> names;
  for (const ir::Step& step : program.steps) {
    if (step.kind != ir::StepKind::Native || step.nodes != std::vector<std::string>{node}) continue;
    for (const ir::Resource& resource : step.resources)
      add_service(resource.type, resource.name, resource.properties, names);
  }
  return names;
}

std::vector<std::string> services_in(const json& definition) {
  std::vector<std::string> names;
  for (const json& resource : definition.value("resources", json::array()))
    add_service(resource.value("type", ""), resource.value("name", ""),
                resource.value("properties", json::object()), names);
  return names;
}

// A state that cannot be determined (status 4, systemd does not respond) is reported as such.
const char* const kServicesScript = R"sh(services() {
  for s; do
    if [ -d /run/systemd/system ]; then
      state=$(systemctl is-active -- "$s" 2>/dev/null)
    elif [ -x "/etc/init.d/$s" ]; then
      "/etc/init.d/$s" status > /dev/null 2>&1
      case $? in
        0) state=active ;;
        1 | 2 | 3) state=inactive ;;
        *) state=unknown ;;
      esac
    else
      state=unknown
    fi
    echo "service $s ${state:-unknown}"
  done
}
)sh";

std::string service_words(const std::vector<std::string>& names) {
  std::string words;
  for (const std::string& name : names) words += " " + shell_quote(name);
  return words;
}

std::optional<std::string> ServiceWatch::take(const std::string& line) {
  std::istringstream words(line);
  std::string begin, name, state;
  if (!(words >> begin >> name >> state) || begin != "service") return std::nullopt;
  const bool stopped = state == "inactive" || state == "failed" || state == "deactivating";
  if (!stopped && state != "active") return std::nullopt;
  auto [known, is_first] = runs_.try_emplace(name, true);
  if (known->second == !stopped) return std::nullopt;
  known->second = !stopped;
  return stopped ? fmt::format(
                       "service {0} does not run: `service {0} start` there, or `radlc apply --refresh`, "
                       "starts it",
                       name)
                 : fmt::format("service {} runs again", name);
}

}  // namespace radl::jobs
