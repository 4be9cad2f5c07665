// The program of a workspace: one text, or uploaded files.
#include <algorithm>
#include <filesystem>

#include "common/files.h"
#include "runtime/serve/workspace.h"

namespace radl::serve {
namespace {

constexpr size_t kLargestProgram = size_t{16} << 20;

}  // namespace

ProjectSources Workspace::current_sources() const {
  std::lock_guard lock(mutex_);
  return sources_;
}

driver::ProjectOptions Workspace::project_options(const ProjectSources& sources) const {
  driver::ProjectOptions options;
  for (const std::string& file : sources.files) options.files.push_back(folder_ + "/files/" + file);
  if (options.files.empty()) options.files = {folder_ + "/program.radl"};
  for (const std::string& path : sources.module_path)
    options.module_path.push_back(folder_ + "/files/" + path);
  options.state = state_place();
  options.name = name_;
  return options;
}

driver::MachineryOptions Workspace::machinery_options(const MemoryFile& accounts,
                                                      const PlanQuery& query) const {
  driver::MachineryOptions options;
  options.cloud = query.cloud.empty() ? settings_.cloud : query.cloud;
  options.auth = accounts.path().empty() ? settings_.auth : accounts.path();
  options.parallelism = query.parallelism;
  return options;
}

Result<std::string> Workspace::program_of(const ProjectSources& given) const {
  const ProjectSources sources = given.files.empty() ? current_sources() : given;
  std::string whole;
  for (const std::string& path : project_options(sources).files) {
    auto text = read_file(path, kLargestProgram);
    if (text.status().code() == Code::NotFound && sources.files.empty()) return std::string();
    if (text.status().code() == Code::NotFound)
      return not_found(path.substr(folder_.size() + 7) + " was not uploaded");
    if (!text.ok()) return text.status();
    whole += (whole.empty() ? "" : "\n") + *text;
  }
  return whole;
}

Status Workspace::check_unchanged(const PlanQuery& query) const {
  const Result<std::string> now = program_of(query.sources);
  if (!now.ok()) return now.status();
  if (*now == query.checked) return {};
  return Status(Code::Conflict, "the files of " + id_ + " were changed meanwhile").with_hint("plan again");
}

std::string Workspace::program() const {
  auto text = program_of({});
  return text.ok() ? *text : std::string();
}

std::string Workspace::result_folder() const {
  const std::string first = project_options(current_sources()).files.front();
  return std::filesystem::path(first).parent_path().string() + "/result";
}

Status Workspace::use_program(PlanQuery& query) {
  const bool text = !query.program.empty(), files = !query.sources.files.empty();
  const ProjectSources now = current_sources();
  if (text && now.files.size() > 1)
    return Status(Code::Conflict, "the program of " + id_ + " has several files")
        .with_hint("upload them, and plan with 'files'");
  if (!files) query.sources = now;
  if (text && query.program != program()) {
    if (busy())
      return Status(Code::Conflict, "a run of " + id_ + " is in progress")
          .with_hint("stop it, or wait until it ends, before you change the program");
    if (Status wrote = write_file_atomic(project_options(now).files.front(), query.program, 0600);
        !wrote.ok())
      return wrote;
  }
  if (Status unchanged = check_unchanged(query); !unchanged.ok()) return unchanged;
  if (query.sources == now) return {};
  std::lock_guard lock(mutex_);
  sources_ = query.sources;
  return save_locked();
}

}  // namespace radl::serve
