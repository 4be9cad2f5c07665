#include "compiler/resources/string_form.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>

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

struct Form {
  std::string_view name;
  bool (*has)(std::string_view text);
};
constexpr Form kForms[] = {
    {"", [](std::string_view) { return true; }},
    {"a name or number of one account", is_account},
    {"a word without spaces that does not begin with '-'", is_word},
    {"one line that does not begin with '-'", is_printable},
    {"an address with its scheme, such as https://HOST/FILE", is_url},
    {"a host name or an address", is_host},
    {"64 hexadecimal digits", is_sha256},
};
static_assert(std::size(kForms) == static_cast<size_t>(StringForm::Sha256) + 1);

}  // namespace

bool has_form(StringForm form, std::string_view text) { return kForms[static_cast<size_t>(form)].has(text); }

std::string_view form_name(StringForm form) { return kForms[static_cast<size_t>(form)].name; }

}  // namespace radl::ir
