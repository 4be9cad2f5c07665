// Renders the answer of `radlc recommend` as text and JSON.
#pragma once

#include <string>

#include "runtime/cli/recommend_flags.h"

namespace radl::cli {

// Candidate names for --explain: "4xm5.xlarge/ring", "2xm5.xlarge/async-server+m5.large".
std::string candidate_name(const foresight::RecommendInput& input, const foresight::Option& option);

// The training as run by this option.
foresight::TrainingFacts facts_of(const foresight::RecommendInput& input, const foresight::Option& option);

struct RecommendAnswer {
  const RecommendQuestion& question;
  const foresight::Recommendation& made;
  std::string words = {};  // words that name the project in a suggested command line
};

// Starts with the answer, then the reason, the defaults in use and, if it is outside of the measurements, the
// command that measures it. Then the answer and at most ten alternatives, best by the objective first, with
// the frontier marked. `all`: every candidate, including rejected ones.
std::string recommend_text(const RecommendAnswer& answer, const foresight::WorkModel& model, bool all);
Json recommend_json(const RecommendAnswer& answer, const foresight::WorkModel& model);
// The reason for the choice: "least time within 2 USD/h; 12 candidates were within the limits".
std::string reason_text(const RecommendAnswer& answer);
// If no candidate is within the limits: the smallest workable limits.
std::string least_text(const RecommendAnswer& answer);
// Breakdown of a candidate's step, every number with its source. NotFound: no candidate has that name.
Result<std::string> explain_text(const RecommendAnswer& answer, const foresight::WorkModel& model,
                                 const std::string& name);

std::string banded_text(double value, double low, double high);
std::string cost_text(int64_t micros, const std::string& currency);

}  // namespace radl::cli
