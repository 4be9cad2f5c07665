#include "runtime/steps/dataset_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "common/dataset_digest.h"
#include "common/dataset_files.h"
#include "common/digest.h"
#include "common/files.h"
#include "common/process/process.h"
#include "common/shorten.h"
#include "runtime/steps/dataset.h"

namespace radl {
namespace {

constexpr uint64_t kBytes = uint64_t{64} << 20;  // of images that are decoded
constexpr size_t kFewest = 20, kMost = 500, kClasses = 8, kNamed = 3;
constexpr const char* kVersion =
    "1";  // of what is kept: raised when `radl-train data look` says something else

struct Own {
  std::string shown, path, sha256, shape, validation;
};

std::string shape_text(const Json& job) {
  const Json shape = job.value("dataset", Json::object()).value("shape", Json());
  if (!shape.is_array() || shape.size() != 3) return "";
  return fmt::format("{}x{}x{}", shape[0].get<int>(), shape[1].get<int>(), shape[2].get<int>());
}

std::optional<Own> own_dataset(const ir::Step& step) {
  if (step.kind != ir::StepKind::Training) return std::nullopt;
  const Json &data = step.training->value("data", Json::object()), &job = step.training->at("job");
  const DatasetSource source = dataset_source(data.value("shown", ""), data);
  if (!source.own()) return std::nullopt;
  const auto held = job.value("dataset", Json::object()).value("validation", 0ll);
  return Own{source.name, source.path, source.path_sha256, shape_text(job),
             held > 0 ? std::to_string(held) : ""};
}

// By path; a training's settings take precedence over those of its staging step.
std::map<std::string, Own> own_datasets(const ir::Program& program, const std::set<std::string>& steps) {
  std::map<std::string, Own> all;
  for (const ir::Step& step : program.steps) {
    if (!steps.contains(step.id)) continue;
    for (const ir::Resource& resource : step.resources) {
      if (resource.type != "dataset") continue;
      const DatasetSource source = dataset_source(resource.name, resource.properties);
      if (source.own()) all.emplace(source.path, Own{source.name, source.path, source.path_sha256, "", ""});
    }
    if (auto own = own_dataset(step)) all[own->path] = std::move(*own);
  }
  return all;
}

// Fewer where images are large.
size_t images_to_decode(const std::string& path) {
  auto files = list_dataset(path);
  if (!files || files->files.empty()) return kFewest;
  uint64_t bytes = 0;
  for (const DatasetFile& file : files->files) bytes += file.size;
  return std::clamp<size_t>(kBytes / std::max<uint64_t>(bytes / files->files.size(), 1), kFewest, kMost);
}

Result<Json> ask_engine(const Own& own, const Environment& environment, const Stop& stop) {
  const std::string cache = user_cache(environment);
  const std::string note =
      cache.empty()
          ? ""
          : cache + "/looks/" +
                sha256_hex(fmt::format("{} {} {} {}", kVersion, own.sha256, own.shape, own.validation));
  if (auto text = read_file(note, size_t{64} << 20); !note.empty() && text) {
    Json json = Json::parse(*text, nullptr, false);
    if (json.is_object() && json.contains("decoded")) return json;
  }
  auto engine = find_engine(environment);
  if (!engine) return engine.status();
  std::vector<std::string> argv = {
      *engine, "data", "look", own.path, "--json", "--decode", std::to_string(images_to_decode(own.path))};
  if (!own.shape.empty()) argv.insert(argv.end(), {"--shape", own.shape});
  if (!own.validation.empty()) argv.insert(argv.end(), {"--validation", own.validation});
  auto ran = run_process(environment, {.argv = argv, .stop = stop, .keep_bytes = size_t{64} << 20});
  if (!ran) return ran.status();
  if (ran->exit_status != 0) {
    std::string why = ran->err;
    while (why.ends_with('\n')) why.pop_back();
    return invalid(why);
  }
  Json json = Json::parse(ran->out, nullptr, false);
  if (!json.is_object() || !json.contains("decoded"))
    return internal_error("radl-train data look answered: " + shorten(ran->out, 200));
  if (!note.empty() && make_directories(cache + "/looks").ok())
    (void)write_file_atomic(note, json.dump(-1, ' ', false, Json::error_handler_t::replace));
  return json;
}

std::string between(const Json& range) {
  const int low = range.at(0).get<int>(), high = range.at(1).get<int>();
  return low == high ? std::to_string(low) : fmt::format("{} to {}", low, high);
}

std::string classes_text(const Json& json) {
  const auto names = json.at("classes").get<std::vector<std::string>>();
  const auto counts = json.at("per_class").get<std::vector<size_t>>();
  std::vector<std::string> shown;
  for (size_t c = 0; c < std::min(names.size(), kClasses); ++c)
    shown.push_back(fmt::format("{} {}", names[c], c < counts.size() ? counts[c] : 0));
  return fmt::format("{} classes ({}{})", names.size(), fmt::join(shown, ", "),
                     names.size() > kClasses ? ", ..." : "");
}

std::string corrupt_text(const Json& json) {
  const size_t decoded = json.at("decoded").get<size_t>(), corrupt = json.at("corrupt").get<size_t>(),
               all = json.at("train").get<size_t>() + json.at("test").get<size_t>();
  std::string text = decoded == all ? "all decoded" : fmt::format("{} of {} decoded", decoded, all);
  if (corrupt == 0) return text + ", none is corrupt";
  std::vector<std::string> named;
  for (const Json& problem : json.at("problems")) {
    if (named.size() == kNamed) break;
    named.push_back(fmt::format("{} ({})", problem.value("file", ""), problem.value("why", "")));
  }
  return fmt::format("{}, {} corrupt: {}{}", text, corrupt, fmt::join(named, ", "),
                     corrupt > named.size() ? ", ..." : "");
}

std::string describe(const Own& own, const Json& json) {
  const Json& shape = json.at("shape");
  std::string text =
      fmt::format("dataset '{}': {} + {} images of {}", own.shown, json.at("train").get<size_t>(),
                  json.at("test").get<size_t>(), classes_text(json));
  if (json.at("heights").at(1).get<int>() > 0)
    text += fmt::format(", {} high and {} wide", between(json["heights"]), between(json["widths"]));
  text += fmt::format(", used as {}x{}x{}; {}", shape.at(0).get<int>(), shape.at(1).get<int>(),
                      shape.at(2).get<int>(), corrupt_text(json));
  if (std::string note = json.value("note", ""); !note.empty()) text += "; " + note;
  std::vector<std::string> others;
  const Json others_json = json.value("other_files", Json::object());
  for (const auto& [end, count] : others_json.items())
    others.push_back(fmt::format("{} {}", count.get<size_t>(), end));
  if (!others.empty()) text += fmt::format("; files that are not read: {}", fmt::join(others, ", "));
  return text;
}

}  // namespace

Result<std::vector<std::string>> look_at_datasets(const ir::Program& program,
                                                  const std::set<std::string>& steps,
                                                  const Environment& environment, const Stop& stop) {
  std::vector<std::string> notes;
  for (const auto& [path, own] : own_datasets(program, steps)) {
    if (is_remote_place(path)) {
      notes.push_back(fmt::format(
          "dataset '{}' is stored elsewhere: `apply` examines it when it downloads it", own.shown));
      continue;
    }
    auto found = ask_engine(own, environment, stop);
    if (!found && found.status().code() == Code::NotFound) {
      notes.push_back(fmt::format("dataset '{}' was not looked at: {}", own.shown, found.status().text()));
    } else if (!found) {
      return Status(found.status()).at(fmt::format("dataset '{}'", own.shown));
    } else {
      notes.push_back(describe(own, *found));
    }
  }
  return notes;
}

std::optional<DatasetSize> dataset_size(const ir::Step& training, const Environment& environment) {
  const auto own = own_dataset(training);
  if (!own || is_remote_place(own->path)) return std::nullopt;
  const auto found = ask_engine(*own, environment, {});
  if (!found.ok()) return std::nullopt;
  const Json& shape = found->at("shape");
  return DatasetSize{
      found->at("train").get<size_t>(), found->at("test").get<size_t>(), found->at("classes").size(),
      fmt::format("{}x{}x{}", shape.at(0).get<int>(), shape.at(1).get<int>(), shape.at(2).get<int>())};
}

}  // namespace radl
