// Suggests the intended name for a misspelled or unknown one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace radl {

// Returns the nearest name (text.h). If none is near: the full form of a common abbreviation ("learning_rate"
// for "lr"), or a name that contains `name` as a word between '_', '.' and '-' ("test_accuracy" for
// "accuracy"); of several, the one that is a prefix of all others. "": no suggestion.
std::string suggestion(std::string_view name, const std::vector<std::string>& names);
// "it has a, b": lists up to ten names; beyond that the first ones and the total.
std::string names_it_has(std::vector<std::string> names);

}  // namespace radl
