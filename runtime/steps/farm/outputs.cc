#include "runtime/steps/farm/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "common/digest.h"
#include "common/files.h"
#include "common/json_values.h"
#include "runtime/base/local_digest.h"
#include "runtime/farm/images.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/farm/task_script.h"
#include "runtime/steps/program/artifact.h"
#include "runtime/steps/training/bucket_folder.h"
#include "runtime/steps/training/result_folder.h"

namespace radl::farm {
namespace fs = std::filesystem;
namespace {

Status of(const std::error_code& error, const std::string& what) {
  return error ? errno_status(error.value(), what) : Status();
}

Status put_file(training::ResultFolder& folder, const std::string& from, const std::string& name) {
  auto digest = local_digest(from);
  if (!digest) return digest.status();
  if (Status way = folder.make_way({{name, *digest}}); !way.ok()) return way;
  const fs::path to = fs::path(folder.path()) / name;
  if (Status made = make_directories(to.parent_path()); !made.ok()) return made;
  const std::string part = to.string() + ".part";
  std::error_code error;
  fs::copy_file(from, part, fs::copy_options::overwrite_existing, error);
  if (!error) fs::rename(part, to, error);
  return of(error, to);
}

// Also what links to folders lead to, but for folders that hold the link.
Status add_files(const fs::path& folder, const fs::path& below, std::vector<fs::path> above,
                 std::vector<std::string>& names) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error) return of(error, folder);
  if (std::find(above.begin(), above.end(), real) != above.end()) return {};
  above.push_back(real);
  for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
    const fs::path name = below / each->path().filename();
    std::error_code broken;
    if (each->is_directory(broken)) {
      if (Status added = add_files(each->path(), name, above, names); !added.ok()) return added;
    } else if (each->is_regular_file(broken)) {
      names.push_back(name);
    }
  }
  return of(error, folder);
}

// All files below a folder, names sorted; none if there is no folder.
Result<std::vector<std::string>> files_below(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  if (!fs::exists(folder, error)) return names;
  if (Status added = add_files(folder, "", {}, names); !added.ok()) return added;
  std::sort(names.begin(), names.end());
  return names;
}

Status put_all(training::ResultFolder& folder, const std::string& from, const std::string& below) {
  auto names = files_below(from);
  if (!names) return std::move(names).status();
  for (const std::string& name : *names) {
    if (Status put = put_file(folder, from + "/" + name, below + "/" + name); !put.ok()) return put;
  }
  return {};
}

Status stopped() { return {Code::Cancelled, "stopped while the outputs were written; apply again"}; }

bool has_output(const TaskRecord& task) {
  return task.state == State::Finished || task.state == State::Stopped;
}

// The kept output of a task; Corrupt if the task left one and it is gone.
Status put_output(training::ResultFolder& folder, const ToPublish& what, const TaskRecord& task,
                  const std::string& below) {
  const std::string from = what.outputs.kept(task.task.name);
  std::error_code error;
  if (task.results == true && !fs::exists(from, error))
    return Status(Code::Corrupt, fmt::format("the output of task {} is missing: {}", task.task.name, from))
        .with_hint("to run the task again, change its command, or destroy the farm");
  return put_all(folder, from, below);
}

// One output at a time: together they may be larger than memory.
Status put_merged(training::ResultFolder& folder, const ToPublish& what, const Stop& stop) {
  const std::string whole = what.farm_folder + "/merged";
  std::ofstream out(whole, std::ios::binary | std::ios::trunc);
  for (const TaskRecord& task : what.table.tasks()) {
    if (task.state != State::Finished) continue;
    auto one = read_file(what.outputs.kept(task.task.name) + "/" + what.merge);
    if (!one && one.status().code() == Code::NotFound) continue;
    if (!one) return std::move(one).status();
    if (stop.asked()) return stopped();
    out << *one;
    if (!one->empty() && one->back() != '\n') out << '\n';
  }
  out.close();
  if (!out) return {Code::Quota, whole + ": cannot be written"};
  Status put = put_file(folder, whole, what.merge);
  std::error_code error;
  fs::remove(whole, error);
  return put;
}

// Which attempt has left which files: each is the only one of its task.
Result<Json> manifest_of(const ToPublish& what) {
  Json outputs = Json::array();
  for (const TaskRecord& task : what.table.tasks()) {
    if (task.state != State::Finished) continue;
    Json files = Json::array();
    const std::string folder = what.outputs.kept(task.task.name);
    auto names = files_below(folder);
    if (!names) return std::move(names).status();
    for (const std::string& name : *names) {
      auto digest = local_digest(folder + "/" + name);
      if (!digest) return std::move(digest).status();
      std::error_code error;
      files.push_back(
          {{"name", name}, {"bytes", fs::file_size(folder + "/" + name, error)}, {"sha256", *digest}});
    }
    Json one = {{"task", task.task.name},
                {"attempt", task.attempt},
                {"node", task.node},
                {"files", std::move(files)}};
    if (task.task.spec.contains(kImages)) one[kImages] = task.task.spec[kImages];
    outputs.push_back(std::move(one));
  }
  Json manifest = {{"merged", what.merge}, {"outputs", std::move(outputs)}};
  if (what.images > 0) manifest[kImages] = what.images;
  return manifest;
}

Json counts_of(const Table& table) {
  Json counts = Json::object();
  for (State state : {State::Finished, State::Stopped, State::Failed, State::Cancelled})
    if (table.count(state) > 0) counts[std::string(state_name(state))] = table.count(state);
  return counts;
}

Json product_of(const ToPublish& what) {
  const std::string place = what.program.at("results");
  Json output = {{"exit_status", 0},
                 {"seconds", what.seconds},
                 {"results_path", place},
                 {"log_path", place + "/logs"},
                 {"report_path", place + "/report.json"},
                 {"tasks", counts_of(what.table)},
                 {"metrics", Json::object()}};
  if (what.search == nullptr) return output;
  const TaskRecord* best = what.table.find(what.search->best());
  if (best == nullptr) return output;
  output["metrics"] = best->metrics;
  output["best"] = {{"task", best->task.name},
                    {"parameters", json::member(best->task.spec, "parameters")},
                    {"results_path", place + "/best"}};
  return output;
}

}  // namespace

std::string Outputs::arriving(const std::string& task, int attempt) const {
  return fmt::format("{}/arriving/{}.{}", folder_, task, attempt);
}

Status Outputs::keep(const std::string& task, int attempt) {
  std::error_code error;
  const std::string from = arriving(task, attempt), to = kept(task);
  if (!fs::exists(from, error)) return {};
  if (Status made = make_directories(folder_ + "/outputs", 0700); !made.ok()) return made;
  fs::remove_all(to, error);
  fs::rename(from, to, error);
  return of(error, to);
}

Status Outputs::remove(const std::string& task) {
  std::error_code error;
  fs::remove_all(kept(task), error);
  return of(error, kept(task));
}

Status Outputs::adopt(const Table& table) {
  for (const TaskRecord& task : table.tasks()) {
    if (!has_output(task)) continue;
    if (task.results == false) {
      if (Status removed = remove(task.task.name); !removed.ok()) return removed;
      continue;
    }
    if (Status kept = keep(task.task.name, task.attempt); !kept.ok()) return kept;
  }
  std::error_code error;
  fs::remove_all(folder_ + "/arriving", error);
  return make_directories(folder_ + "/arriving", 0700);
}

Status send_parent(jobs::Member& member, const Outputs& outputs, const TaskRecord& task,
                   const Context& context) {
  const std::string kept = outputs.kept(json::text_of(task.task.spec, "from"));
  const std::string to = parent_folder(task.task.name, task.attempt);
  auto names = files_below(kept);
  if (!names) return std::move(names).status();
  auto made = member.exec("mkdir -p " + shell_path(member.folder() + "/" + to), context.stop);
  if (!made) return std::move(made).status();
  for (const std::string& name : *names) {
    if (Status sent = member.put_file(kept + "/" + name, to + "/" + name, context.stop); !sent.ok())
      return sent;
  }
  return {};
}

Status keep_logs(jobs::Member& member, const std::string& farm_folder, const Redactor& secrets) {
  const std::string kept = farm_folder + "/logs";
  const std::string arrived = farm_folder + "/arriving/logs of " + member.address();
  std::error_code error;
  fs::remove_all(arrived, error);
  auto fetched = member.fetch("farm/logs", arrived);
  if (!fetched) return std::move(fetched).status();
  auto names = files_below(arrived);
  if (!names) return std::move(names).status();
  Status done = make_directories(kept, 0700);
  for (const std::string& name : *names) {
    auto text = read_file(arrived + "/" + name);
    if (!text) return std::move(text).status();
    if (!done.ok()) break;
    std::ofstream out(kept + "/" + name, std::ios::binary | std::ios::trunc);
    out << secrets.mask(*text);
    out.close();
    if (!out) done = {Code::Quota, kept + "/" + name + ": cannot be written"};
  }
  fs::remove_all(arrived, error);
  return done;
}

Result<Published> publish(const ToPublish& what, const std::vector<std::unique_ptr<jobs::Member>>& members,
                          const std::vector<bool>& lost, const Context& context, const Redactor& secrets) {
  const std::string place = what.program.at("results"), scratch = what.farm_folder + "/to-send";
  const training::ResultOwner owner{what.step, what.program.value("identity", "")};
  const bool bucket = training::is_bucket(place);
  std::error_code error;
  if (bucket) fs::remove_all(scratch, error);
  auto folder = bucket ? training::ResultFolder::own(scratch) : training::ResultFolder::open(place, owner);
  if (!folder) return std::move(folder).status();
  const std::string local = bucket ? scratch : place;
  Status done = make_directories(local + "/logs");
  for (const TaskRecord& task : what.table.tasks()) {
    if (done.ok() && context.stop.asked()) done = stopped();
    if (done.ok() && has_output(task)) done = put_output(*folder, what, task, task.task.name);
  }
  if (done.ok() && !what.merge.empty()) done = put_merged(*folder, what, context.stop);
  for (size_t i = 0; i < members.size(); ++i)
    if (done.ok() && !lost[i]) done = keep_logs(*members[i], what.farm_folder, secrets);
  if (done.ok()) done = put_all(*folder, what.farm_folder + "/logs", "logs");
  Published published;
  published.output = product_of(what);
  if (done.ok() && published.output.contains("best"))
    done = put_output(*folder, what, *what.table.find(published.output["best"]["task"]), "best");
  auto text = [&](const Json& json) {
    return secrets.mask(json.dump(1, ' ', false, Json::error_handler_t::replace)) + "\n";
  };
  if (done.ok() && !what.merge.empty()) {
    auto manifest = manifest_of(what);
    done = manifest ? folder->write("manifest.json", text(*manifest)) : std::move(manifest).status();
  }
  if (done.ok()) done = folder->write("table.json", text(what.table.to_json()));
  if (done.ok()) done = folder->write("report.json", text(published.output));
  if (done.ok()) done = folder->close();
  if (!done.ok()) return done;
  published.notes = folder->moved();
  if (!bucket) {
    auto files = program::artifact_of(local, what.step);
    if (!files) return std::move(files).status();
    published.output["files"] = std::move(*files);
    return published;
  }
  http::Client http(context.environment);
  auto kept = training::open_bucket_folder(http, place);
  Status sent =
      kept ? training::send_results(*kept, local, {owner, "report.json", ""}, context.stop) : kept.status();
  fs::remove_all(local, error);
  if (!sent.ok()) return std::move(sent).at("results");
  return published;
}

}  // namespace radl::farm
