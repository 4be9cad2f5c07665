// Files of the own API: what a user uploads, what a training brings, and a picture that its model is tried
// on.
#include <filesystem>

#include "common/digest.h"
#include "common/files.h"
#include "common/json_values.h"
#include "common/process/process.h"
#include "common/program_folder.h"
#include "runtime/base/world.h"
#include "runtime/serve/own_api.h"
#include "runtime/serve/own_files.h"

namespace radl::serve {
namespace {

using httpd::Answer;
namespace fs = std::filesystem;

constexpr std::chrono::seconds kPredictSeconds{60};
constexpr size_t kLargestReport = size_t{8} << 20;  // a larger one is only in the list of files

std::string upload_path(const Workspace& of, const std::string& name) {
  return of.folder() + "/files/" + name;
}

}  // namespace

// A part of a file. What was received stays if the connection breaks.
class OwnApi::Upload : public httpd::Exchange {
 public:
  Upload(std::unique_ptr<Uploads::Upload> upload, std::shared_ptr<Workspace> of, bool may_apply)
      : upload_(std::move(upload)), of_(std::move(of)), may_apply_(may_apply) {}

  std::optional<Answer> receive(std::string_view part) override {
    Status written = upload_->write(part);
    if (written.ok()) return {};
    return error_answer(written);
  }
  bool keeps_body() const override { return false; }
  Answer finish() override {
    // A run or a plan may have begun since.
    if (Status takes = of_->takes_files(may_apply_); !takes.ok()) return error_answer(takes);
    auto complete = upload_->finish();
    if (!complete.ok()) return error_answer(complete.status());
    return json_answer({{"bytes", upload_->bytes()}, {"complete", *complete}}, *complete ? 201 : 202);
  }

 private:
  const std::unique_ptr<Uploads::Upload> upload_;
  const std::shared_ptr<Workspace> of_;
  const bool may_apply_;
};

// PUT files/NAME?offset=N&total=M: bytes N and what follows. 409 with the offset that is expected.
Begun OwnApi::begin_upload(const OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  if (!is_upload_path(call.path[1])) return error_answer(400, "invalid", "invalid file name");
  auto total = whole_number("total", call.parameter("total"));
  auto offset = whole_number("offset", call.parameters.contains("offset") ? call.parameter("offset") : "0");
  if (!total.ok()) return error_answer(total.status());
  if (!offset.ok()) return error_answer(offset.status());
  const bool may_apply = call.caller.may(Scope::Apply);
  if (Status takes = (*found)->takes_files(may_apply); !takes.ok()) return error_answer(takes);
  uint64_t expected = 0;
  Uploads::Used used;
  for (const auto& one : workspaces_.all())
    if (one->owner() == (*found)->owner()) Uploads::add_used(one->folder() + "/files", used);
  const Uploads::Part part{*offset, *total, call.parameter("executable") == "yes"};
  auto upload = uploads_.begin(upload_path(**found, call.path[1]), (*found)->owner(), used, part, expected);
  if (upload.ok()) return std::make_unique<Upload>(std::move(*upload), *found, may_apply);
  Answer answer = error_answer(upload.status());
  if (upload.status().code() == Code::Quota) answer.status = 507;
  if (upload.status().code() == Code::Conflict)
    answer.headers.emplace_back("Upload-Offset", std::to_string(expected));
  return answer;
}

Answer OwnApi::list_files(OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  const std::string folder = (*found)->folder() + "/files/";
  Json files = files_below(folder, true);
  const bool digests = call.parameter("sha256") == "yes";
  const auto slot = digests ? processes_.take(call.caller.user) : std::nullopt;
  if (digests && !slot) return too_many_processes();
  for (Json& file : files) {
    std::string path = file.at("path");
    const bool part = path.ends_with(".part");
    if (part) file["path"] = path.substr(0, path.size() - 5);
    file["complete"] = !part;
    if (!digests || part) continue;
    auto digest = sha256_file(folder + path);
    if (digest.ok()) file["sha256"] = *digest;
    std::error_code error;
    const fs::perms mode = fs::status(folder + path, error).permissions();
    file["executable"] = (mode & fs::perms::owner_exec) != fs::perms::none;
  }
  return json_answer({{"files", std::move(files)}});
}

Answer OwnApi::remove_file(OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  if (!is_upload_path(call.path[1])) return error_answer(400, "invalid", "invalid file name");
  if (Status takes = (*found)->takes_files(call.caller.may(Scope::Apply)); !takes.ok())
    return error_answer(takes);
  const std::string path = upload_path(**found, call.path[1]);
  std::error_code error;
  const bool regular = fs::is_regular_file(fs::symlink_status(path, error));
  if (!regular || !fs::remove(path, error))
    return error_answer(404, "not_found", "there is no file " + call.path[1]);
  return {.status = 204, .type = "text/plain"};
}

Answer OwnApi::list_results(OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  const std::string folder = (*found)->result_folder();
  Json files = files_below(folder, false);
  Json report, model;
  if (auto text = read_file(folder + "/report.json", kLargestReport); text.ok())
    report = json::parse_json(*text);
  if (auto text = read_file(folder + "/model/model.json", size_t{1} << 20); text.ok())
    model = json::parse_json(*text);
  return json_answer(
      {{"files", std::move(files)}, {"report", std::move(report)}, {"model", std::move(model)}});
}

Answer OwnApi::get_result(OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  return download_of((*found)->result_folder(), call.path[1]);
}

// The classes that the trained model gives a picture, by the engine. The picture is not kept.
Answer OwnApi::predict(OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  const std::string model = (*found)->result_folder() + "/model";
  std::error_code error;
  if (!fs::exists(model + "/model.json", error))
    return error_answer(404, "not_found", "infrastructure " + call.path[0] + " has no trained model yet");
  if (call.body.empty()) return error_answer(400, "invalid", "the body is not an image");
  const auto slot = processes_.take(call.caller.user);
  if (!slot) return too_many_processes();
  const Settings settings = users_.of((*found)->owner());
  World& world = *settings.host->world;
  const std::string picture = (*found)->folder() + "/try-" + random_token(world.random);
  if (Status kept = world.files.write(picture, call.body, 0600); !kept.ok()) return error_answer(kept);
  ProcessRequest request;
  request.argv = {program_folder() + "/radl-train",
                  "predict",
                  model,
                  picture,
                  "--format",
                  "json",
                  "--top",
                  "5",
                  "--threads",
                  "1"};
  request.deadline = kPredictSeconds;
  auto done = run_process(settings.host->environment(), request);
  fs::remove(picture, error);
  if (!done.ok()) return error_answer(done.status());
  const Json line = json::parse_json(done->out);
  if (done->exit_status != 0 || !line.is_object())
    return error_answer(400, "invalid", "the body is not an image");
  return json_answer({{"top", line.value("top", Json::array())}});
}

}  // namespace radl::serve
