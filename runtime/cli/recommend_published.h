// The published algorithms (runtime/foresight/fc2.h, anwar.h) asked with what `radlc recommend` knows.
#pragma once

#include <optional>
#include <string>

#include "runtime/cli/recommend_view.h"

namespace radl::cli {

struct PublishedChoice {
  std::string text;
  Json json;
  std::optional<size_t> candidate;  // of the recommendation, where the model has the same cluster
};

// NotFound: nothing fits. Invalid: what the algorithm asks for is missing.
Result<PublishedChoice> published_choice(const RecommendFlags& flags, const RecommendAnswer& answer,
                                         const std::string& algorithm);
// A line each, with what the model thinks that it takes and costs.
std::string compare_text(const RecommendFlags& flags, const RecommendAnswer& answer);

}  // namespace radl::cli
