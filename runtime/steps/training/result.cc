#include "runtime/steps/training/result.h"

#include <filesystem>
#include <vector>

#include "common/digest.h"
#include "common/files.h"
#include "common/json_values.h"
#include "runtime/steps/training/result_folder.h"

namespace radl::training {
namespace {

// The engine's report, or a short one if there is none.
Status write_report(ResultFolder& folder, const Json& output, const RunFacts& facts) {
  Json report;
  if (auto text = read_file(folder.path() + "/model/report.json", size_t{64} << 20); text.ok())
    report = Json::parse(*text, nullptr, false);
  if (!report.is_object()) report = {{"output", output}, {"finished", facts.finished}};
  Json apply = {{"phases", facts.phases}};
  if (facts.first_step) apply["first_step_seconds"] = *facts.first_step;
  report["apply"] = apply;
  return folder.write("report.json", report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

// Parts of files that a run was fetching when it was killed: "NAME.tmp-" and eight hexadecimal digits.
void remove_parts(const std::string& result) {
  std::error_code error;
  std::vector<std::filesystem::path> parts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(result, error)) {
    const std::string name = entry.path().filename().string();
    const std::string top = entry.path().lexically_relative(result).begin()->string();
    if (top != "model" && top != "events" && !top.starts_with("report.json.")) continue;
    const size_t mark = name.rfind(".tmp-");
    if (mark != std::string::npos && name.size() - mark == 13 &&
        name.find_first_not_of("0123456789abcdef", mark + 5) == std::string::npos &&
        entry.is_regular_file(error))
      parts.push_back(entry.path());
  }
  for (const auto& part : parts) std::filesystem::remove(part, error);
}

}  // namespace

Result<Json> bring_result(const std::string& result, const std::string& shown, const ResultOwner& owner,
                          Member& chief, const RunFacts& facts,
                          const std::function<void(const std::string&)>& say) {
  if (result.empty()) return invalid("no folder for the result");
  // Data for a bucket is collected in a folder of radlc.
  auto opened = result == shown ? ResultFolder::open(result, owner) : ResultFolder::own(result);
  if (!opened) return opened.status();
  ResultFolder& folder = *opened;
  remove_parts(result);
  auto model = folder.take(chief, "model", "model");
  if (!model) return std::move(model).status();
  if (model->names.empty()) return Status(Code::Corrupt, "the training ended, but left no model");
  auto events = folder.take(chief, kEventsOfResult, kEventsOfResult);
  if (!events) return std::move(events).status();
  std::error_code error;
  std::string weights = "/model/model.safetensors";
  if (!std::filesystem::exists(result + weights, error)) weights = "/model";
  auto digest = sha256_file(result + weights);
  auto seconds = facts.phases.find("training");
  const double accuracy = json::number_of(facts.finished, "test_accuracy");
  Json output = {{"model_path", shown + weights},
                 {"model_sha256", digest ? Json(*digest) : Json()},
                 {"test_accuracy", accuracy},
                 {"test_accuracy_tta", json::number_of(facts.finished, "test_accuracy_tta", accuracy)},
                 {"images_per_second", json::number_of(facts.finished, "images_per_second")},
                 {"seconds", json::number_of(facts.finished, "seconds",
                                             seconds == facts.phases.end() ? 0 : seconds->second)},
                 {"events_path", shown + "/events"},
                 {"report_path", shown + "/report.json"},
                 {"phases", facts.phases}};
  if (!facts.exchange.empty()) output["exchange"] = facts.exchange;
  if (!facts.dataset_note.empty()) output["dataset_note"] = facts.dataset_note;
  if (facts.first_step) output["first_step_seconds"] = *facts.first_step;
  Status written = write_report(folder, output, facts);
  if (written.ok()) written = folder.close(kEventsOfResult);
  if (!written.ok()) return written;
  for (const std::string& moved : folder.moved()) say(moved);
  return output;
}

}  // namespace radl::training
