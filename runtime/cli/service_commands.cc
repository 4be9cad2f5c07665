#include "runtime/cli/service_commands.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "common/files.h"
#include "common/utc.h"
#include "runtime/cli/event_lines.h"
#include "runtime/cli/service_client.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/cli/terminal.h"

namespace radl::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestProgram = size_t{8} << 20;

std::string text_of(const Json& of, const char* name) {
  const auto found = of.is_object() ? of.find(name) : of.end();
  return of.is_object() && found != of.end() && found->is_string() ? found->get<std::string>()
                                                                   : std::string();
}

// "a=b" of each --input, as an object.
Result<Json> inputs_of(const ProjectOptions& options) {
  Json inputs = Json::object();
  for (const std::string& one : options.inputs) {
    const size_t equals = one.find('=');
    if (equals == one.npos || equals == 0) return invalid("--input " + one + ": expected NAME=VALUE");
    inputs[one.substr(0, equals)] = one.substr(equals + 1);
  }
  return inputs;
}

// A run is named by its ID, or by its number alone: "3" is ID "INFRASTRUCTURE-3".
bool is_run(const std::string& id, const std::string& named) {
  return id == named || id.ends_with("-" + named);
}

// Whether a program names files/NAME or ./files/NAME, and not another path that contains it.
bool names_file(const std::string& program, const std::string& name) {
  const auto of_path = [](char c) {
    return (c & 0x80) != 0 || std::isalnum(static_cast<unsigned char>(c)) || std::strchr("/._-", c);
  };
  const std::string path = "files/" + name;
  for (size_t at = 0; (at = program.find(path, at)) != program.npos; ++at) {
    const size_t end = at + path.size();
    const size_t begin = at >= 2 && program.compare(at - 2, 2, "./") == 0 ? at - 2 : at;
    if ((begin == 0 || !of_path(program[begin - 1])) && (end == program.size() || !of_path(program[end])))
      return true;
  }
  return false;
}

class OnService {
 public:
  OnService(const Session& session, const ServiceRequest& request) : session_(session), request_(request) {}

  int plan();
  int run();
  int list();
  int wait();

 private:
  Status connect();
  Status read_program();
  Status find(bool create);
  Status upload();
  Status make_plan();
  Status start(std::string& run);
  int follow(const std::string& run, unsigned long long from);
  Result<std::string> newest_run();
  void print(const Event& event);
  void discard();
  // For requests after Ctrl-C: it has 10 seconds.
  Result<std::unique_ptr<ServiceClient>> client_of_its_own() const;
  // The command line `rest` for this infrastructure of the service.
  std::string command_line(const std::string& rest) const {
    return "radlc --server " + client_->url() + " " + rest + " --name " + id_;
  }

  const Session& session_;
  const ServiceRequest& request_;
  Cancellation cancellation_;
  SignalGuard guard_{cancellation_};
  std::optional<ServiceClient> client_;
  std::string name_, folder_, program_;  // of the program's file
  std::string id_;                       // of the infrastructure; empty: there is none
  bool created_ = false;                 // a draft of this command, without a run
  Json plan_;
  EventLines lines_{Plan(), session_.terminal.color, true};
};

Status OnService::connect() {
  auto url = server_url(session_.server);
  if (!url.ok()) return url.status();
  auto token = token_for(session_, *url);
  if (!token.ok()) return token.status();
  client_.emplace(session_, *url, *token, cancellation_.finishing());
  return {};
}

Status OnService::read_program() {
  name_ = request_.project.name;
  const bool needed = !request_.destroy;
  if (!needed && !name_.empty()) return {};
  auto files = driver::source_files(request_.project);
  if (!files.ok()) return files.status();
  if (files->size() != 1) return invalid("a service runs one file: give one .radl file");
  const fs::path path = files->front();
  if (name_.empty()) name_ = path.stem();
  folder_ = path.parent_path();
  if (!needed) return {};
  auto text = read_file(path, kLargestProgram);
  if (!text.ok()) return text.status();
  program_ = std::move(*text);
  return {};
}

// The caller's infrastructure of this name, or the one with this ID. NotFound, unless `create`.
Status OnService::find(bool create) {
  auto me = client_->call("GET", "/me");
  if (!me.ok()) return me.status();
  auto all = client_->call("GET", "/infrastructures");
  if (!all.ok()) return all.status();
  std::vector<std::string> alive, destroyed;
  for (const Json& one : all->value("infrastructures", Json::array())) {
    if (text_of(one, "id") == name_) {
      id_ = name_;
      return {};
    }
    if (text_of(one, "name") != name_ || text_of(one, "owner") != text_of(*me, "user")) continue;
    (text_of(one, "state") == "destroyed" ? destroyed : alive).push_back(text_of(one, "id"));
  }
  if (alive.size() > 1)
    return Status(Code::Conflict, fmt::format("{} infrastructures are named {}: {}", alive.size(), name_,
                                              fmt::join(alive, ", ")))
        .with_hint("pass --name ID");
  if (!alive.empty()) id_ = alive.front();
  if (alive.empty() && !destroyed.empty()) id_ = destroyed.back();
  if (!id_.empty()) return {};
  if (!create)
    return Status(Code::NotFound, client_->url() + " has no infrastructure " + name_)
        .with_hint("the page of the service lists all of yours");
  auto made = client_->call("POST", "/infrastructures", {{"name", name_}});
  if (!made.ok()) return made.status();
  id_ = text_of(*made, "id");
  created_ = true;
  return {};
}

// Files that the program names as ./files/NAME, from the folder of the program.
Status OnService::upload() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(folder_) / "files", error)) {
    const std::string name = entry.path().filename();
    if (!entry.is_regular_file(error) || !names_file(program_, name)) continue;
    std::fprintf(stderr, "uploading files/%s\n", shown(name).c_str());
    const uint64_t bytes = entry.file_size(error);
    if (Status sent = client_->upload("/infrastructures/" + id_ + "/files/" + http::percent_encode(name),
                                      entry.path(), bytes);
        !sent.ok())
      return sent;
  }
  return {};
}

Status OnService::make_plan() {
  if (Status found = find(!request_.destroy); !found.ok()) return found;
  auto inputs = inputs_of(request_.project);
  if (!inputs.ok()) return inputs.status();
  Json query = {{"infrastructure", id_}, {"command", request_.destroy ? "destroy" : "apply"}};
  if (!request_.destroy) {
    if (Status sent = upload(); !sent.ok()) return sent;
    query["program"] = program_;
    query["inputs"] = *inputs;
    if (!request_.max_cost.empty()) query["max_cost"] = request_.max_cost;
    query["refresh"] = request_.refresh;
  }
  auto made = client_->call("POST", "/plans", query, true);
  if (!made.ok()) return made.status();
  plan_ = std::move(*made);
  if (!request_.json) std::fputs(shown(text_of(plan_, "text")).c_str(), stdout);
  std::fflush(stdout);
  const std::string above = text_of(plan_, "above_budget");
  return above.empty() ? Status() : Status(Code::Quota, above);
}

Result<std::unique_ptr<ServiceClient>> OnService::client_of_its_own() const {
  auto token = token_for(session_, client_->url());
  if (!token.ok()) return token.status();
  return std::make_unique<ServiceClient>(session_, client_->url(), *token,
                                         Stop().within(std::chrono::seconds(10)));
}

// A draft that no run has used. What cannot be removed stays a draft, and costs nothing.
void OnService::discard() {
  if (!created_ || !client_) return;
  if (auto last = client_of_its_own(); last.ok()) (void)(*last)->call("DELETE", "/infrastructures/" + id_);
}

int OnService::plan() {
  Status made = connect();
  if (made.ok()) made = read_program();
  if (made.ok()) made = make_plan();
  discard();
  if (request_.json && !plan_.is_null()) {
    Json json = plan_;
    json.erase("text");
    std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  }
  return made.ok() ? int(kDone) : report(session_, made);
}

// A plan runs once: if the answer was lost, also by Ctrl-C, its run is looked up.
Status OnService::start(std::string& run) {
  Json body = {{"plan", text_of(plan_, "id")}};
  auto inputs = inputs_of(request_.project);
  if (!inputs.ok()) return inputs.status();
  for (const Json& name : plan_.value("secret_inputs", Json::array()))
    if (name.is_string() && inputs->contains(name.get<std::string>()))
      body["inputs"][name.get<std::string>()] = (*inputs)[name.get<std::string>()];
  auto begun = client_->call("POST", "/runs", body);
  if (begun.ok()) {
    run = text_of(*begun, "id");
    return {};
  }
  const Code code = begun.status().code();
  if (code != Code::Lost && code != Code::Retry && code != Code::Cancelled) return begun.status();
  auto client = client_of_its_own();
  auto runs = client.ok() ? (*client)->call("GET", "/runs?infrastructure=" + id_) : client.status();
  if (!runs.ok())
    return Status(code, begun.status().message() + "; the run may have begun on " + client_->url())
        .with_hint("list the runs: " + command_line("runs"));
  for (const Json& one : runs->value("runs", Json::array()))
    if (text_of(one, "plan") == text_of(plan_, "id")) {
      run = text_of(one, "id");
      return {};
    }
  return begun.status();
}

int OnService::run() {
  Status made = connect();
  if (made.ok()) made = read_program();
  if (made.ok()) made = make_plan();
  // A destroy removes the state as well, which may hold outputs alone.
  const bool changes = plan_.is_object() && plan_.value("changes", false);
  bool go = made.ok() && (changes || request_.destroy);
  if (go && changes && !request_.auto_approve) {
    if (!session_.terminal.can_ask) {
      made = Status(Code::Invalid, kCannotConfirm).with_hint("pass --auto-approve");
      go = false;
    } else if (!confirm(request_.destroy ? "\nDestroy this? Only 'yes' is taken as yes:"
                                         : "\nDo this? Only 'yes' is taken as yes:")) {
      std::fputs("Nothing was done.\n", stdout);
      discard();
      return kUserError;
    }
  }
  std::string run;
  if (go) made = start(run);
  if (!go || !made.ok()) {
    discard();
    return made.ok() ? int(kDone) : report(session_, made);
  }
  if (request_.detach) {
    std::fprintf(stderr, "%s runs on %s. Follow it: %s\n", shown(run).c_str(), shown(client_->url()).c_str(),
                 shown(command_line("wait")).c_str());
    return kDone;
  }
  return follow(run, 1);
}

void OnService::print(const Event& event) {
  const std::string line = request_.json ? to_json(event).dump(-1, ' ', false, Json::error_handler_t::replace)
                                         : lines_.line(event);
  if (line.empty()) return;
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

int OnService::follow(const std::string& run, unsigned long long from) {
  auto over = client_->follow(run, from, [this](const Event& event) { print(event); });
  if (over.status().code() == Code::Cancelled)
    return report(session_, Status(Code::Cancelled, run + " continues on " + client_->url())
                                .with_hint("follow it: " + command_line("wait")));
  if (!over.ok()) return report(session_, over.status());
  const std::string state = text_of(*over, "state");
  if (state == "done") return kDone;
  if (state == "stopped") return report(session_, Status(Code::Cancelled, run + " was stopped"));
  Status failed(Code::Lost, text_of(*over, "why").empty() ? run + " failed" : text_of(*over, "why"));
  const std::string hint = text_of(*over, "hint");
  return report(session_, hint.empty() ? failed : std::move(failed).with_hint(hint));
}

Result<std::string> OnService::newest_run() {
  auto runs = client_->call("GET", "/runs?infrastructure=" + id_);
  if (!runs.ok()) return runs.status();
  for (const Json& one : runs->value("runs", Json::array()))  // the newest first
    if (request_.run.empty() || is_run(text_of(one, "id"), request_.run)) return text_of(one, "id");
  return Status(Code::NotFound,
                request_.run.empty() ? name_ + " has no runs yet" : "there is no run " + request_.run);
}

int OnService::list() {
  Status found = connect();
  if (found.ok()) found = read_program();
  if (found.ok()) found = find(false);
  if (!found.ok()) return report(session_, found);
  if (!request_.run.empty() || request_.follow || request_.from != 1) {
    auto run = newest_run();
    return run.ok() ? follow(*run, request_.from) : report(session_, run.status());
  }
  auto runs = client_->call("GET", "/runs?infrastructure=" + id_);
  if (!runs.ok()) return report(session_, runs.status());
  if (request_.json) {
    std::printf(
        "%s\n",
        runs->value("runs", Json::array()).dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return kDone;
  }
  for (const Json& one : runs->value("runs", Json::array()))
    std::printf("%s\n",
                shown(fmt::format("{:<40} {:<8} {:<8} {}", text_of(one, "id"), text_of(one, "command"),
                                  text_of(one, "state"), text_of(one, "why")))
                    .c_str());
  return kDone;
}

int OnService::wait() {
  Status found = connect();
  if (found.ok()) found = read_program();
  if (found.ok()) found = find(false);
  if (!found.ok()) return report(session_, found);
  auto run = newest_run();
  return run.ok() ? follow(*run, 1) : report(session_, run.status());
}

}  // namespace

int plan_on_service(const Session& session, const ServiceRequest& request) {
  return OnService(session, request).plan();
}
int run_on_service(const Session& session, const ServiceRequest& request) {
  return OnService(session, request).run();
}
int list_on_service(const Session& session, const ServiceRequest& request) {
  ServiceRequest by_name = request;
  by_name.destroy = true;  // the program is not sent
  return OnService(session, by_name).list();
}
int wait_on_service(const Session& session, const ServiceRequest& request) {
  ServiceRequest by_name = request;
  by_name.destroy = true;
  return OnService(session, by_name).wait();
}

Status fits_service(const CLI::App& command) {
  static const std::map<std::string, std::set<std::string>> kOptions = {
      {"plan", {"FILE", "--file", "--name", "--input", "--max-cost", "--json", "--refresh", "--destroy"}},
      {"apply",
       {"FILE", "--file", "--name", "--input", "--max-cost", "--json", "--refresh", "--auto-approve",
        "--detach"}},
      {"destroy", {"FILE", "--file", "--name", "--json", "--auto-approve"}},
      {"runs", {"FILE", "--file", "--name", "RUN", "--follow", "--from", "--json"}},
      {"wait", {"FILE", "--file", "--name", "--json"}}};
  const auto supported = kOptions.find(command.get_name());
  if (supported == kOptions.end())
    return invalid("radlc " + command.get_name() + " does not run on a service")
        .with_hint("plan, apply, destroy, runs and wait do");
  for (const CLI::Option* option : command.get_options())
    if (option->count() > 0 && !supported->second.contains(option->get_name()))
      return invalid(option->get_name() + " of radlc " + command.get_name() +
                     " is not supported with --server");
  return {};
}

}  // namespace radl::cli
