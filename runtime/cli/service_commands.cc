// plan, apply, scale and destroy on a service.
#include "runtime/cli/service_commands.h"

#include <cstdio>
#include <filesystem>
#include <map>

#include "common/digest.h"
#include "common/human.h"
#include "runtime/cli/result_file.h"
#include "runtime/cli/service_project.h"
#include "runtime/cli/service_session.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/terminal.h"
#include "runtime/cli/workflow.h"
#include "runtime/plan/budget.h"
#include "runtime/plan/plan.h"

namespace radl::cli {
namespace {

bool is_executable(const std::string& file) {
  std::error_code error;
  const auto mode = std::filesystem::status(file, error).permissions();
  return (mode & std::filesystem::perms::owner_exec) != std::filesystem::perms::none;
}

class Planned : public OnService {
 public:
  using OnService::OnService;
  int plan(bool& changes);
  int run();

 private:
  Status find_or_create();
  Status upload();
  Status remove_stale(const std::map<std::string, Json>& there);
  Json query() const;
  Status make_plan();
  void show() const;
  // True: start the run.
  Result<bool> approved() const;
  Status start(std::string& run);
  void discard();
  int report_no_plan(const Status& made) const;

  ServiceProject project_;
  bool created_ = false;  // a draft of this command, without a run
  bool gone_ = false;     // nothing of what is to be destroyed exists
  Json plan_;
  Plan read_;  // plan_
};

Status Planned::find_or_create() {
  auto name = name_on_service(request_.project);
  if (!name.ok()) return name.status();
  const Status found = find(*name);
  if (!absent_ || request_.destroy || request_.scale) return found;
  auto made = client_->call("POST", "/infrastructures", {{"name", *name}, {"temporary", true}});
  if (!made.ok()) return made.status();
  id_ = json::text_of(*made, "id");
  created_ = true;
  return {};
}

// What the service does not have already.
Status Planned::upload() {
  std::map<std::string, Json> there;
  if (!created_) {
    auto files = client_->call("GET", path("/files?sha256=yes"));
    if (!files.ok()) return files.status();
    for (const Json& file : files->value("files", Json::array()))
      if (file.value("complete", false)) there[json::text_of(file, "path")] = file;
  }
  for (const auto& [name, file] : project_.uploads) {
    auto digest = sha256_file(file);
    if (!digest.ok()) return digest.status();
    const bool executable = is_executable(file);
    const auto found = there.find(name);
    if (found != there.end() && json::text_of(found->second, "sha256") == *digest &&
        found->second.value("executable", false) == executable)
      continue;
    std::error_code error;
    const uint64_t bytes = std::filesystem::file_size(file, error);
    if (error) return Status(Code::Invalid, file + ": " + error.message());
    std::fprintf(stderr, "uploading %s (%s)\n", shown(name).c_str(), bytes_text(double(bytes)).c_str());
    if (Status sent = client_->upload(path("/files/" + encoded(name)), file, bytes, executable); !sent.ok())
      return sent;
  }
  return remove_stale(there);
}

// A folder is sent to the nodes as a whole.
Status Planned::remove_stale(const std::map<std::string, Json>& there) {
  for (const auto& [name, file] : there) {
    if (project_.uploads.contains(name)) continue;
    for (const std::string& folder : project_.folders)
      if (name.starts_with(folder + "/")) {
        auto removed = client_->call("DELETE", path("/files/" + encoded(name)));
        if (!removed.ok()) return removed.status();
        break;
      }
  }
  return {};
}

Json Planned::query() const {
  Json query = {{"infrastructure", id_},
                {"command", request_.destroy ? "destroy"
                            : request_.scale ? "scale"
                                             : "apply"},
                {"targets", request_.plan.targets},
                {"refresh", request_.plan.refresh},
                {"parallelism", request_.run.parallelism}};
  query["lock_timeout"] = request_.run.lock_timeout;
  if (!request_.run.cloud.empty()) query["cloud"] = request_.run.cloud;
  if (const std::string view = request_.html.empty() ? request_.view : "html"; !view.empty())
    query["view"] = view;
  if (request_.destroy) return query;
  query["files"] = project_.files;
  query["module_path"] = project_.module_path;
  query["inputs"] = project_.inputs;
  query["replace"] = request_.plan.replace;
  query["on_error"] = request_.run.on_error;
  query["keep"] = request_.keep;
  if (!request_.plan.max_cost.empty()) query["max_cost"] = request_.plan.max_cost;
  if (!request_.scale) return query;
  const ScaleRequest& scale = *request_.scale;
  query["system"] = scale.system;
  query["relative"] = scale.relative;
  query["without"] = scale.without;
  query["reset"] = scale.reset;
  if (scale.count) query["count"] = *scale.count;
  return query;
}

void Planned::show() const {
  for (const Json& note : plan_.value("notes", Json::array()))
    if (note.is_string()) std::fprintf(stderr, "note: %s\n", shown(note.get<std::string>()).c_str());
  if (request_.run.json || request_.html == "-") return;
  std::fputs(shown(json::text_of(plan_, request_.view.empty() ? "text" : "view")).c_str(), stdout);
  std::fflush(stdout);
}

Status Planned::make_plan() {
  if (Status connected = connect(); !connected.ok()) return connected;
  if (!request_.plan.max_cost.empty())
    if (auto budget = parse_budget(request_.plan.max_cost); !budget.ok()) return budget.status();
  if (!request_.destroy) {
    auto project = project_for_service(session_, request_.project);
    if (!project.ok()) return project.status();
    project_ = std::move(*project);
  }
  Status found = find_or_create();
  gone_ = request_.destroy && absent_;
  if (found.ok() && !request_.destroy) found = upload();
  if (!found.ok()) return found;
  auto made = client_->call("POST", "/plans", query(), true);
  gone_ = request_.destroy && made.status().code() == Code::NotFound;
  if (!made.ok()) return made.status();
  if (Status same = same_sources(project_, *made); !same.ok()) return same;
  auto read = plan_from_json(*made);
  if (!read.ok()) return read.status();
  plan_ = std::move(*made);
  read_ = std::move(*read);
  show();
  const std::string above = json::text_of(plan_, "above_budget");
  return above.empty() ? Status() : Status(Code::Quota, above);
}

// A draft that no run has used. What cannot be removed stays a draft, and costs nothing.
void Planned::discard() {
  if (!created_ || !client_) return;
  if (auto last = client_of_its_own(); last.ok()) (void)(*last)->call("DELETE", path());
}

// As without a service: a wrong name is an error, and nothing to destroy is none.
int Planned::report_no_plan(const Status& made) const {
  if (!gone_ || !request_.project.name.empty()) return report(session_, made);
  if (!request_.run.json) std::printf("Nothing to destroy: %s.\n", shown(made.message()).c_str());
  return kDone;
}

int Planned::plan(bool& changes) {
  const Status made = make_plan();
  discard();
  if (!plan_.is_object()) return report(session_, made);
  changes = plan_.value("changes", false);
  if (request_.run.json && request_.html != "-") {
    Json json = plan_;
    for (const char* text : {"text", "view"}) json.erase(text);
    std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  }
  if (!request_.html.empty())
    if (const int code = put_result(session_, json::text_of(plan_, "view"), {request_.html, request_.force},
                                    ResultKind::Review);
        code != kDone)
      return code;
  return made.ok() ? report_unseen(session_, read_) : report(session_, made);
}

// A plan runs once: if the answer was lost, also by Ctrl-C, its run is looked up.
Status Planned::start(std::string& run) {
  Json body = {{"plan", json::text_of(plan_, "id")}};
  for (const Json& name : plan_.value("secret_inputs", Json::array()))
    if (name.is_string() && project_.inputs.contains(name.get<std::string>()))
      body["inputs"][name.get<std::string>()] = project_.inputs[name.get<std::string>()];
  auto begun = client_->call("POST", "/runs", body);
  if (begun.ok()) {
    run = json::text_of(*begun, "id");
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
    if (json::text_of(one, "plan") == json::text_of(plan_, "id")) {
      run = json::text_of(one, "id");
      return {};
    }
  return begun.status();
}

Result<bool> Planned::approved() const {
  const bool changes = plan_.value("changes", false);
  if (!changes || request_.run.auto_approve) return true;
  if (!session_.terminal.can_ask)
    return Status(Code::Invalid, kCannotConfirm).with_hint("pass --auto-approve");
  return confirm(request_.destroy ? "\nDestroy all of this? Only 'yes' is accepted:"
                                  : "\nApply this plan? Only 'yes' is accepted:");
}

int Planned::run() {
  Status made = make_plan();
  const int unseen = made.ok() ? report_unseen(session_, read_) : int(kDone);
  // A destroy also removes the state, which may contain only outputs.
  const bool go = made.ok() && (plan_.value("changes", false) || request_.destroy);
  Result<bool> approval = go ? approved() : Result<bool>(false);
  std::string run;
  if (made.ok()) made = approval.status();
  if (made.ok() && *approval) made = start(run);
  if (!run.empty() && !request_.detach) {
    const int done = follow(run, 1);
    return done == kDone ? unseen : done;
  }
  if (!run.empty()) {
    std::fprintf(stderr, "%s runs on %s. Follow it: %s\n", shown(run).c_str(), shown(client_->url()).c_str(),
                 shown(command_line("wait")).c_str());
    return unseen;
  }
  discard();
  if (!made.ok()) return report_no_plan(made);
  if (!go) return unseen;
  std::fputs("Nothing was done.\n", stdout);
  return kUserError;
}

}  // namespace

int plan_on_service(const Session& session, const ServiceRequest& request, bool& changes) {
  if (!request.html.empty() && !request.view.empty())
    return report(session, invalid("--html of radlc plan is not supported with --server together with --" +
                                   request.view));
  return Planned(session, request).plan(changes);
}

int run_on_service(const Session& session, const ServiceRequest& request) {
  return Planned(session, request).run();
}

}  // namespace radl::cli
