// Metrics that trials write to files. The agent sends what is new in these files piece by piece (agent.h).
//
// A line of a file of JSON lines is a report. TensorBoard's event files have a record for each scalar: the
// scalar that decides ends a report, which has all scalars since the one before.
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
  // `metric`: the one that decides.
  explicit MetricFiles(std::string metric) : metric_(std::move(metric)) {}
  // The reports that a piece completes, as text of JSON objects. `attempt`: its id. `piece`: "KEY OFFSET
  // BASE64", where KEY tells the file from others and begins with "e" for event files. Corrupt: the file is
  // damaged; the rest of it is passed over.
  Result<std::vector<std::string>> take(const std::string& attempt, const std::string& piece);
  // At the end of an attempt: what came after its last report, "" if nothing. Forgets its files.
  std::string rest(const std::string& attempt);
  void clear() { files_.clear(); }

 private:
  struct File {
    uint64_t size = 0;  // bytes that have arrived
    std::string left;   // of these, the incomplete end
    bool damaged = false;
    Json scalars = Json::object();  // since the last report
  };
  Status take_events(File& file, std::vector<std::string>& reports);

  std::string metric_;
  std::map<std::string, std::map<std::string, File>> files_;  // by attempt and key
};

}  // namespace radl::farm
