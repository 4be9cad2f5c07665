#include "tools/findings/findings.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "common/modules/lock_file.h"
#include "common/text.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

// What the -W arguments come to.
struct Levels {
  bool all_errors = false, none = false;
  std::vector<std::pair<DiagCode, std::optional<Severity>>> codes;
};

Result<DiagCode> warning_code(std::string_view text, const std::string& argument) {
  const CodeInfo* info = find_code(text);
  if (!info) {
    std::vector<std::string> names;
    for (const CodeInfo& each : all_codes()) {
      if (each.severity == Severity::Warning) names.emplace_back(each.id);
    }
    std::string near = nearest(text, names);
    return invalid("-W" + argument + ": unknown code '" + std::string(text) + "'" +
                   (near.empty() ? "" : "; did you mean " + near + "?"));
  }
  if (info->severity == Severity::Error) {
    return invalid("-W" + argument + ": " + std::string(info->id) + " is an error and cannot be changed");
  }
  return info->code;
}

Status take(Levels& levels, const std::string& argument) {
  std::string_view text = argument;
  if (text == "error") {
    levels.all_errors = true;
    return ok_status();
  }
  if (text == "no-error") {
    levels.all_errors = false;
    return ok_status();
  }
  if (text == "none") {
    levels.none = true;
    return ok_status();
  }
  std::optional<Severity> to = Severity::Warning;
  if (text.starts_with("error=")) {
    to = Severity::Error;
    text.remove_prefix(6);
  } else if (text.starts_with("no-error=")) {
    text.remove_prefix(9);
  } else if (text.starts_with("no-")) {
    to = std::nullopt;
    text.remove_prefix(3);
  }
  auto code = warning_code(text, argument);
  if (!code.ok()) return std::move(code).status();
  levels.codes.emplace_back(*code, to);
  return ok_status();
}

void apply(const Levels& levels, Diagnostics& diagnostics) {
  diagnostics.warnings_as_errors(levels.all_errors);
  std::map<DiagCode, std::optional<Severity>> last;  // of several settings for one code
  if (levels.none) {
    for (const CodeInfo& info : all_codes()) {
      if (info.severity == Severity::Warning) last[info.code] = std::nullopt;
    }
  }
  for (const auto& [code, severity] : levels.codes) last[code] = severity;
  for (const auto& [code, severity] : last) diagnostics.set_severity(code, severity);
}

bool hidden(const fs::path& name) { return name.string().starts_with(".") || name == "node_modules"; }

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(folder, options, error), end; !error && it != end;
       it.increment(error)) {
    if (hidden(it->path().filename()) || vendored::is_vendored_folder(it->path().string())) {
      it.disable_recursion_pending();
    } else if (it->path().extension() == ".radl" && !it->is_directory(error) && !it->is_other(error)) {
      // Not a pipe, a socket or a device: to read one may never end. A link to nothing is reported as
      // unreadable.
      std::string path = it->path().lexically_normal().string();
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool names_nothing(const Diagnostic& d) {
  return d.code == DiagCode::UnknownNetwork || d.code == DiagCode::UnknownSystem ||
         d.code == DiagCode::UnknownConfigure || d.code == DiagCode::UnknownAnsibleHost;
}

bool fit_together(const FindingsReport& report, const std::vector<std::string>& files,
                  CompileOptions options) {
  bool missing = false;
  for (const auto& document : report.documents)
    for (const Diagnostic& each : document->diagnostics.all()) missing = missing || names_nothing(each);
  if (!missing) return false;
  SourceMap sources;
  Diagnostics found;
  options.inputs_may_be_missing = true;
  compile(files, options, sources, found);
  return !found.has_errors();
}

}  // namespace

Result<std::vector<std::string>> expand_paths(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path == "-" || !fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside = files_in(path);
    if (inside.empty()) return not_found("no .radl file in " + path);
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

size_t FindingsReport::errors() const {
  size_t sum = 0;
  for (const auto& document : documents) sum += document->diagnostics.errors();
  return sum;
}

size_t FindingsReport::warnings() const {
  size_t sum = 0;
  for (const auto& document : documents) sum += document->diagnostics.warnings();
  return sum;
}

Result<FindingsReport> findings_of(const FindingsRequest& request) {
  Levels levels;
  for (const std::string& argument : request.warnings) {
    if (Status status = take(levels, argument); !status.ok()) return status;
  }
  auto files = expand_paths(request.paths);
  if (!files.ok()) return std::move(files).status();
  std::vector<std::vector<std::string>> groups;
  if (request.together) {
    groups.push_back(*files);
  } else {
    for (const std::string& file : *files) groups.push_back({file});
  }
  CompileOptions options = request.compile;
  options.inputs_may_be_missing = true;
  FindingsReport report;
  std::set<std::tuple<DiagCode, std::string, uint32_t, std::string>> reported;
  for (std::vector<std::string>& group : groups) {
    auto document = std::make_unique<DocumentFindings>();
    document->paths = group;
    Diagnostics found;
    apply(levels, found);
    compile(group, options, document->sources, found);
    found.sort();
    for (const Diagnostic& each : found.all()) {
      const SourceFile* file = document->sources.find(each.span.file);
      std::string path = file ? file->path() : "";
      if (file && !reported.emplace(each.code, path, each.span.begin, each.message).second) continue;
      Diagnostics one;  // severities are decided already: keep them
      one.set_severity(each.code, each.severity);
      one.report(each.code, each.span, each.message) = each;
      document->diagnostics.append(one);
    }
    report.documents.push_back(std::move(document));
  }
  // Only for files that were named: a folder's need not belong together.
  bool named = groups.size() > 1 && *files == request.paths &&
               std::find(files->begin(), files->end(), "-") == files->end();
  if (named) report.fit_together = fit_together(report, *files, request.compile);
  return report;
}

}  // namespace radl
