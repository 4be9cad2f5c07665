// A quick look at YAML of the kind that most recipes are: block lists and maps of words, with plain scalars
// and strings in quotes on one line.
#pragma once

#include <string_view>

namespace radl::sema {

// True only for text that is valid YAML and that no check of yaml_fault (check.h) has anything to say about;
// false says nothing. A tenth of the time that a YAML parser takes.
bool is_plain_yaml(std::string_view text);

}  // namespace radl::sema
