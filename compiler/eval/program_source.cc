#include "compiler/eval/program_source.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files.h"
#include "common/own_folders.h"

namespace radl::passes {
namespace {

namespace fs = std::filesystem;
using Complaint = std::optional<SourceComplaint>;

constexpr std::string_view kArchives[] = {".tar", ".tar.gz",  ".tgz",  ".tar.xz",
                                          ".txz", ".tar.bz2", ".tbz2", ".zip"};
constexpr size_t kLongestIgnoreFile = size_t{1} << 20;  // bytes

Complaint no_file(const Status& why) { return {{"source", DiagCode::LocalFile, why.text()}}; }
Complaint wrong(const char* property, std::string message) {
  return {{property, DiagCode::PropertyValue, std::move(message)}};
}

Complaint ignore_file(const std::string& path, std::vector<std::string>& patterns) {
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  auto text = read_file(path, kLongestIgnoreFile);
  if (!text) return no_file(text.status());
  patterns = ignore_patterns_in(*text);
  if (auto rules = IgnoreRules::of(patterns); !rules)
    return wrong("source", fmt::format("{}: {}", path, rules.status().message()));
  return {};
}

Complaint excluded(const ir::Json& given, std::vector<std::string>& patterns) {
  for (const ir::Json& each : given) {
    if (!each.is_string()) return wrong("exclude", "'exclude' is not known before apply");
    const std::string pattern = each.get<std::string>();
    const std::vector<std::string> read = ignore_patterns_in(pattern);
    if (read.size() != 1)
      return wrong("exclude", fmt::format("'{}' is not a pattern as in .gitignore", pattern));
    if (auto rules = IgnoreRules::of(read); !rules) return wrong("exclude", rules.status().message());
    patterns.push_back(read.front());
  }
  return {};
}

Complaint folder(const std::string& path, const ir::Json& exclude, LocalFiles& files, ProgramSource& into) {
  std::vector<std::string> patterns;
  if (auto bad = ignore_file(path + "/" + std::string(kIgnoreFile), patterns)) return bad;
  if (auto bad = excluded(exclude, patterns)) return bad;
  auto rules = IgnoreRules::of(patterns);
  if (!rules) return wrong("exclude", rules.status().message());
  into.ignored = std::move(*rules);
  const auto& sum = files.sources(path, patterns, into.ignored);
  if (!sum) return no_file(sum.status());
  ir::Json sent = {{"files", sum->files}, {"bytes", sum->bytes}};
  if (!patterns.empty()) {
    sent["exclude"] = std::move(patterns);
    sent["excluded_files"] = sum->ignored_files;
    sent["excluded_folders"] = sum->ignored_folders;
  }
  into.made = {{"kind", "folder"}, {"path", path}, {"sha256", sum->digest}, {"sent", std::move(sent)}};
  return {};
}

}  // namespace

Complaint program_source(const ir::Json& given, LocalFiles& files, ProgramSource& into) {
  auto found = given.find("source");
  const std::string path =
      found != given.end() && found->is_string() ? found->get<std::string>() : std::string();
  const ir::Json exclude = given.value("exclude", ir::Json::array());
  const bool git = path.starts_with("git::");
  std::error_code error;
  if (!git && fs::is_directory(path, error)) return folder(path, exclude, files, into);
  if (!exclude.empty())
    return wrong("exclude", "'exclude' leaves files out of a folder, and 'source' is not a folder");
  if (path.empty()) return {};
  if (git) {
    const size_t at = path.rfind('@');
    into.made = {{"kind", "git"}, {"url", path.substr(5, at - 5)}, {"commit", path.substr(at + 1)}};
    return {};
  }
  auto digest = files.digest(path);
  if (!digest) return no_file(digest.status());
  std::string kind = path.ends_with(".whl") ? "wheel" : "file";
  for (std::string_view suffix : kArchives) {
    if (kind == "file" && path.ends_with(suffix)) kind = "archive";
  }
  into.made = {{"kind", kind}, {"path", path}, {"sha256", *digest}};
  return {};
}

}  // namespace radl::passes
