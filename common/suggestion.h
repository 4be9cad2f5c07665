// What somebody most likely meant who wrote a name that does not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace radl {

// The nearest name (text.h). If none is near: what the field usually abbreviates ("learning_rate" for "lr"),
// or the one that has `name` among the words that '_', '.' and '-' join ("test_accuracy" for "accuracy"); of
// several, the one that all others begin with. "": nothing fits.
std::string suggestion(std::string_view name, const std::vector<std::string>& names);
// "it has a, b": of more than ten the first ones and their number.
std::string names_it_has(std::vector<std::string> names);

}  // namespace radl
