#include "runtime/run/sources_sent.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/human.h"
#include "runtime/steps/jobs/tree_manifests.h"
#include "runtime/steps/program/preparing.h"

namespace radl {

namespace {

constexpr double kLarge = 64 << 20;  // bytes: sending them takes longer than starting a program
constexpr size_t kNamed = 3;

// "train.py and 2 more".
std::string some_of(const std::vector<std::string>& files) {
  std::string text;
  for (size_t i = 0; i < files.size() && i < kNamed; ++i) text += (i ? ", " : "") + files[i];
  if (files.size() > kNamed) text += fmt::format(" and {} more", files.size() - kNamed);
  return text;
}

std::string text_of(const jobs::TreeDifference& difference) {
  std::string text;
  for (const auto& [files, what] :
       {std::pair(&difference.changed, "changed"), std::pair(&difference.added, "new"),
        std::pair(&difference.removed, "removed")})
    if (!files->empty()) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", some_of(*files), what);
  return text.empty() ? "none" : text;
}

// The file that takes most of a source.
std::pair<std::string, double> largest_of(const std::string& folder,
                                          const std::vector<ManifestEntry>& entries) {
  std::pair<std::string, double> largest;
  for (const ManifestEntry& entry : entries) {
    const auto bytes = static_cast<double>(jobs::bytes_of(folder, {entry.path}));
    if (bytes > largest.second) largest = {entry.path, bytes};
  }
  return largest;
}

void add_changes(const Json& source, const StepRecord& record, const std::vector<ManifestEntry>& entries,
                 const std::string& work_directory, Action& action) {
  const Json before =
      record.definition ? record.definition->value("program", Json::object()).value("source", Json::object())
                        : Json::object();
  const std::string digest = before.value("sha256", "");
  if (digest.empty() || digest == source.value("sha256", "")) return;
  const std::string folder = source.at("path");
  auto known = jobs::known_manifest(work_directory, jobs::tree_key(digest));
  if (!known) return;  // the summary says how much the whole source is
  const jobs::TreeDifference difference = jobs::difference(*known, entries);
  const uint64_t bytes =
      jobs::bytes_of(folder, difference.added) + jobs::bytes_of(folder, difference.changed);
  action.changes.push_back(
      {"source files", counted(known->size(), "file"),
       fmt::format("{}; {} sent to each node", text_of(difference), bytes_text(static_cast<double>(bytes))),
       false});
}

// A file, an archive and a commit are known by one digest.
void add_whole(const Json& source, const StepRecord& record, Action& action) {
  const Json before =
      record.definition ? record.definition->value("program", Json::object()).value("source", Json::object())
                        : Json::object();
  for (const char* digest : {"sha256", "commit"}) {
    if (!source.contains(digest) || source[digest] == before.value(digest, Json())) continue;
    const std::string path = source.value("path", "");
    const double bytes = path.empty() ? 0 : static_cast<double>(jobs::bytes_of("/", {path}));
    action.changes.push_back(
        {"source files", before.value(digest, "").substr(0, 12),
         fmt::format("all of {} {}{} sent to each node; only files of a folder are compared",
                     source.value("kind", "") == "git" ? "commit" : "it,",
                     source.value(digest, "").substr(0, 12), bytes > 0 ? ", " + bytes_text(bytes) + "," : ""),
         false});
  }
}

void note_large(const ir::Step& step, const Json& source, const std::vector<ManifestEntry>& entries,
                Plan& plan) {
  const double bytes = source.value("sent", Json::object()).value("bytes", 0.0);
  if (bytes < kLarge) return;
  const std::string folder = source.at("path");
  const auto [name, size] = largest_of(folder, entries);
  plan.notes.push_back(
      fmt::format("{}: its source is {}, and every new version copies all of it on each node. Data that the "
                  "program only reads belongs in `inputs` (the largest file is {}, {})",
                  step.id, bytes_text(bytes), name, bytes_text(size)));
}

}  // namespace

Status tell_sources(const ir::Program& program, const Snapshot& snapshot, const std::string& work_directory,
                    Plan& plan) {
  for (const ir::Step& step : program.steps) {
    if (step.kind != ir::StepKind::Program || !step.program->contains("source")) continue;
    const Json& source = step.program["source"];
    auto action = std::find_if(plan.actions.begin(), plan.actions.end(), [&](const Action& each) {
      return each.id == step.id && each.verb == Verb::Run;
    });
    if (action == plan.actions.end()) continue;
    if (source.value("kind", "") != "folder") {
      if (auto record = snapshot.steps.find(step.id); record != snapshot.steps.end())
        add_whole(source, record->second, *action);
      continue;
    }
    auto tree = program::source_tree(source);
    if (!tree) return tree.status();
    auto entries = local_manifest(tree->path, tree->contents);
    if (!entries) return entries.status();
    if (auto record = snapshot.steps.find(step.id); record != snapshot.steps.end())
      add_changes(source, record->second, *entries, work_directory, *action);
    note_large(step, source, *entries, plan);
  }
  return {};
}

}  // namespace radl
