// Applies the published algorithms (runtime/foresight/fc2.h, anwar.h) to the data of `radlc recommend`.
#pragma once

#include <optional>
#include <string>

#include "runtime/cli/recommend_view.h"

namespace radl::cli {

struct PublishedChoice {
  std::string text;  // starts with the answer
  Json json;
  // The cluster as the model sees it, as a recommendation without limits: its exchanges are the candidates,
  // and `made.choice.chosen` is the file's own one, if among them. Empty: the catalogue lacks the machine.
  foresight::RecommendInput input;
  foresight::Recommendation made;
};

// The answer is always within --workers and --max-workers. NotFound: nothing fits. Invalid: a required input
// of the algorithm is missing.
Result<PublishedChoice> published_choice(const RecommendFlags& flags, const RecommendAnswer& answer,
                                         const std::string& algorithm);
// One line each, with the model's estimates of time and cost.
std::string compare_text(const RecommendFlags& flags, const RecommendAnswer& answer);

}  // namespace radl::cli
