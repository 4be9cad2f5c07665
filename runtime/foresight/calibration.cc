#include "runtime/foresight/calibration.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/digest.h"

namespace radl::foresight {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;

// Throws json::exception for what is no number of the kind.
double number(const json& object, const char* key, double least = 0) {
  const double value = object.at(key).get<double>();
  if (!std::isfinite(value) || value < least)
    throw json::type_error::create(
        302, std::string(key) + " is not a number of at least " + std::to_string(least), &object);
  return value;
}

// An earlier radlc did not write it.
double optional_number(const json& object, const char* key) {
  return object.contains(key) ? number(object, key) : 0;
}

double share(const json& object, const char* key) {
  const double value = number(object, key);
  if (value > 1) throw json::type_error::create(302, std::string(key) + " is a share, at most 1", &object);
  return value;
}

int count(const json& object, const char* key, int least) {
  const json& value = object.at(key);
  if (!value.is_number_integer() || value.get<long long>() < least || value.get<long long>() > 1000000)
    throw json::type_error::create(302, std::string(key) + " is not a count", &object);
  return value.get<int>();
}

json node_json(const NodeProfile& node) {
  json points = json::array();
  for (const StepLine::Point& point : node.steps.points)
    points.push_back({{"batch", point.batch}, {"seconds", point.seconds}});
  return {{"steps", points},
          {"parameter_bytes", node.parameter_bytes},
          {"backward_share", node.backward_share},
          {"spread", node.spread},
          {"largest_batch", node.largest_batch}};
}

NodeProfile read_node(const json& object) {
  NodeProfile node;
  for (const json& point : object.at("steps"))
    node.steps.points.push_back({number(point, "batch", 1), number(point, "seconds", 1e-9)});
  for (size_t i = 1; i < node.steps.points.size(); ++i)
    if (node.steps.points[i].batch <= node.steps.points[i - 1].batch)
      throw json::type_error::create(302, "steps do not rise in batch", &object);
  if (node.steps.points.empty()) throw json::type_error::create(302, "steps is empty", &object);
  node.parameter_bytes = number(object, "parameter_bytes");
  node.backward_share = share(object, "backward_share");
  node.spread = share(object, "spread");
  node.largest_batch = number(object, "largest_batch");
  return node;
}

json rates_json(const DataRates& rates) {
  return {{"disk_write_bytes_per_second", rates.disk_write},
          {"disk_read_bytes_per_second", rates.disk_read},
          {"source_bytes_per_second", rates.source},
          {"dataset_bytes", rates.dataset_bytes}};
}

DataRates read_rates(const json& object) {
  return {number(object, "disk_write_bytes_per_second"), number(object, "disk_read_bytes_per_second"),
          number(object, "source_bytes_per_second"), number(object, "dataset_bytes")};
}

MeasuredProfile read_profile(const json& object) {
  MeasuredProfile profile;
  profile.family = object.at("family").get<std::string>();
  profile.work = object.value("work", "");
  profile.batch = optional_number(object, "batch");
  profile.machine = object.at("machine").get<std::string>();
  profile.cores = number(object, "cores");
  profile.node = read_node(object.at("node"));
  profile.flop_per_image = number(object, "flop_per_image");
  profile.memory_bytes = number(object, "memory_bytes");
  profile.memory_bytes_per_image = number(object, "memory_bytes_per_image");
  if (object.contains("rates")) profile.rates = read_rates(object.at("rates"));
  profile.convolved = optional_number(object, "convolved");
  profile.core_peak = optional_number(object, "core_peak");
  profile.busy_ratio = optional_number(object, "busy_ratio");
  profile.taken_at = object.at("taken_at").get<std::string>();
  profile.version = object.at("version").get<std::string>();
  return profile;
}

json run_json(const TrainingRun& run) {
  return {{"digest", run.digest},
          {"family", run.family},
          {"work", run.work},
          {"machine", run.machine},
          {"exchange", run.exchange},
          {"workers", run.workers},
          {"servers", run.servers},
          {"batch", run.batch},
          {"latency_ms", run.latency_ms},
          {"bits_per_second", run.bits_per_second},
          {"sent_bytes", run.sent_bytes},
          {"received_bytes", run.received_bytes},
          {"measured_bits_per_second", run.measured_bits_per_second},
          {"epochs", run.epochs},
          {"images", run.images},
          {"analytic_seconds", run.analytic_seconds},
          {"seconds", run.seconds},
          {"cost", run.cost},
          {"currency", run.currency},
          {"time", run.time},
          {"version", run.version}};
}

TrainingRun read_run(const json& object) {
  TrainingRun run;
  run.digest = object.at("digest").get<std::string>();
  run.family = object.at("family").get<std::string>();
  run.work = object.value("work", "");
  run.machine = object.at("machine").get<std::string>();
  run.exchange = object.at("exchange").get<std::string>();
  run.workers = count(object, "workers", 1);
  run.servers = count(object, "servers", 0);
  run.batch = number(object, "batch", 1);
  run.latency_ms = number(object, "latency_ms");
  run.bits_per_second = number(object, "bits_per_second");
  run.sent_bytes = optional_number(object, "sent_bytes");
  run.received_bytes = optional_number(object, "received_bytes");
  run.measured_bits_per_second = optional_number(object, "measured_bits_per_second");
  run.epochs = number(object, "epochs");
  run.images = number(object, "images");
  run.analytic_seconds = number(object, "analytic_seconds");
  run.seconds = number(object, "seconds");
  run.cost = number(object, "cost");
  run.currency = object.at("currency").get<std::string>();
  run.time = number(object, "time");
  run.version = object.at("version").get<std::string>();
  return run;
}

json study_json(const StudyRow& row) {
  return {{"study", row.study},
          {"machine", row.machine},
          {"machines", row.machines},
          {"batch", row.batch},
          {"latency_ms", row.latency_ms},
          {"seconds", row.seconds ? json(*row.seconds) : json()},
          {"where", row.where}};
}

StudyRow read_study(const json& object) {
  StudyRow row;
  row.study = object.at("study").get<std::string>();
  row.machine = object.at("machine").get<std::string>();
  row.machines = count(object, "machines", 1);
  row.batch = count(object, "batch", 1);
  row.latency_ms = number(object, "latency_ms");
  if (!object.at("seconds").is_null()) row.seconds = number(object, "seconds", 1e-9);
  row.where = object.at("where").get<std::string>();
  return row;
}

constexpr ProgramRun::Kind kKinds[] = {ProgramRun::Kind::Ended, ProgramRun::Kind::Extrapolated,
                                       ProgramRun::Kind::AtLeast};

json program_json(const ProgramRun& run) {
  return {
      {"family", run.family},  {"work", run.work},   {"machine", run.machine},      {"cores", run.cores},
      {"gpus", run.gpus},      {"nodes", run.nodes}, {"kind", kind_name(run.kind)}, {"seconds", run.seconds},
      {"low", run.low},        {"high", run.high},   {"progress", run.progress},    {"time", run.time},
      {"version", run.version}};
}

ProgramRun read_program(const json& object) {
  ProgramRun run;
  run.family = object.at("family").get<std::string>();
  run.work = object.at("work").get<std::string>();
  run.machine = object.at("machine").get<std::string>();
  run.cores = number(object, "cores");
  run.gpus = number(object, "gpus");
  run.nodes = count(object, "nodes", 1);
  const std::string name = object.at("kind").get<std::string>();
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](ProgramRun::Kind one) { return kind_name(one) == name; });
  if (kind == std::end(kKinds))
    throw json::type_error::create(302, "kind '" + name + "' is unknown", &object);
  run.kind = *kind;
  run.seconds = number(object, "seconds");
  run.low = number(object, "low");
  run.high = number(object, "high");
  run.progress = object.at("progress").get<std::string>();
  run.time = number(object, "time");
  run.version = object.at("version").get<std::string>();
  return run;
}

}  // namespace

std::string_view kind_name(ProgramRun::Kind kind) {
  switch (kind) {
    case ProgramRun::Kind::Ended:
      return "ended";
    case ProgramRun::Kind::Extrapolated:
      return "extrapolated";
    case ProgramRun::Kind::AtLeast:
      return "at least";
  }
  return "ended";
}

json to_json(const MeasuredProfile& profile) {
  return {{"family", profile.family},
          {"work", profile.work},
          {"batch", profile.batch},
          {"machine", profile.machine},
          {"cores", profile.cores},
          {"node", node_json(profile.node)},
          {"flop_per_image", profile.flop_per_image},
          {"memory_bytes", profile.memory_bytes},
          {"memory_bytes_per_image", profile.memory_bytes_per_image},
          {"rates", rates_json(profile.rates)},
          {"convolved", profile.convolved},
          {"core_peak", profile.core_peak},
          {"busy_ratio", profile.busy_ratio},
          {"taken_at", profile.taken_at},
          {"version", profile.version}};
}

Result<MeasuredProfile> profile_from_json(const json& object) {
  try {
    return read_profile(object);
  } catch (const json::exception& error) {
    return Status(Code::Invalid, std::string("no profile: ") + error.what());
  }
}

json to_json(const Calibration& calibration) {
  json profiles = json::array(), runs = json::array(), studies = json::array();
  for (const MeasuredProfile& profile : calibration.profiles) profiles.push_back(to_json(profile));
  for (const TrainingRun& run : calibration.runs) runs.push_back(run_json(run));
  for (const StudyRow& row : calibration.studies) studies.push_back(study_json(row));
  json all = {{"calibration", kVersion}, {"profiles", profiles}, {"runs", runs}, {"studies", studies}};
  // An earlier radlc neither wrote nor reads them.
  for (const ProgramRun& run : calibration.programs) all["programs"].push_back(program_json(run));
  return all;
}

Result<Calibration> calibration_from_json(const json& object) {
  try {
    if (const json& version = object.at("calibration"); version != kVersion)
      return Status(Code::Invalid, "a calibration of version " + version.dump() + "; this radlc reads " +
                                       std::to_string(kVersion));
    Calibration calibration;
    for (const json& one : object.at("profiles")) calibration.profiles.push_back(read_profile(one));
    for (const json& one : object.at("runs")) calibration.runs.push_back(read_run(one));
    for (const json& one : object.at("studies")) calibration.studies.push_back(read_study(one));
    if (object.contains("programs"))
      for (const json& one : object.at("programs")) calibration.programs.push_back(read_program(one));
    return calibration;
  } catch (const json::exception& error) {
    return Status(Code::Invalid, std::string("no calibration: ") + error.what());
  }
}

std::string digest_of(const Calibration& calibration) {
  return sha256_hex(to_json(calibration).dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace radl::foresight
