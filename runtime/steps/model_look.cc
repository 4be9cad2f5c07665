#include "runtime/steps/model_look.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/dataset_digest.h"
#include "common/digest.h"
#include "common/files.h"
#include "common/process/process.h"
#include "runtime/farm/settings.h"
#include "runtime/steps/dataset.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

// Every model of the engine accepts images of this size; the dataset's own size does not matter here.
constexpr const char* kImages = "224x224x3";
constexpr int kModelClasses = 10;
constexpr int kModelVersion = 2;  // of what is kept
constexpr std::string_view kSpeaker = "radl-train: ";
constexpr int kWrong = 1;  // its exit status for what it is given

// A name or a text; "" where only apply knows it.
std::string model_of(const ir::Step& step) {
  if (step.kind != ir::StepKind::Training) return "";
  const Json model = step.training->value("job", Json::object()).value("model", Json());
  return model.is_string() ? model.get<std::string>() : "";
}

bool is_text(const std::string& model) { return model.find_first_of("\n:") != model.npos; }

// Changes when another engine is installed in its place.
std::string engine_mark(const std::string& engine) {
  std::error_code error;
  const auto written = fs::last_write_time(engine, error).time_since_epoch().count();
  return fmt::format("{} {} {}", engine, written, fs::file_size(engine, error));
}

// What radl-train has complained about, without its name.
Status complaint(std::string_view why) {
  if (why.starts_with(kSpeaker)) why.remove_prefix(kSpeaker.size());
  while (why.ends_with('\n')) why.remove_suffix(1);
  return {Code::Invalid, std::string(why)};
}

// What `radl-train inspect` says of the model with these options; an empty object: it cannot say.
Result<Json> ask(const std::string& engine, const std::string& model, const std::vector<std::string>& options,
                 const Environment& environment, const Stop& stop) {
  const std::string cache = user_cache(environment);
  const std::string note =
      cache.empty() ? ""
                    : fmt::format("{}/looks/model-{}", cache,
                                  sha256_hex(fmt::format("{}\n{}\n{}\n{}", kModelVersion, engine_mark(engine),
                                                         fmt::join(options, " "), model)));
  if (auto text = read_file(note, size_t{64} << 20); !note.empty() && text) {
    Json kept = Json::parse(*text, nullptr, false);
    if (kept.is_object()) return kept;
  }
  std::error_code error;
  ProcessRequest request{.argv = {fs::absolute(engine, error), "inspect", "--json"},
                         .stdin_bytes = model,
                         .directory = "/",
                         .stop = stop,
                         .keep_bytes = size_t{64} << 20};
  request.argv.insert(request.argv.end(), options.begin(), options.end());
  request.argv.insert(request.argv.end(), {"--", "-"});
  auto ran = run_process(environment, request);
  if (!ran) return ran.status();
  if (ran->exit_status == kWrong) return complaint(ran->err);
  const Json said = ran->exit_status == 0 ? Json::parse(ran->out, nullptr, false) : Json::object();
  if (!said.is_object()) return internal_error("radl-train inspect answered no JSON");
  Json facts = Json::object();
  for (const char* key :
       {"digest", "parameters", "convolution_parameters", "forward_flop", "activations", "trainable"})
    if (said.contains(key)) facts[key] = said[key];
  if (!facts.empty() && !note.empty() && make_directories(cache + "/looks").ok())
    (void)write_file_atomic(note, facts.dump());
  return facts;
}

Result<Json> look(const std::string& engine, const std::string& model, const std::string& shape, int classes,
                  const Environment& environment, const Stop& stop) {
  return ask(engine, model, {"--input", shape, "--classes", std::to_string(classes)}, environment, stop);
}

// The trained model of an inference (std/farm/inference): one that the engine cannot run is an error before
// any machine is paid for. Ok if it is not on this computer yet.
Status look_at_trained_model(const std::string& engine, const ir::Step& step, const Environment& environment,
                             const Stop& stop) {
  const auto text = step.program->find("farm");
  if (step.kind != ir::StepKind::Program || text == step.program->end() || !text->is_string()) return {};
  auto settings = farm::parse_farm(text->get<std::string>());
  if (!settings || !settings->model_options) return {};
  for (const Json& input : step.program->value("inputs", Json::array())) {
    const std::string path = input.value("path", "");
    std::error_code error;
    if (input.value("name", "") != "model" || path.empty() || !fs::exists(path, error)) continue;
    ProcessRequest request{
        .argv = {fs::absolute(engine, error), "predict", path, "--check"}, .directory = "/", .stop = stop};
    request.argv.insert(request.argv.end(), settings->model_options->begin(), settings->model_options->end());
    auto ran = run_process(environment, request);
    if (!ran) return ran.status();
    if (ran->exit_status != 0) return complaint(ran->err);
  }
  return {};
}

}  // namespace

Status look_at_models(const ir::Program& program, const std::set<std::string>& steps,
                      const Environment& environment, const Stop& stop) {
  for (const ir::Step& step : program.steps) {
    if (!steps.contains(step.id)) continue;
    const std::string model = model_of(step);
    if (model.empty() && step.kind != ir::StepKind::Program) continue;
    auto engine = find_engine(environment);
    if (!engine) return {};  // the plan may be made where nothing is applied
    if (Status fits = look_at_trained_model(*engine, step, environment, stop); !fits.ok())
      return std::move(fits).at(step.id);
    if (model.empty()) continue;
    // What a text makes of images depends on their shape, which may not be known yet.
    auto found = is_text(model) ? ask(*engine, model, {"--trainable"}, environment, stop)
                                : look(*engine, model, kImages, kModelClasses, environment, stop);
    if (!found.ok()) return std::move(found).status().at(step.id);
  }
  return {};
}

Result<ModelFacts> look_at_model(const std::string& model, const std::string& shape, int classes,
                                 const Environment& environment, const Stop& stop) {
  auto engine = find_engine(environment);
  if (!engine) return engine.status();
  if (is_text(model)) {
    if (auto fed = ask(*engine, model, {"--trainable"}, environment, stop); !fed.ok())
      return std::move(fed).status();
  }
  auto said = look(*engine, model, shape, classes, environment, stop);
  if (!said.ok()) return said.status();
  try {
    const double parameters = said->at("parameters"), convolved = said->at("convolution_parameters");
    return ModelFacts{said->at("digest"), parameters, said->at("forward_flop"),
                      parameters > 0 ? convolved / parameters : 0, said->at("activations")};
  } catch (const Json::exception&) {
    return Status(Code::Unsupported, *engine + " does not say what a model computes")
        .with_hint("install the engine of this radlc");
  }
}

}  // namespace radl
