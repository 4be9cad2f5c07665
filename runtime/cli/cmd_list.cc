// All infrastructures of this user, wherever their states are.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>

#include "runtime/cli/all_commands.h"
#include "runtime/cli/service_commands.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/workflow.h"
#include "runtime/plan/render.h"
#include "runtime/state/index.h"

namespace radl::cli::list_command {
namespace {

struct Row {
  KnownState place;
  Status status;  // of reading it
  size_t nodes = 0, resources = 0;
  MoneySum price_per_hour;
  std::string currency = "USD";
  std::string last;  // "apply 2026-11-21T02:54:11Z"
  std::string at_work;
  bool interrupted = false;
  bool empty = false;  // nothing exists, and no run is active
};

Row look_at(const Host& host, const KnownState& place) {
  Row row;
  row.place = place;
  auto store = Store::open(place.directory, place.name, OpenMode::Read, *host.world);
  if (!store.ok()) {
    row.status = store.status();
    return row;
  }
  auto snapshot = (*store)->snapshot();
  auto history = (*store)->history(1);
  row.status = snapshot.ok() ? history.status() : snapshot.status();
  if (!row.status.ok()) return row;
  row.resources = snapshot->resources.size();
  row.at_work = snapshot->at_work;
  row.interrupted = snapshot->interrupted();
  row.empty = snapshot->empty() && row.at_work.empty() && !row.interrupted;
  for (const auto& [address, resource] : snapshot->resources) {
    row.nodes += resource.is_node();
    row.price_per_hour.add(resource.price_per_hour);
    row.currency = resource.price_per_hour.currency;
  }
  if (!history->empty()) row.last = history->front().command + " " + utc_time(history->front().time);
  return row;
}

Json json_of(const Row& row) {
  Json json = {{"name", row.place.name}, {"directory", row.place.directory}};
  if (!row.status.ok()) {
    json["error"] = row.status.message();
    return json;
  }
  json["nodes"] = row.nodes;
  json["resources"] = row.resources;
  json["price_per_hour"] = row.price_per_hour;
  json["last_run"] = row.last;
  json["interrupted"] = row.interrupted;
  if (!row.at_work.empty()) json["at_work"] = row.at_work;
  return json;
}

std::string text_of(const Row& row) {
  if (!row.status.ok()) return "cannot be read: " + row.status.message();
  std::string text = fmt::format("{:>3} node{}  {}", row.nodes, row.nodes == 1 ? " " : "s",
                                 price_text(row.price_per_hour, row.currency));
  if (!row.last.empty()) text += "  " + row.last;
  if (!row.at_work.empty()) text += "  (" + row.at_work + ", is at work)";
  if (row.interrupted) text += "  (interrupted)";
  return text;
}

int run_list(const Session& session, bool json) {
  const std::string index = session.host.infrastructures_index();
  if (index.empty())
    return report(session, not_found("no home folder, so infrastructures are not listed; set HOME"));
  auto states = known_states(index);
  if (!states.ok()) return report(session, states.status());
  (void)tidy_known_states(index);  // a list that cannot be written is as good to read
  Json list = Json::array();
  size_t widest = 0;
  for (const KnownState& state : *states) widest = std::max(widest, state.name.size());
  int code = kDone;
  size_t listed = 0;
  for (const KnownState& state : *states) {
    const Row row = look_at(session.host, state);
    // In a bucket: a colleague has destroyed it. An apply that created nothing leaves an empty state.
    if (row.status.code() == Code::NotFound || row.empty) {
      (void)forget_state(index, state);
      continue;
    }
    ++listed;
    if (!row.status.ok()) code = kWorldError;
    if (json) {
      list.push_back(json_of(row));
    } else {
      std::printf(
          "%s\n",
          shown(fmt::format("{:<{}}  {}  {}", state.name, widest, text_of(row), state.directory)).c_str());
    }
  }
  if (json) std::printf("%s\n", list.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  if (listed == 0 && !json) std::fputs("No infrastructures: nothing is applied.\n", stderr);
  return code;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("list", "List all your infrastructures, wherever their states are");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "as JSON");
  return [=, &session] {
    return session.server.empty() ? run_list(session, *json) : list_on_service(session, *json);
  };
}

}  // namespace radl::cli::list_command
