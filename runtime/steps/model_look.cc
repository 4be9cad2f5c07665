#include "runtime/steps/model_look.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/dataset_digest.h"
#include "common/digest.h"
#include "common/files.h"
#include "runtime/base/process.h"
#include "runtime/steps/dataset.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

// Each model of the engine takes images of this size; what the dataset's are is not what is asked.
constexpr const char* kImages = "224x224x3";
constexpr std::string_view kSpeaker = "radl-train: ";
constexpr int kWrong = 1;  // its exit status for what it is given

// "" for a text, and for a name that only apply knows.
std::string model_name(const ir::Step& step) {
  if (step.kind != ir::StepKind::Training) return "";
  const Json model = step.training.value("job", Json::object()).value("model", Json());
  if (!model.is_string()) return "";
  const std::string name = model.get<std::string>();
  return name.find_first_of("\n:") == name.npos ? name : "";
}

// Changes when another engine is installed in its place.
std::string engine_mark(const std::string& engine) {
  std::error_code error;
  const auto written = fs::last_write_time(engine, error).time_since_epoch().count();
  return fmt::format("{} {} {}", engine, written, fs::file_size(engine, error));
}

Status look(const std::string& engine, const std::string& name) {
  const std::string cache = user_cache();
  const std::string note =
      cache.empty() ? "" : cache + "/looks/model-" + sha256_hex(engine_mark(engine) + "\n" + name);
  std::error_code error;
  if (!note.empty() && fs::exists(note, error)) return {};
  // Files and folders that are called like a model are not meant.
  auto ran = run_process(
      {.argv = {fs::absolute(engine, error), "inspect", "--input", kImages, "--", name}, .directory = "/"});
  if (!ran) return ran.status();
  if (ran->exit_status == kWrong) {
    std::string_view why = ran->err;
    if (why.starts_with(kSpeaker)) why.remove_prefix(kSpeaker.size());
    while (why.ends_with('\n')) why.remove_suffix(1);
    return Status(Code::Invalid, std::string(why));
  }
  if (ran->exit_status != 0) return {};  // it cannot say
  if (!note.empty() && make_directories(cache + "/looks").ok()) (void)write_file_atomic(note, name);
  return {};
}

}  // namespace

Status look_at_models(const ir::Program& program, const std::set<std::string>& steps) {
  for (const ir::Step& step : program.steps) {
    if (!steps.contains(step.id)) continue;
    const std::string name = model_name(step);
    if (name.empty()) continue;
    auto engine = find_engine();
    if (!engine) return {};  // the plan may be made where nothing is applied
    if (Status found = look(*engine, name); !found.ok()) return std::move(found).at(step.id);
  }
  return {};
}

}  // namespace radl
