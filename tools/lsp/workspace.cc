#include "tools/lsp/workspace.h"

#include <algorithm>
#include <filesystem>

#include "common/modules/lock_file.h"
#include "common/tidy_path.h"
#include "compiler/source/read.h"
#include "tools/lsp/uri.h"

namespace radl::lsp {
namespace fs = std::filesystem;
namespace {

// Folders that hold nothing of the user's own writing.
bool is_skipped(const fs::path& name) {
  std::string text = name.string();
  return text.starts_with(".") || text == "node_modules" || text == "__pycache__";
}

// *.radl below a folder, in a stable order, at most `most`.
std::vector<std::string> radl_files(const std::string& root, size_t most, const Stop& stop) {
  std::vector<std::string> found;
  std::error_code error;
  auto options = fs::directory_options::skip_permission_denied;
  size_t looked_at = 0;
  for (fs::recursive_directory_iterator it(root, options, error), end; !error && it != end;
       it.increment(error)) {
    if (++looked_at > 200'000 || found.size() >= most || stop.asked()) break;
    std::error_code ignored;
    if (it->is_directory(ignored)) {
      if (is_skipped(it->path().filename()) || vendored::is_vendored_folder(it->path().string()))
        it.disable_recursion_pending();
    } else if (it->path().extension() == ".radl") {
      found.push_back(it->path().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

OpenDocument& Workspace::open(const std::string& uri, int version, std::string text) {
  std::string path = path_of_uri(uri).value_or(uri);
  documents_.erase(uri);
  return documents_
      .emplace(uri,
               OpenDocument{Document(uri, path, version, std::move(text)), nullptr, nullptr, nullptr, true})
      .first->second;
}

void Workspace::close(const std::string& uri) { documents_.erase(uri); }

OpenDocument* Workspace::find(const std::string& uri) {
  auto found = documents_.find(uri);
  return found == documents_.end() ? nullptr : &found->second;
}

AnalysisPtr Workspace::analyse(OpenDocument& open) {
  if (!open.current) {
    const Document& document = open.document;
    open.current =
        std::make_shared<Analysis>(document.uri(), document.path(), document.version(), document.text());
    if (!open.current->tree->syntax_errors) open.last_good = open.current;
  }
  return open.current;
}

AnalysisPtr Workspace::file(const std::string& path) {
  for (auto& [uri, open] : documents_) {
    if (open.document.path() == path) return analyse(open);
  }
  std::error_code error;
  auto changed = fs::last_write_time(path, error);
  uint64_t size = error ? 0 : fs::file_size(path, error);
  if (error || size > kMostFileBytes) return nullptr;
  int64_t stamp = changed.time_since_epoch().count();
  OnDisk& known = files_[path];
  if (!known.analysis || known.changed != stamp || known.size != size) {
    auto text = read_source_file(path, kMostFileBytes);
    if (!text) {
      files_.erase(path);
      return nullptr;
    }
    known = {stamp, size, std::make_shared<Analysis>(uri_of_path(path), path, 0, std::move(*text))};
  }
  return known.analysis;
}

// The program's folder is not known to an editor: the file's own comes first, then the opened folder that
// holds it.
std::optional<std::string> Workspace::module_path(const std::string& name, const std::string& from) const {
  SearchPath search = search_;
  search.project = fs::path(from).parent_path().string();
  auto found = find_module(name, from, search);
  for (const std::string& root : roots_) {
    if (found.ok()) break;
    search.project = root;
    found = find_module(name, from, search);
  }
  if (!found.ok()) return std::nullopt;
  return tidy_path(fs::absolute(*found).string());
}

std::vector<std::string> Workspace::module_names(const std::string& from) const {
  SearchPath search = search_;
  search.project = fs::path(from).parent_path().string();
  std::vector<std::string> names = list_modules(search);
  for (const std::string& root : roots_) {
    if (root == search.project) continue;
    SearchPath other;
    other.project = root;
    for (std::string& name : list_modules(other)) names.push_back(std::move(name));
  }
  // Files of the same folder can be named relative to it.
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(search.project, error)) {
    if (names.size() > kMostFiles) break;
    if (entry.path().extension() == ".radl" && entry.path() != from)
      names.push_back("./" + entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string Workspace::not_to_edit(const std::string& path) const {
  std::error_code error;
  auto real = [&](const std::string& of) { return fs::weakly_canonical(of, error); };
  if (!search_.standard_library.empty()) {
    fs::path inside = real(path).lexically_relative(real(search_.standard_library));
    if (!inside.empty() && *inside.begin() != "..") return "it is a part of the standard library";
  }
  VendoredModules packages(fs::path(path).parent_path().string(), false);
  bool vendored = packages.package_folder(path).has_value();
  for (fs::path at = fs::path(path).parent_path(); !vendored && at.has_relative_path(); at = at.parent_path())
    vendored = vendored::is_vendored_folder(at.string());
  return vendored ? "`radlc vendor` downloaded it and radl.lock.json has its digest; change it at its origin"
                  : "";
}

std::vector<AnalysisPtr> Workspace::everything(const Stop& stop) {
  std::vector<AnalysisPtr> all;
  std::vector<std::string> seen;
  for (auto& [uri, open] : documents_) {
    all.push_back(analyse(open));
    seen.push_back(open.document.path());
  }
  for (const std::string& root : roots_) {
    for (const std::string& path : radl_files(root, kMostFiles, stop)) {
      if (stop.asked()) return all;
      if (std::find(seen.begin(), seen.end(), path) != seen.end()) continue;
      seen.push_back(path);
      if (AnalysisPtr analysis = file(path)) all.push_back(std::move(analysis));
    }
  }
  return all;
}

}  // namespace radl::lsp
