#include "common/command_line/help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>

namespace radl {
namespace {

constexpr size_t kWidth = 100;
constexpr size_t kNames = 34;  // columns of the names; descriptions fill the rest

// Breaks lines at spaces. A word that is longer than a line stays whole.
std::string wrapped(std::string_view text, size_t width) {
  std::string out;
  size_t column = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    if (column > 0 && column + 1 + word.size() > width) {
      out += '\n';
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    if (end < text.size() && text[end] == '\n') {
      out += '\n';
      column = 0;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// Options that most commands share and few runs need.
int rank(const CLI::Option* option) {
  constexpr std::string_view kLast[] = {"module-path", "auth", "parallelism", "lock-timeout", "name",
                                        "state",       "file", "no-color",    "help"};
  for (const std::string& name : option->get_lnames()) {
    auto found = std::find(std::begin(kLast), std::end(kLast), name);
    if (found != std::end(kLast)) return 1 + static_cast<int>(found - std::begin(kLast));
  }
  return 0;
}

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kNames); }

  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    std::stable_sort(options.begin(), options.end(),
                     [](const CLI::Option* a, const CLI::Option* b) { return rank(a) < rank(b); });
    return CLI::Formatter::make_group(std::move(group), is_positional, std::move(options));
  }
  // Wraps a long list of choices below itself.
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string out;
    size_t column = 0;
    for (char c : CLI::Formatter::make_option_opts(option)) {
      out += c;
      if (++column > kWidth - kNames && c == ',') {
        out += "\n      ";
        column = 0;
      }
    }
    return out;
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(option->get_description(), kWidth - kNames);
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::ostringstream out;
    CLI::detail::format_help(out, command->get_display_name(true),
                             wrapped(command->get_description(), kWidth - kNames), kNames);
    return out.str();
  }
  std::string make_footer(const CLI::App* app) const override {
    return wrapped(CLI::Formatter::make_footer(app), kWidth);
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(CLI::Formatter::make_description(app), kWidth);
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace radl
