// Interface of a native resource type: how to inspect it, compare it with the request, and change
// it.
//
// Looks and changes are shell text (POSIX sh, GNU or busybox tools), so that a whole step needs few
// round trips: the texts of all resources are sent as one script over the kept connection.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "compiler/ir/ir.h"
#include "runtime/net/remote.h"
#include "runtime/steps/step_runner.h"

namespace radl::native {

// The node, as found by the first look.
struct Facts {
  std::string address;      // "worker[0]"
  std::string confined_to;  // folder that must not be left; empty: a separate machine
  std::string home;
  std::string user;
  bool is_root = false;
  bool can_sudo = false;
  bool looking_only = false;  // change nothing, not even on this computer
  const NodeHandle* node = nullptr;
  const Context* context = nullptr;
  const std::function<std::vector<NodeHandle>()>* all_nodes = nullptr;  // of the infrastructure
  bool root() const { return is_root || can_sudo; }
};

// name -> value, as printed by the look.
using Seen = std::map<std::string, std::string>;

// A local file or folder that must be on the node before the script runs.
struct Staged {
  std::string local_path;  // empty: use `content`
  std::string content;
  std::string remote_path;  // "~/.radl/stage/..."
};

struct Work {
  std::vector<Change> changes;  // empty: up to date
  std::string script;           // makes the changes; its output is shown
  std::vector<Staged> staged;
  std::function<Status()> before;  // executed on this computer before the script
  std::chrono::milliseconds deadline{std::chrono::minutes(10)};
  bool counts = true;  // false: it only waits and changes nothing
  bool once = false;   // its completion cannot be verified, so it is not repeated automatically
  int retries = 0;     // number of retries that the user requested
};

struct Item {
  const ir::Resource* resource = nullptr;
  bool earlier_changed = false;  // this run has changed an earlier resource of the same step
  bool step_is_new = true;       // the step has not completed with the same content before
  std::string label() const { return resource->type + " '" + resource->name + "'"; }
  std::string text(const char* property, const std::string& otherwise = "") const;
  double number(const char* property, double otherwise) const;
  bool flag(const char* property, bool otherwise) const;
  bool has(const char* property) const {
    return resource->properties->contains(property) && !resource->properties[property].is_null();
  }
};

class Kind {
 public:
  virtual ~Kind() = default;
  // Paths that the resource writes, checked against Facts::confined_to before anything runs.
  virtual std::vector<std::string> writes(const Item&) const { return {}; }
  // True if it changes the machine as a whole (packages, services, users, mounts), which requires root and a
  // node that is not confined.
  virtual bool changes_machine() const { return false; }
  // Called before the first look of a run that may change something.
  virtual Status prepare(const Item&, const Facts&) const { return {}; }
  // True if its script may be batched with its neighbors': it writes only its own path.
  virtual bool batches() const { return false; }
  // False if planning does more than compare (it may fetch something): then it is planned only in its turn.
  virtual bool plans_ahead() const { return true; }
  // Shell text that calls `say NAME VALUE`. Its failure means that the look was impossible.
  virtual Result<std::string> look(const Item& item) const = 0;
  // For a kind that only inspects a path: several looks are combined into one.
  struct PathLook {
    std::string path;    // a shell word
    std::string wanted;  // SHA-256 of a file, empty for any; "-": ignore its content
  };
  virtual Result<std::optional<PathLook>> path_look(const Item&) const { return std::optional<PathLook>(); }
  virtual Result<Work> plan(const Item& item, const Seen& seen, const Facts& facts) const = 0;
  // Values of the node for other steps, from the look after all changes; part of the step's output.
  virtual bool gives_any() const { return false; }
  virtual Result<Json> gives(const Item&, const Seen&) const { return Json::object(); }
};

// nullptr for an unknown type.
const Kind* find_kind(const std::string& type);

// --- shared by several kinds ---
// Shell functions for looks and for changes. Both run with errexit in force.
extern const char* const kLookPrelude;
extern const char* const kChangePrelude;
// A value reported by a look; "" if missing.
std::string said(const Seen& seen, const std::string& name);
// Invalid unless the resource's name consists of letters, digits and `also`, and does not begin with '-'.
Status plain_name(const Item& item, std::string_view also);
// The items of a list; a string is a list with one item.
std::vector<std::string> list_of(const Item& item, const char* property);
// The error for a path that the login cannot inspect.
Status hidden(const Item& item, const Facts& facts);
// "sha256:" and the first digits.
std::string short_digest(const std::string& sha256);
Change change(const Item& item, std::string what, Json before, Json after, std::string diff = "");
// Mode, owner and group: the changes, and shell text that sets them on the shell word `path`. `keeps`: that
// is a new file, which inherits owner and group of the existing one unless requested otherwise.
void plan_access(const Item& item, const Seen& seen, const std::string& wanted_mode, const std::string& path,
                 Work& work, bool keeps = false);
// Creates the path's parent folder if missing.
std::string make_parent(const std::string& path);
// Replaces the path by "$t" atomically.
std::string replace_file(const std::string& path);
// Digest of the local file or folder, compared with `PROPERTY_sha256`: Conflict if it has changed since the
// plan.
Result<std::string> local_source(const Item& item, const char* property);
// Heredoc that writes the bytes to the shell word `path`.
std::string write_bytes(const std::string& content, const std::string& path);

std::unique_ptr<Kind> make_file_kind();
std::unique_ptr<Kind> make_directory_kind();
std::unique_ptr<Kind> make_package_kind();
std::unique_ptr<Kind> make_command_kind();
std::unique_ptr<Kind> make_service_kind();
std::unique_ptr<Kind> make_user_kind();
std::unique_ptr<Kind> make_download_kind();
std::unique_ptr<Kind> make_upload_kind();
std::unique_ptr<Kind> make_mount_kind();
std::unique_ptr<Kind> make_wait_for_kind();
std::unique_ptr<Kind> make_dataset_kind();
std::unique_ptr<Kind> make_elastic_kind();
std::unique_ptr<Kind> make_wireguard_key_kind();
std::unique_ptr<Kind> make_wireguard_kind();

}  // namespace radl::native
