#include "runtime/cli/from_cloud.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "common/files.h"
#include "common/text.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/cli/terminal.h"
#include "runtime/cli/workflow.h"
#include "runtime/clouds/takes_over.h"

namespace radl::cli {
namespace {

// For the records that a run needs; gone with this.
class ScratchFolder {
 public:
  static Result<std::unique_ptr<ScratchFolder>> make() {
    std::string path = std::filesystem::temp_directory_path().string() + "/radlc-destroy-XXXXXX";
    if (!::mkdtemp(path.data())) return errno_status(errno, path);
    return std::unique_ptr<ScratchFolder>(new ScratchFolder(std::move(path)));
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Looked up once, so that a run asks them.
Status reach_clouds(const CloudSet& clouds, const std::string& asked) {
  std::vector<std::string> names =
      asked.empty() ? clouds.with_credentials() : std::vector<std::string>{asked};
  if (names.empty())
    return invalid("no credentials for any cloud").with_hint("run `radlc check-auth` to see what is missing");
  for (const std::string& name : names) {
    ir::Node node;
    node.cloud = name;
    const std::string id = clouds.id_for(node);
    if (!clouds.find(id)) return clouds.why_not(id);
  }
  return {};
}

int destroy_all(const Session& session, const RunOptions& options, Run& run, const std::string& tag) {
  auto others = look_for_others(run);
  if (!others.ok()) return report(session, others.status());
  for (const auto& [cloud, why] : others->unseen)
    std::fprintf(stderr, "note: %s could not be asked: %s\n", shown(cloud).c_str(), shown(why).c_str());
  if (others->unowned.empty()) {
    std::printf("Nothing that could be asked for carries the tag %s.\n", shown(tag).c_str());
    return others->unseen.empty() ? kDone : kWorldError;
  }
  for (const Unowned& one : others->unowned) {
    run.also.insert(one.id);
    std::fprintf(options.json ? stderr : stdout, "  - %s (%s in %s%s)\n", shown(one.id).c_str(),
                 shown(one.type).c_str(), shown(one.cloud).c_str(),
                 one.address.empty() ? "" : shown(", " + one.address).c_str());
  }
  if (!options.auto_approve) {
    if (!session.terminal.can_ask)
      return report(session, invalid(kCannotConfirm).with_hint("pass --auto-approve"));
    if (!confirm("\nDestroy all of this? Only 'yes' is accepted:")) {
      std::fputs("Nothing was destroyed.\n", stdout);
      return kUserError;
    }
  }
  auto snapshot = run.store->snapshot();
  if (!snapshot.ok()) return report(session, snapshot.status());
  const RunReport done = destroy(run, make_destroy_plan(*snapshot));
  const int code = report_run(session, done, options.json);
  if (code == kDone && !options.json)
    std::printf("Destroyed: %zu of %s.\n", run.also.size(), shown(tag).c_str());
  return code;
}

}  // namespace

Result<TagParts> tag_parts(const std::string& tag) {
  const size_t dash = tag.rfind('-');
  if (dash != tag.npos && dash > 0 && is_tag_of(tag, tag.substr(0, dash)))
    return TagParts{tag.substr(0, dash), tag.substr(dash + 1)};
  return Status(Code::Invalid, "'" + tag + "' is not the tag of an infrastructure")
      .with_hint("it is NAME-LINEAGE, such as demo-0a1b2c3d: what the tag radlc:infrastructure holds");
}

int destroy_from_cloud(const Session& session, const std::string& tag, const RunOptions& options) {
  auto parts = tag_parts(tag);
  if (!parts.ok()) return report(session, parts.status());
  auto machinery = make_machinery(session.host, options);
  if (!machinery.ok()) return report(session, machinery.status());
  if (Status reached = reach_clouds((*machinery)->clouds(), options.cloud); !reached.ok())
    return report(session, reached);
  auto scratch = ScratchFolder::make();
  if (!scratch.ok()) return report(session, scratch.status());
  auto store = open_locked(session, (*scratch)->path(), parts->name, OpenMode::Create, "destroy", 0);
  if (!store.ok()) return report(session, store.status());
  if (auto taken = (*store)->commit({state_change::TakeLineage{parts->lineage}}); !taken.ok())
    return report(session, taken.status());
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  Run run = (*machinery)->run();
  run.store = store->get();
  run.cancellation = &cancellation;
  return destroy_all(session, options, run, tag);
}

}  // namespace radl::cli
