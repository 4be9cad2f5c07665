// Files of the own API: what a user uploads, what a training brings, and a picture that its model is tried
// on.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "common/fd.h"
#include "common/files.h"
#include "common/process/process.h"
#include "common/program_folder.h"
#include "runtime/base/world.h"
#include "runtime/serve/own_api.h"

namespace radl::serve {
namespace {

using httpd::Answer;
namespace fs = std::filesystem;

constexpr uint64_t kSpareBytes = uint64_t{1} << 30;  // an upload leaves as much of the disk
constexpr size_t kMostFiles = 10000;
constexpr std::chrono::seconds kPredictSeconds{60};

std::string upload_path(const Workspace& of, const std::string& name) {
  return of.folder() + "/files/" + name;
}

bool is_file_name(const std::string& name) {
  return !name.empty() && name.size() <= 200 && name.front() != '.' && !name.ends_with(".part") &&
         std::ranges::none_of(name, [](char c) { return c == '/' || c == '\\' || (c >= 0 && c < ' '); });
}

uint64_t size_of(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 ? uint64_t(about.st_size) : 0;
}

bool has_room(const std::string& folder, uint64_t bytes) {
  struct statvfs about {};
  if (::statvfs(folder.c_str(), &about) != 0) return true;
  const uint64_t room = uint64_t(about.f_bavail) * about.f_frsize;
  return room >= kSpareBytes && room - kSpareBytes >= bytes;
}

// Regular files below a folder, by path; names that begin with a dot are radlc's own.
Json files_below(const std::string& folder) {
  Json files = Json::array();
  std::error_code error;
  std::vector<std::pair<std::string, uint64_t>> found;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with('.') || at->is_symlink() || !at->is_regular_file())
      continue;
    found.emplace_back(at->path().lexically_relative(folder).string(), at->file_size());
    if (found.size() >= kMostFiles) break;
  }
  std::ranges::sort(found);
  for (const auto& [path, size] : found) files.push_back({{"path", path}, {"bytes", size}});
  return files;
}

}  // namespace

// A part of a file, appended as it arrives. What was received stays if the connection breaks.
class OwnApi::Upload : public httpd::Exchange {
 public:
  Upload(std::string path, uint64_t offset, uint64_t total)
      : path_(std::move(path)),
        total_(total),
        size_(offset),
        file_(::open((path_ + ".part").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                     0600)) {}

  std::optional<Answer> receive(std::string_view part) override {
    if (!file_.open()) return error_answer(500, "internal", "the file cannot be written");
    if (size_ + part.size() > total_)
      return error_answer(400, "invalid", "the body is longer than 'total' says");
    if (Status written = write_all(file_.get(), part, "the upload"); !written.ok())
      return error_answer(written);
    size_ += part.size();
    return {};
  }
  Answer finish() override {
    if (!file_.open()) return error_answer(500, "internal", "the file cannot be written");
    const bool complete = size_ == total_;
    if (complete) {
      if (::fsync(file_.get()) != 0 || ::rename((path_ + ".part").c_str(), path_.c_str()) != 0)
        return error_answer(500, "internal", "the file cannot be written");
    }
    return json_answer({{"bytes", size_}, {"complete", complete}}, complete ? 201 : 202);
  }

 private:
  const std::string path_;
  const uint64_t total_;
  uint64_t size_;
  Fd file_;
};

// PUT files/NAME?offset=N&total=M: bytes N and what follows. 409 with the offset that is expected.
Begun OwnApi::begin_upload(const OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  if (!is_file_name(call.path[1])) return error_answer(400, "invalid", "this is not a name for a file");
  auto total = whole_number("total", call.parameter("total"));
  auto offset = whole_number("offset", call.parameters.contains("offset") ? call.parameter("offset") : "0");
  if (!total.ok()) return error_answer(total.status());
  if (!offset.ok()) return error_answer(offset.status());
  const std::string path = upload_path(**found, call.path[1]);
  if (*offset == 0) (void)::unlink((path + ".part").c_str());
  const uint64_t have = size_of(path + ".part");
  if (have != *offset) {
    Answer answer = error_answer(409, "conflict", "the upload continues at another offset");
    answer.headers.emplace_back("Upload-Offset", std::to_string(have));
    return answer;
  }
  if (*offset > *total || !has_room((*found)->folder(), *total - *offset))
    return error_answer(507, "quota", "the disk of the service has no room for it");
  return std::make_unique<Upload>(path, have, *total);
}

Answer OwnApi::list_files(OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  Json files = files_below((*found)->folder() + "/files");
  for (Json& file : files) {
    std::string path = file.at("path");
    const bool part = path.ends_with(".part");
    if (part) file["path"] = path.substr(0, path.size() - 5);
    file["complete"] = !part;
  }
  return json_answer({{"files", std::move(files)}});
}

Answer OwnApi::list_results(OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  Json files = files_below((*found)->folder() + "/result");
  Json report, model;
  if (auto text = read_file((*found)->folder() + "/result/report.json", size_t{64} << 20); text.ok())
    report = Json::parse(*text, nullptr, false);
  if (auto text = read_file((*found)->folder() + "/result/model/model.json", size_t{1} << 20); text.ok())
    model = Json::parse(*text, nullptr, false);
  for (Json* json : {&report, &model})
    if (json->is_discarded()) *json = Json();
  return json_answer(
      {{"files", std::move(files)}, {"report", std::move(report)}, {"model", std::move(model)}});
}

// The segments of a path have neither "..", nor "/", nor a dot at their begin; links are not followed.
Answer OwnApi::get_result(OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  const fs::path folder = (*found)->folder() + "/result";
  fs::path path = folder;
  std::error_code error;
  for (const fs::path& part : fs::path(call.path[1])) {
    path /= part;
    if (part.string().starts_with('.') || fs::is_symlink(path, error))
      return error_answer(404, "not_found", "there is no such result");
  }
  if (!fs::is_regular_file(path, error)) return error_answer(404, "not_found", "there is no such result");
  Answer answer{.type = "application/octet-stream", .file = path.string()};
  answer.headers.emplace_back("Content-Disposition", "attachment");
  return answer;
}

// The classes that the trained model gives a picture, by the engine. The picture is not kept.
Answer OwnApi::predict(OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  const std::string model = (*found)->folder() + "/result/model";
  std::error_code error;
  if (!fs::exists(model + "/model.json", error))
    return error_answer(404, "not_found", "there is no trained model yet");
  if (call.body.empty()) return error_answer(400, "invalid", "the body is not a picture");
  World& world = *settings_.host->world;
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
  auto done = run_process(settings_.host->environment(), request);
  fs::remove(picture, error);
  if (!done.ok()) return error_answer(done.status());
  const Json line = Json::parse(done->out, nullptr, false);
  if (done->exit_status != 0 || !line.is_object())
    return error_answer(400, "invalid", "the body is not a picture");
  return json_answer({{"top", line.value("top", Json::array())}});
}

}  // namespace radl::serve
