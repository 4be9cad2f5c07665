// What the own API answers by radlc's own commands, which change nothing: recommendations, rehearsals, prices
// and costs. Each runs in a process of its own, whose end, memory and time are its own.
#include <algorithm>
#include <filesystem>
#include <set>

#include "common/http/closed_address.h"
#include "common/machine_identity.h"
#include "common/process/process.h"
#include "common/program_folder.h"
#include "common/text.h"
#include "runtime/base/world.h"
#include "runtime/serve/own_api.h"
#include "runtime/serve/plan_query.h"

namespace radl::serve {
namespace {

using httpd::Answer;

constexpr std::chrono::seconds kCommandSeconds{120};
constexpr int kMostRehearsals = 1000;
constexpr size_t kLargestLog = size_t{1} << 20;  // of an answer: its end
constexpr int kNothingFits = 3;                  // of `radlc recommend`
constexpr const char* kEngine = "radl-train";
constexpr int kDecoded = 200;  // images of a dataset that a look decodes

// A folder with a program in it, that goes with this.
class ProgramFolder {
 public:
  ProgramFolder(const Users& users, const std::string& text)
      : world_(*users.own().host->world), path_(users.folder() + "/programs/" + random_token(world_.random)) {
    status_ = world_.files.make_directories(path_, 0700);
    if (status_.ok()) status_ = world_.files.write(file(), text, 0600);
  }
  ~ProgramFolder() { (void)world_.files.remove_tree(path_); }
  ProgramFolder(const ProgramFolder&) = delete;
  ProgramFolder& operator=(const ProgramFolder&) = delete;
  const Status& status() const { return status_; }
  std::string file() const { return path_ + "/program.radl"; }

 private:
  World& world_;
  const std::string path_;
  Status status_;
};

// What limits the requests of a user whom the service does not trust (users.h).
const std::vector<std::string> kLimits = {http::kConfined, kMachineIdentity, "AWS_EC2_METADATA_DISABLED"};

// What the command of radlc, or of the engine, prints. Invalid, with its words: it refused. `inherited`:
// variables of the user that the command gets as well.
Result<std::string> output_of(const driver::Host& host, std::vector<std::string> words, int also_fine = 0,
                              const std::vector<std::string>& inherited = kLimits) {
  ProcessRequest request;
  request.argv = std::move(words);
  if (request.argv.front() == kEngine)
    request.argv.front() = program_folder() + "/" + kEngine;
  else
    request.argv.insert(request.argv.begin(), program_folder() + "/radlc");
  request.inherited = inherited;
  request.environment["NO_COLOR"] = "1";
  request.deadline = kCommandSeconds;
  request.keep_bytes = size_t{64} << 20;
  auto done = run_process(host.environment(), request);
  if (!done.ok()) return done.status();
  if (done->exit_status == 0 || done->exit_status == also_fine) return std::move(done->out);
  std::string why = done->err;
  while (why.ends_with('\n')) why.pop_back();
  if (why.starts_with("error: ")) why.erase(0, 7);
  return invalid(why.empty() ? "the command failed" : why);
}

// The same, as JSON.
Result<Json> command(const driver::Host& host, std::vector<std::string> words, int also_fine = 0,
                     const std::vector<std::string>& inherited = kLimits) {
  auto out = output_of(host, std::move(words), also_fine, inherited);
  if (!out.ok()) return out.status();
  Json json = Json::parse(*out, nullptr, false);
  return json.is_discarded() ? Result<Json>(invalid("the command failed")) : std::move(json);
}

bool is_job_name(const std::string& name) {
  return name.size() <= 200 && !name.starts_with('-') && !name.starts_with('.') && !name.ends_with(".radl") &&
         std::ranges::none_of(name, [](char c) { return (c >= 0 && c <= ' ') || c == 127; });
}

// The options of a request that a command takes under the same name, with `-` for `_`.
void pass(const std::map<std::string, std::string>& given, std::initializer_list<const char*> known,
          std::vector<std::string>& words) {
  for (const char* name : known) {
    const auto found = given.find(name);
    if (found == given.end() || found->second.empty()) continue;
    std::string option = "--" + std::string(name);
    std::ranges::replace(option, '_', '-');
    words.push_back(option + "=" + found->second);
  }
}

Result<std::map<std::string, std::string>> options_in(const Json& body) {
  std::map<std::string, std::string> options;
  for (const auto& [name, value] : body.items()) {
    if (value.is_string())
      options[name] = value.get<std::string>();
    else if (value.is_number())
      options[name] = value.dump();
    else
      return invalid("'" + name + "' is neither a string nor a number");
  }
  return options;
}

Result<std::string> program_in(std::map<std::string, std::string>& options) {
  const auto found = options.find("program");
  if (found == options.end() || found->second.empty()) return invalid("'program' is missing");
  return std::move(found->second);
}

}  // namespace

// Its JSON as an answer; 429 while too many run.
Answer OwnApi::answer_by_command(const OwnCall& call, std::vector<std::string> words, int also_fine) {
  const auto slot = processes_.take(call.caller.user);
  if (!slot) return too_many_processes();
  auto json = command(*users_.of(call.caller.user).host, std::move(words), also_fine);
  return json.ok() ? json_answer(*json) : error_answer(json.status());
}

// A cluster for a published training, from the batch and the latency alone.
Answer OwnApi::get_recommend(OwnCall& call) {
  std::map<std::string, std::string> options = call.parameters;
  if (options.contains("batch_size")) options["batch"] = options["batch_size"];
  options.try_emplace("study", "mnist");
  std::vector<std::string> words = {"recommend", "--json"};
  pass(options, {"study", "batch", "latency", "algorithm", "max_workers"}, words);
  return answer_by_command(call, std::move(words));
}

Answer OwnApi::post_recommend(OwnCall& call) {
  auto body = call.json();
  if (!body.ok()) return error_answer(body.status());
  auto options = options_in(*body);
  if (!options.ok()) return error_answer(options.status());
  auto program = program_in(*options);
  if (!program.ok()) return error_answer(program.status());
  if (Status may = may_compile(call, *program); !may.ok()) return error_answer(may);
  const ProgramFolder folder(users_, *program);
  if (!folder.status().ok()) return error_answer(folder.status());
  std::vector<std::string> words = {"recommend", folder.file(), "--json"};
  pass(*options,
       {"budget", "max_cost", "deadline", "objective", "workers", "max_workers", "types", "server", "latency",
        "images", "batch", "confidence", "training"},
       words);
  return answer_by_command(call, std::move(words), kNothingFits);
}

// `radlc test`: the program against simulated clouds that fail.
Answer OwnApi::rehearse(OwnCall& call) {
  auto body = call.json();
  if (!body.ok()) return error_answer(body.status());
  auto options = options_in(*body);
  if (!options.ok()) return error_answer(options.status());
  auto program = program_in(*options);
  if (!program.ok()) return error_answer(program.status());
  options->try_emplace("runs", "100");
  auto runs = whole_number("runs", options->at("runs"));
  if (!runs.ok() || *runs < 2 || *runs > kMostRehearsals)
    return error_answer(invalid("'runs' is a number from 2 to 1000"));
  if (Status may = may_compile(call, *program); !may.ok()) return error_answer(may);
  const ProgramFolder folder(users_, *program);
  if (!folder.status().ok()) return error_answer(folder.status());
  std::vector<std::string> words = {"test", folder.file(), "--json", "--jobs=1"};
  pass(*options, {"runs", "seed", "faults"}, words);
  constexpr int kFailed = 2;
  return answer_by_command(call, std::move(words), kFailed);
}

// The classes of a dataset and some of its images, before anything is trained on them.
Answer OwnApi::look_at_data(OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  auto body = call.json();
  if (!body.ok()) return error_answer(body.status());
  auto dataset = text_in(*body, "dataset");
  if (!dataset.ok()) return error_answer(dataset.status());
  constexpr std::string_view kUploads = "./files/";
  constexpr std::string_view kSchemes[] = {"s3://", "gs://", "az://", "swift://", "https://"};
  std::string place = *dataset;
  if (place.starts_with(kUploads)) {
    const std::string name = place.substr(kUploads.size());
    if (!is_upload_path(name)) return error_answer(invalid("invalid file name"));
    place = (*found)->folder() + "/files/" + name;
    std::error_code error;
    if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(place, error)))
      return error_answer(not_found(name + " was not uploaded"));
  } else if (std::ranges::none_of(kSchemes, [&](std::string_view one) { return place.starts_with(one); })) {
    return error_answer(
        invalid("'dataset' is an upload, such as ./files/images.zip, or the address of a bucket or archive"));
  }
  const auto slot = processes_.take(call.caller.user);
  if (!slot) return too_many_processes();
  auto json = command(
      *users_.of((*found)->owner()).host,
      {kEngine, "data", "look", place, "--json", "--decode=" + std::to_string(kDecoded), "--samples=12"}, 0,
      kStoreVariables);
  return json.ok() ? json_answer(*json) : error_answer(json.status());
}

// By `radlc cancel`, which reads the state, also from a bucket, and logs in to the job's nodes. The run that
// waits for the job sees its end.
Answer OwnApi::cancel_job(OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  auto body = call.json();
  if (!body.ok()) return error_answer(body.status());
  auto job = text_in(*body, "job");
  if (!job.ok()) return error_answer(job.status());
  if (!is_job_name(*job)) return error_answer(invalid("'job' is not the name of a job: " + *job));
  const auto slot = processes_.take(call.caller.user);
  if (!slot) return too_many_processes();
  const Workspace& of = **found;
  std::vector<std::string> words = {"cancel", "--state", of.state_place(), "--name", of.name()};
  if (!job->empty()) words.push_back(*job);
  auto out = output_of(*users_.of(of.owner()).host, std::move(words), 0, kStoreVariables);
  return out.ok() ? json_answer({{"message", std::string(trim(*out))}}) : error_answer(out.status());
}

// By `radlc farm logs`: the log of a running task is on its node.
Answer OwnApi::get_task_log(OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  for (const std::string& name : {call.path[1], call.path[2]})
    if (!is_job_name(name)) return error_answer(not_found("there is no task '" + name + "'"));
  const auto slot = processes_.take(call.caller.user);
  if (!slot) return too_many_processes();
  const Workspace& of = **found;
  auto out = output_of(*users_.of(of.owner()).host,
                       {"farm", "logs", "--state", of.state_place(), "--name", of.name(), "--farm",
                        call.path[1], call.path[2]},
                       0, kStoreVariables);
  if (!out.ok()) return error_answer(out.status());
  if (out->size() > kLargestLog) out->erase(0, out->size() - kLargestLog);
  return {.body = std::move(*out), .type = "text/plain; charset=utf-8"};
}

// By `radlc calibration`. Those of the caller: what was measured is kept for each user.
Answer OwnApi::get_measurements(OwnCall& call) { return answer_by_command(call, {"calibration", "export"}); }

Answer OwnApi::add_measurements(OwnCall& call) {
  auto body = call.json();
  if (!body.ok()) return error_answer(body.status());
  const ProgramFolder folder(users_, call.body);
  if (!folder.status().ok()) return error_answer(folder.status());
  const auto slot = processes_.take(call.caller.user);
  if (!slot) return too_many_processes();
  auto out = output_of(*users_.of(call.caller.user).host, {"calibration", "import", folder.file()});
  if (!out.ok()) return error_answer(out.status());
  return json_answer({{"added", std::atoll(out->c_str())}}, 201);
}

Answer OwnApi::prices(OwnCall& call) {
  std::vector<std::string> words = {"catalog", "list", "--json"};
  pass(call.parameters, {"cloud", "region", "cpu", "memory", "gpu"}, words);
  return answer_by_command(call, std::move(words));
}

// What the runs of these infrastructures took and cost, and what exists now.
Answer OwnApi::costs(OwnCall& call) {
  const auto slot = processes_.take(call.caller.user);
  if (!slot) return too_many_processes();
  std::set<std::string> owners;  // each has a history
  for (const auto& one : all(call)) owners.insert(one->owner());
  std::vector<Json> history;
  Json unreadable = Json::array();
  for (const std::string& owner : owners) {
    auto its = command(*users_.of(owner).host, {"history", "--json", "--newest=100000"});
    if (!its.ok()) unreadable.push_back({{"owner", owner}, {"error", its.status().text()}});
    if (its.ok())
      for (Json& run : *its) history.push_back(std::move(run));
  }
  std::ranges::stable_sort(history, {}, [](const Json& run) { return run.value("time", 0.0); });
  std::map<std::string, std::string> ids, names;  // by the folder of the state
  MoneySum now;
  for (const auto& one : all(call)) {
    ids[one->state_place()] = one->id();
    names[one->state_place()] = one->name();
    for (const Json& amount : one->summary().value("price_per_hour", Json::array()))
      now.add(amount.get<Money>());
  }
  Json runs = Json::array();
  for (const Json& run : history) {
    const std::string directory = run.value("directory", "");
    const auto found = ids.find(directory);
    if (found == ids.end()) continue;
    runs.push_back({{"infrastructure", found->second},
                    {"name", names[directory]},
                    {"command", run.value("command", "")},
                    {"time", run.value("time", 0.0)},
                    {"seconds", run.value("seconds", Json::object())},
                    {"cost", run.value("cost", Json::array())},
                    {"predicted_cost", run.value("predicted_cost", Json())},
                    {"life_cost", run.value("life_cost", Json())}});
  }
  return json_answer(
      {{"price_per_hour", now}, {"runs", std::move(runs)}, {"unreadable", std::move(unreadable)}});
}

}  // namespace radl::serve
