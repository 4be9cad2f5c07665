// What a property's string may look like beyond being a string. Quoting keeps a value from being shell text;
// a program of the node would still take one for an option, for two names, or for something other than it is.
// The checker refuses such values in the file, the runtime those that were not known before.
#pragma once

#include <string_view>

namespace radl::ir {

enum class StringForm {
  Any,
  Account,    // name or number of a user or group, as chown and useradd take one
  Word,       // without spaces, and no option
  Printable,  // on one line, and no option: shares have spaces in their names
  Url,        // with its scheme
  Host,       // name or address, IPv6 with a zone as well
  Sha256,     // 64 hexadecimal digits
};

bool has_form(StringForm form, std::string_view text);
// "64 hexadecimal digits"; empty for Any.
std::string_view form_name(StringForm form);

}  // namespace radl::ir
