// The published algorithms (runtime/foresight/fc2.h, anwar.h) asked with what `radlc recommend` knows.
#pragma once

#include <optional>
#include <string>

#include "runtime/cli/recommend_view.h"

namespace radl::cli {

struct PublishedChoice {
  std::string text;  // the answer's line first
  Json json;
  // The cluster as the model sees it, alone in a recommendation without limits: its exchanges are candidates,
  // `made.choice.chosen` is the file's own one if it is among them. Empty: the catalogue has no such machine.
  foresight::RecommendInput input;
  foresight::Recommendation made;
};

// The answer is always within --workers and --max-workers. NotFound: nothing fits. Invalid: what the
// algorithm asks for is missing.
Result<PublishedChoice> published_choice(const RecommendFlags& flags, const RecommendAnswer& answer,
                                         const std::string& algorithm);
// A line each, with what the model thinks that it takes and costs.
std::string compare_text(const RecommendFlags& flags, const RecommendAnswer& answer);

}  // namespace radl::cli
