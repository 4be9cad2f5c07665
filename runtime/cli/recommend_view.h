// What `radlc recommend` answers, as text and as JSON.
#pragma once

#include <string>

#include "runtime/cli/recommend_question.h"

namespace radl::cli {

// "4xm5.xlarge/ring", "2xm5.xlarge/async-server+m5.large": what --explain takes.
std::string candidate_name(const foresight::RecommendInput& input, const foresight::Option& option);

// The training as this option runs it.
foresight::TrainingFacts facts_of(const foresight::RecommendInput& input, const foresight::Option& option);

struct RecommendAnswer {
  const RecommendQuestion& question;
  const foresight::Recommendation& made;
  std::string words = {};  // of the project, for a command line in a hint
};

// The answer in the first line, then why, the defaults that hold, and, if it is outside of what was measured,
// the command that measures it. Then it and at most ten alternatives, best by the objective first, the
// frontier marked; `all`: every candidate, also rejected ones, one by one.
std::string recommend_text(const RecommendAnswer& answer, const foresight::WorkModel& model, bool all);
Json recommend_json(const RecommendAnswer& answer, const foresight::WorkModel& model);
// Why that one: "least time within 2 USD/h; 12 candidates were within the limits".
std::string reason_text(const RecommendAnswer& answer);
// Where nothing is within the limits: what would be.
std::string least_text(const RecommendAnswer& answer);
// The step's anatomy of one candidate, every number with its source. NotFound: there is none of that name.
Result<std::string> explain_text(const RecommendAnswer& answer, const foresight::WorkModel& model,
                                 const std::string& name);

std::string banded_text(double value, double low, double high);
std::string cost_text(int64_t micros, const std::string& currency);

}  // namespace radl::cli
