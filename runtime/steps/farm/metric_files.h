// Metrics that trials write to files. The agent sends new data of these files piece by piece (agent.h).
//
// Each JSON line is a report. TensorBoard's event files have a record per scalar: the search's metric ends a
// report, which contains all scalars since the previous one.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/status.h"

namespace radl::farm {

using Json = nlohmann::json;

class MetricFiles {
 public:
  // `metric`: the search's.
  explicit MetricFiles(std::string metric) : metric_(std::move(metric)) {}
  // The reports completed by a piece, as JSON texts. `attempt`: its ID. `piece`: "KEY OFFSET BASE64", where
  // KEY identifies the file and begins with "e" for event files. Corrupt: the file is damaged; the rest of it
  // is skipped.
  Result<std::vector<std::string>> take(const std::string& attempt, const std::string& piece);
  // At the end of an attempt: data after its last report, or "". Forgets its files.
  std::string rest(const std::string& attempt);
  void clear() { files_.clear(); }

 private:
  struct File {
    uint64_t size = 0;  // received bytes
    std::string left;   // incomplete end of these
    bool damaged = false;
    Json scalars = Json::object();  // since the last report
  };
  Status take_events(File& file, std::vector<std::string>& reports);

  std::string metric_;
  std::map<std::string, std::map<std::string, File>> files_;  // by attempt and key
};

}  // namespace radl::farm
