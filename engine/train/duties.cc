#include "engine/train/duties.h"

#include <nlohmann/json.hpp>

namespace radl::engine {

SharedDuties duties_of(const Job& job) {
  return {!job.directories.model.empty(), !job.directories.checkpoint.empty(),
          !job.directories.events.empty(), !job.report.empty(), ""};
}

std::string write_duties(const SharedDuties& duties) {
  return nlohmann::json({{"model", duties.model},
                         {"checkpoint", duties.checkpoint},
                         {"events", duties.events},
                         {"report", duties.report},
                         {"history", duties.history}})
      .dump();
}

SharedDuties read_duties(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  SharedDuties out;
  if (!json.is_object()) return out;
  const auto says = [&json](const char* key) { return json.contains(key) && json[key] == true; };
  out = {says("model"), says("checkpoint"), says("events"), says("report"), ""};
  if (json.contains("history") && json["history"].is_string()) out.history = json["history"];
  return out;
}

bool can_take_over(const Job& job, const std::string& duties) {
  if (duties.empty()) return false;
  const SharedDuties own = duties_of(job), needed = read_duties(duties);
  return (own.model || !needed.model) && (own.checkpoint || !needed.checkpoint) &&
         (own.events || !needed.events) && (own.report || !needed.report);
}

}  // namespace radl::engine
