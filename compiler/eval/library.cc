#include "compiler/eval/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "common/program_folder.h"
#include "common/text.h"
#include "common/tidy_path.h"
#include "compiler/syntax/parser.h"

namespace radl {

namespace fs = std::filesystem;

std::string standard_library_folder(const std::map<std::string, std::string>& environment) {
  if (auto found = environment.find("RADL_STDLIB"); found != environment.end() && !found->second.empty())
    return found->second;
  const fs::path program = program_folder();
  if (program.empty()) return {};
  std::error_code error;
  const fs::path folder = program.parent_path() / "share" / "radlc" / "stdlib";
  return fs::is_directory(folder, error) ? folder.string() : std::string();
}

namespace {

bool relative_name(std::string_view name) { return name.starts_with("./") || name.starts_with("../"); }

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

Status check_name(std::string_view name) {
  if (name.empty()) return invalid("a module's name is empty");
  if (name.front() == '/') return invalid("a module's name cannot be an absolute path");
  if (name.find('\0') != name.npos || name.find('\\') != name.npos)
    return invalid("a module's name has a character that no path has");
  if (relative_name(name)) return ok_status();
  for (size_t from = 0; from <= name.size();) {
    size_t to = std::min(name.find('/', from), name.size());
    std::string_view part = name.substr(from, to - from);
    if (part.empty() || part == "." || part == "..")
      return invalid("a module's name has a part that is empty, '.' or '..'");
    from = to + 1;
  }
  return ok_status();
}

}  // namespace

void list_folder(const std::string& folder, const std::string& prefix, std::vector<std::string>& names) {
  std::error_code error;
  constexpr size_t kMost = 10'000;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end && names.size() < kMost;
       at.increment(error)) {
    if (at->path().extension() != ".radl") continue;
    fs::path relative = at->path().lexically_relative(folder);
    names.push_back(prefix + relative.replace_extension().generic_string());
  }
}

namespace {

// A package is a whole: its modules name files of their own beside them, not those of the project.
Status stays_in_package(const fs::path& place, std::string_view importing_file, const SearchPath& search) {
  VendoredModules vendored(search.project, false);
  auto package = vendored.package_folder(std::string(importing_file));
  if (!package || vendored.package_folder(place.string()) == package) return {};
  return invalid("a module from elsewhere uses files of its own package only")
      .with_hint(fmt::format("{} is not in {}", tidy_path(place.string()), *package));
}

}  // namespace

Result<std::string> find_module(std::string_view name, std::string_view importing_file,
                                const SearchPath& search) {
  if (vendored::is_address(name)) {
    VendoredModules vendored(search.project, false);
    auto address = vendored.address(name, std::string(importing_file));
    return address.ok() ? vendored.find(*address) : Result<std::string>(std::move(address).status());
  }
  if (Status status = check_name(name); !status.ok()) return status;
  std::string file = std::string(name) + ".radl";
  std::vector<fs::path> places;
  if (relative_name(name)) {
    places.push_back(fs::path(importing_file).parent_path() / file);
    if (Status stays = stays_in_package(places.back(), importing_file, search); !stays.ok()) return stays;
  } else {
    places.push_back(fs::path(search.project) / "modules" / file);
    for (const std::string& folder : search.folders) places.push_back(fs::path(folder) / file);
    if (name.starts_with("std/") && !search.standard_library.empty()) {
      places.push_back(fs::path(search.standard_library) / file.substr(4));
    }
  }
  std::string looked;
  for (const fs::path& place : places) {
    if (is_file(place)) return tidy_path(place.string());
    looked += (looked.empty() ? "" : ", ") + tidy_path(place.string());
  }
  Status status(Code::NotFound, fmt::format("there is no module '{}'", name));
  if (name.starts_with("std/") && search.standard_library.empty()) {
    return std::move(status).with_hint(
        "the standard library is not installed beside this program; RADL_STDLIB can name its folder");
  }
  return std::move(status).with_hint("looked for " + looked);
}

std::vector<std::string> list_modules(const SearchPath& search) {
  std::vector<std::string> names;
  list_folder((fs::path(search.project) / "modules").string(), "", names);
  // What was vendored is named by its address.
  std::erase_if(names, [](const std::string& name) { return name.starts_with("vendored/"); });
  for (std::string& name : VendoredModules(search.project, false).list()) names.push_back(std::move(name));
  for (const std::string& folder : search.folders) list_folder(folder, "", names);
  if (!search.standard_library.empty()) list_folder(search.standard_library, "std/", names);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string ModuleLibrary::vendored_path(const ast::String& name, const SourceFile& importing) {
  auto address = vendored_.address(name.text, importing.path());
  auto path = address.ok() ? vendored_.find(*address) : Result<std::string>(address.status());
  if (path.ok()) return *path;
  const Status& status = path.status();
  const bool module = status.code() == Code::NotFound || status.code() == Code::Invalid;
  if (status.code() == Code::Auth) {
    // No excerpt of the source: credentials stand in it.
    diagnostics_
        .report(DiagCode::ModuleNotFound, Span{},
                fmt::format("{}: {}", sources_.where(name.span), status.message()))
        .with_help(status.hint());
    return {};
  }
  diagnostics_
      .report(module ? DiagCode::ModuleNotFound : DiagCode::ModuleNotVendored, name.span, status.message())
      .with_help(status.hint());
  return {};
}

std::string ModuleLibrary::path_of(const ast::String& name, const SourceFile& importing) {
  if (!name.parts.empty()) {
    diagnostics_.report(DiagCode::ModuleNotFound, name.span,
                        "a module's name is a plain string, without ${ }");
    return {};
  }
  if (vendored::is_address(name.text)) return vendored_path(name, importing);
  auto path = find_module(name.text, importing.path(), search_);
  if (path.ok()) return *path;
  auto& diagnostic = diagnostics_.report(DiagCode::ModuleNotFound, name.span, path.status().message());
  std::string near =
      path.status().code() == Code::NotFound ? nearest(name.text, list_modules(search_)) : std::string();
  if (!near.empty()) {
    diagnostic.with_help(fmt::format("did you mean '{}'?", near))
        .fix(fmt::format("write '{}'", near), name.span, "'" + near + "'");
  } else {
    diagnostic.with_help(path.status().hint());
  }
  return {};
}

void ModuleLibrary::note_use(const SourceFile& made, const ast::String& name, const SourceFile& importing) {
  auto further = uses_.find(importing.id());
  const std::string standard = search_.standard_library + "/";
  if (further != uses_.end())
    uses_.emplace(made.id(), further->second);
  else if (vendored::is_address(name.text) || (standard.size() > 1 && made.path().starts_with(standard)))
    uses_.emplace(made.id(), name.span);
}

const ast::Tree* ModuleLibrary::load(const ast::String& name, const SourceFile& importing) {
  const std::string path = path_of(name, importing);
  if (path.empty()) return nullptr;
  auto [slot, fresh] = trees_.try_emplace(path);
  if (!fresh) return slot->second.get();
  auto source = sources_.load(path);
  if (!source.ok()) {
    diagnostics_.report(DiagCode::FileUnreadable, name.span, source.status().text());
    return nullptr;
  }
  files_.push_back(*source);
  note_use(**source, name, importing);
  size_t errors = diagnostics_.errors();
  auto tree = parse(**source, diagnostics_);
  if (tree->dialect != ast::Dialect::Radl2 && diagnostics_.errors() == errors) {
    diagnostics_.report(DiagCode::ModuleFile, name.span,
                        fmt::format("'{}' does not begin with `radl 2`", path));
    return nullptr;
  }
  if (tree->syntax_errors) return nullptr;  // the slot stays empty: reported once
  slot->second = std::move(tree);
  return slot->second.get();
}

}  // namespace radl
