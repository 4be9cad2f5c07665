// `radlc test`: the farms of a file, each played many times on machines that fail.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/stop.h"
#include "compiler/ir/ir.h"

namespace radl::cli::test_command {

struct FarmTrials {
  std::string step;
  size_t tasks = 0, of = 0;  // played, and of the farm
  size_t runs = 0, failed = 0;
  size_t predicted = 0, within = 0;  // runs whose cost the plan predicts; of them within its band
  std::map<std::string, size_t> happened;
  std::vector<std::pair<uint64_t, std::string>> failures;  // the first ones: seed, what was wrong
};

// `program`: with all nodes that the file allows. A farm that cannot run as it is (its plan says why) is left
// out.
std::vector<FarmTrials> try_farms(const ir::Program& program, size_t runs, uint64_t seed, bool faults,
                                  const Stop& stop);
nlohmann::json to_json(const FarmTrials& trials);
std::string text_of(const FarmTrials& trials);

}  // namespace radl::cli::test_command
