#include "runtime/steps/dataset.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "common/dataset_digest.h"
#include "common/files.h"
#include "common/lines.h"
#include "common/process/process.h"
#include "common/program_folder.h"
#include "common/shorten.h"
#include "common/store_address.h"
#include "common/turn.h"

namespace radl {

namespace fs = std::filesystem;

DatasetSource dataset_source(const std::string& name, const Json& data) {
  DatasetSource source;
  source.name = name;
  source.source = data.value("source", "auto");
  source.mirror = data.value("mirror", "");
  source.path = data.value("path", "");
  source.path_sha256 = data.value("path_sha256", "");
  source.skip_corrupt = data.value("skip_corrupt", false);
  if (data.contains("corrupt_limit")) source.corrupt_limit = data["corrupt_limit"].get<long long>();
  return source;
}

Result<std::string> find_engine(const Environment& environment) {
  if (const std::string named = environment("RADL_TRAIN"); !named.empty()) {
    if (access(named.c_str(), X_OK) == 0) return named;
    return not_found(fmt::format("RADL_TRAIN names '{}', which cannot be run", named));
  }
  std::error_code error;
  const fs::path here = program_folder();
  for (const auto& candidate :
       {here / "radl-train", here / "../libexec/radl/radl-train", here / "../lib/radl/radl-train"}) {
    if (access(candidate.c_str(), X_OK) == 0) return fs::weakly_canonical(candidate, error).string();
  }
  std::string in_path = find_program(environment, "radl-train");
  if (!in_path.empty()) return in_path;
  return Status(Code::NotFound,
                fmt::format("the training engine radl-train is neither beside this program ({}) nor in PATH",
                            here.string()))
      .with_hint("build it, or name it with RADL_TRAIN");
}

namespace {

// A part must not pass for the whole.
std::string cache_folder(const DatasetSource& source, const Environment& environment) {
  const std::string cache = user_cache(environment);
  return (cache.empty() ? "/nonexistent" : cache) + "/" + source.name +
         (source.source == "subset" ? "-subset" : "");
}

std::vector<std::string> stage_command(const std::string& engine, const DatasetSource& source, bool offline,
                                       const Environment& environment) {
  std::vector<std::string> argv = {engine, "data", "stage", source.own() ? source.path : source.name,
                                   "--json"};
  auto add = [&](std::initializer_list<std::string> more) { argv.insert(argv.end(), more); };
  if (!source.own()) {
    add({"--directory", cache_folder(source, environment)});
    if (source.source == "mirror")
      add({"--mirror", source.mirror});
    else
      add({"--source", source.source});
  }
  if (source.skip_corrupt) add({"--skip-corrupt"});
  if (source.corrupt_limit) add({"--corrupt-limit", std::to_string(*source.corrupt_limit)});
  if (offline) add({"--offline"});
  return argv;
}

Status check_unchanged(const DatasetSource& source, const Environment& environment) {
  if (source.path_sha256.empty()) return {};
  auto files = list_dataset(source.path);
  if (!files) return files.status();
  auto digests = file_digests(*files, user_cache(environment));
  if (!digests) return digests.status();
  if (content_digest(*files, *digests) == source.path_sha256) return {};
  return Status(Code::Conflict, source.path + ": is not what it was when the plan was made")
      .with_hint("plan again");
}

Result<LocalDataset> read_staged(const std::string& answer) {
  Json json = Json::parse(answer, nullptr, false);
  if (!json.is_object() || !json.contains("directory") || !json.contains("list"))
    return internal_error("radl-train data stage answered: " + shorten(answer, 200));
  LocalDataset data;
  data.folder = json.value("directory", "");
  data.digest = json.value("digest", "");
  data.left_out = json.value("left_out", std::vector<std::string>());
  auto list = read_file(json.value("list", ""));
  if (!list) return list.status();
  data.list = std::move(*list);
  return data;
}

}  // namespace

Result<std::optional<LocalDataset>> local_dataset(const DatasetSource& source, bool offline,
                                                  const Context& context,
                                                  const std::function<void(const std::string&)>& say) {
  const std::string where = fmt::format("dataset '{}'", source.name);
  // Several nodes may want the same data.
  auto turn = KeyTurn::take(
      "dataset " + user_cache(context.environment) + "\n" + source.name + "\n" + source.path, context.stop);
  if (!turn) return std::move(turn).status().at(where);
  auto engine = find_engine(context.environment);
  if (!engine) return engine.status();
  if (Status same = check_unchanged(source, context.environment); !same.ok())
    return std::move(same).at(where);
  ProcessRequest request;
  request.argv = stage_command(*engine, source, offline, context.environment);
  request.inherited = kStoreVariables;
  request.deadline = std::chrono::hours(6);
  request.stop = context.stop;
  Lines lines(64 * 1024);
  request.on_output = [&](std::string_view piece, bool is_stderr) {
    if (is_stderr) lines.add(piece, [&](std::string_view line, bool) { say(std::string(line)); });
  };
  auto ran = run_process(context.environment, request);
  if (!ran) return std::move(ran).status().at(where);
  if (ran->exit_status != 0) {
    std::string why = ran->err;
    while (why.ends_with('\n')) why.pop_back();
    const Code code = ran->exit_status == 130 ? Code::Cancelled
                      : ran->exit_status == 2 ? Code::Retry
                                              : Code::Invalid;
    return Status(code, fmt::format("{}: {}", where, why));
  }
  if (ran->out.starts_with("{\"here\":false")) return std::optional<LocalDataset>();
  auto data = read_staged(ran->out);
  if (!data) return std::move(data).status().at(where);
  if (is_store_address(source.path)) data->address = source.path;
  for (const std::string& name : data->left_out)
    say(fmt::format("{}: {} is corrupt and left out", where, name));
  return std::optional<LocalDataset>(std::move(*data));
}

}  // namespace radl
