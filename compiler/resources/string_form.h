// Restrictions on a property's string. Quoting keeps a value out of shell syntax, but a program on the node
// could still mistake it for an option or for two names. The checker rejects such values in the file; the
// runtime rejects those that become known later.
#pragma once

#include <string_view>

namespace radl::ir {

enum class StringForm {
  Any,
  Account,    // user or group, by name or number, as accepted by chown and useradd
  Word,       // no spaces; not an option
  Printable,  // one line; not an option; share names may contain spaces
  Url,        // with its scheme
  Host,       // name or address; IPv6 may have a zone
  Sha256,     // 64 hexadecimal digits
};

bool has_form(StringForm form, std::string_view text);
// "64 hexadecimal digits"; empty for Any.
std::string_view form_name(StringForm form);

}  // namespace radl::ir
