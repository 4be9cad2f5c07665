// Values of inputs that were given from outside.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/json_depth.h"
#include "common/user_text.h"
#include "compiler/eval/inputs.h"

namespace radl::passes {

GivenInputs::GivenInputs(const CompileOptions& options, Diagnostics& diagnostics) {
  for (const auto& [variable, text] : options.environment) {
    if (variable.starts_with("RADL_INPUT_")) given_[variable.substr(11)] = Given{text, {}, variable};
  }
  for (const std::string& path : options.input_files) read_file(path, diagnostics);
  for (const auto& [name, text] : options.inputs) given_[name] = Given{text, {}, "--input"};
}

void GivenInputs::read_file(const std::string& path, Diagnostics& diagnostics) {
  auto wrong = [&](std::string message) {
    unread_ = true;
    diagnostics.report(DiagCode::InputFile, {}, fmt::format("{}: {}", path, message));
  };
  auto content = read_user_text(path, size_t{16} << 20);
  if (!content.ok()) return wrong(content.status().message());
  size_t start = content->find_first_not_of(" \t\r\n");
  if (start != content->npos && (*content)[start] == '{') {
    if (json_shape(*content).depth > kMaxInputDepth)
      return wrong(fmt::format("this JSON is nested deeper than {}", kMaxInputDepth));
    ir::Json json = ir::Json::parse(*content, nullptr, false);
    if (!json.is_object()) return wrong("this is not a JSON object");
    for (const auto& [name, value] : json.items()) {
      // Who wrote the file, and the like: an input's name has no `$`.
      if (!name.starts_with("$")) given_[name] = Given{std::nullopt, value, path};
    }
    return;
  }
  int line = 0;
  for (size_t from = 0; from < content->size();) {
    size_t to = std::min(content->find('\n', from), content->size());
    std::string_view text = std::string_view(*content).substr(from, to - from);
    from = to + 1;
    line++;
    auto trim = [](std::string_view piece) {
      size_t first = piece.find_first_not_of(" \t\r"), last = piece.find_last_not_of(" \t\r");
      return first == piece.npos ? std::string_view() : piece.substr(first, last - first + 1);
    };
    text = trim(text);
    if (text.empty() || text.front() == '#') continue;
    size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) {
      wrong(fmt::format("line {} is not NAME = VALUE", line));
      continue;
    }
    std::string_view value = trim(text.substr(equals + 1));
    if (value.size() >= 2 && (value.front() == '\'' || value.front() == '"') && value.back() == value.front())
      value = value.substr(1, value.size() - 2);
    given_[std::string(trim(text.substr(0, equals)))] = Given{std::string(value), {}, path};
  }
}

const GivenInputs::Given* GivenInputs::find(std::string_view name) const {
  auto found = given_.find(name);
  return found == given_.end() ? nullptr : &found->second;
}

std::vector<std::pair<std::string, std::string>> GivenInputs::explicit_names() const {
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [name, given] : given_) {
    if (!given.source.starts_with("RADL_INPUT_")) names.emplace_back(name, given.source);
  }
  return names;
}

}  // namespace radl::passes
