#include "engine/train/outputs.h"

#include <nlohmann/json.hpp>

#include "common/files.h"
#include "common/json_values.h"
#include "common/new_file.h"
#include "engine/export/bundle.h"
#include "engine/export/onnx.h"

namespace radl::engine {
namespace {

using Json = nlohmann::ordered_json;

exporter::Bundle bundle_of(const Job& job, const Setup& setup) {
  exporter::Bundle out;
  out.folder = job.directories.model;
  out.name = job.model.find('\n') == std::string::npos ? job.model : "custom";
  out.description = setup.network->description();
  out.input = setup.network->input();
  out.classes = setup.network->classes();
  out.mean = setup.data.normalization.mean;
  out.deviation = setup.data.normalization.deviation;
  out.class_names = setup.data.train->class_names();
  return out;
}

Status write_onnx(const std::string& path, const Setup& setup) {
  exporter::OnnxOptions options;
  options.mean = setup.data.normalization.mean;
  options.deviation = setup.data.normalization.deviation;
  options.class_names = setup.data.train->class_names();
  return exporter::write_onnx(path, setup.network->graph(), setup.network->parameters(),
                              setup.network->statistics(), options);
}

Json metrics_json(const RunSummary& s, const Evaluation& e) {
  Json out = {{"test_accuracy", s.test_accuracy},
              {"test_loss", s.test_loss},
              {"test_images", e.images},
              {"train_accuracy", s.train_accuracy},
              {"train_loss", s.train_loss}};
  if (s.test_accuracy_tta > 0) out["test_accuracy_tta"] = s.test_accuracy_tta;
  out.update(Json{{"steps", s.steps},
                  {"epochs", s.epochs},
                  {"seconds", s.seconds},
                  {"train_seconds", s.train_seconds},
                  {"images_per_second", s.images_per_second},
                  {"data_wait_seconds", s.data_wait_seconds},
                  {"checkpoint_stall_seconds", s.checkpoint_stall_seconds},
                  {"checkpoint_writing_seconds", s.checkpoint_writing_seconds},
                  {"skipped_images", s.skipped},
                  {"resumed_from", s.resumed_from}});
  return out;
}

}  // namespace

Status write_model(const Job& job, Setup& setup, const RunSummary& summary, const Evaluation& evaluation) {
  const std::string& folder = job.directories.model;
  if (Status made = make_directories(folder); !made.ok()) return made;
  if (Status w = exporter::write_bundle(folder, bundle_of(job, setup), *setup.network); !w.ok()) return w;
  if (Status w = write_onnx(folder + "/model.onnx", setup); !w.ok()) return w;
  Json metrics = metrics_json(summary, evaluation);
  json::spell_non_finite(metrics);
  return write_user_file(folder + "/metrics.json", metrics.dump(2) + "\n");
}

std::string report_json(const Job& job, const Setup& setup, const ReportParts& parts) {
  Json curve = Json::array(), peers = Json::array(), confusion = Json::array(), notes = Json::object();
  for (const CurvePoint& p : parts.history.curve) {
    curve.push_back({{"epoch", p.epoch},
                     {"step", p.step},
                     {"seconds", p.seconds},
                     {"train_loss", p.train_loss},
                     {"train_accuracy", p.train_accuracy},
                     {"test_loss", p.test_loss},
                     {"test_accuracy", p.test_accuracy},
                     {"rate", p.rate}});
  }
  for (const PeerEvent& e : parts.history.peers)
    peers.push_back({{"seconds", e.seconds}, {"event", e.kind}, {"peer", e.peer}, {"message", e.text}});
  size_t classes = static_cast<size_t>(setup.network->classes());
  for (size_t row = 0; row < classes; ++row) {
    auto begin = parts.evaluation.confusion.begin() + static_cast<long>(row * classes);
    confusion.push_back(std::vector<uint32_t>(begin, begin + static_cast<long>(classes)));
  }
  for (const auto& [key, value] : parts.notes) notes[key] = value;
  Json out = {{"report", 1},
              {"task", parts.summary.task},
              {"metrics", metrics_json(parts.summary, parts.evaluation)},
              {"model",
               {{"name", job.model.substr(0, job.model.find('\n'))},
                {"parameters", setup.network->parameters().size()},
                {"memory_bytes", setup.network->memory_bytes()}}},
              {"data",
               {{"name", setup.data.name},
                {"note", setup.data.note},
                {"train", setup.data.train->size()},
                {"test", setup.data.test->size()}}},
              {"precision", setup.precision == Precision::Bf16 ? "bf16" : "fp32"},
              {"runs", parts.history.runs},
              {"curve", curve},
              {"class_names", setup.data.train->class_names()},
              {"confusion", confusion},
              {"peers", peers},
              {"notes", notes},
              {"job", Json::parse(write_job(job))}};
  json::spell_non_finite(out);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace radl::engine
