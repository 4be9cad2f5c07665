#include "compiler/resources/string_form.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace radl::ir {
namespace {

bool is_visible(char c) { return static_cast<unsigned char>(c) > ' ' && c != '\x7f'; }
bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

bool is_word(std::string_view text) {
  return !text.empty() && !text.starts_with('-') && std::all_of(text.begin(), text.end(), is_visible);
}

bool is_printable(std::string_view text) {
  return !text.empty() && !text.starts_with('-') &&
         std::all_of(text.begin(), text.end(), [](char c) { return c == ' ' || is_visible(c); });
}

// "user:group" is a word of chown's, which would never be found as it was asked for.
bool is_account(std::string_view text) { return is_word(text) && text.find_first_of(":,/") == text.npos; }

// Of any scheme: a node's curl reads file:// and ftp:// as well.
bool is_url(std::string_view text) {
  const size_t end = text.find("://");
  return end != text.npos && end > 0 && end + 3 < text.size() && is_word(text) &&
         std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end),
                     [](char c) { return is_alphanumeric(c) || c == '+' || c == '.' || c == '-'; });
}

bool is_host(std::string_view text) {
  return !text.empty() && !text.starts_with('-') && std::all_of(text.begin(), text.end(), [](char c) {
    return is_alphanumeric(c) || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view(".-_:%").find(c) != std::string_view::npos;
  });
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return std::isxdigit(static_cast<unsigned char>(c)) != 0;
         });
}

}  // namespace

bool has_form(StringForm form, std::string_view text) {
  switch (form) {
    case StringForm::Any:
      return true;
    case StringForm::Account:
      return is_account(text);
    case StringForm::Word:
      return is_word(text);
    case StringForm::Printable:
      return is_printable(text);
    case StringForm::Url:
      return is_url(text);
    case StringForm::Host:
      return is_host(text);
    case StringForm::Sha256:
      return is_sha256(text);
  }
  return false;
}

std::string_view form_name(StringForm form) {
  switch (form) {
    case StringForm::Any:
      return "";
    case StringForm::Account:
      return "a name or number of one account";
    case StringForm::Word:
      return "a word without spaces that does not begin with '-'";
    case StringForm::Printable:
      return "one line that does not begin with '-'";
    case StringForm::Url:
      return "an address with its scheme, such as https://HOST/FILE";
    case StringForm::Host:
      return "a host name or an address";
    case StringForm::Sha256:
      return "64 hexadecimal digits";
  }
  return "";
}

}  // namespace radl::ir
