// What one type of native resource must know: how to look, what differs from what is wanted, how to change
// it.
//
// Looking and changing are shell text (POSIX sh, GNU or busybox tools), so that a whole step costs few round
// trips: the texts of all resources are sent as one script on the kept connection.
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

// The node, as the first look found it.
struct Facts {
  std::string address;      // "worker[0]"
  std::string confined_to;  // folder that must not be left; empty: the node is a machine of its own
  std::string home;
  std::string user;
  bool is_root = false;
  bool can_sudo = false;
  bool looking_only = false;  // nothing is to be changed, on this computer neither
  const NodeHandle* node = nullptr;
  const Context* context = nullptr;
  const std::function<std::vector<NodeHandle>()>* all_nodes = nullptr;  // of the infrastructure
  bool root() const { return is_root || can_sudo; }
};

// name -> value, as the look printed them.
using Seen = std::map<std::string, std::string>;

// A file or folder of this computer that has to be on the node before the script runs.
struct Staged {
  std::string local_path;  // empty: `content`
  std::string content;
  std::string remote_path;  // "~/.radl/stage/..."
};

struct Work {
  std::vector<Change> changes;  // empty: as wanted
  std::string script;           // makes it so; its output is shown
  std::vector<Staged> staged;
  std::function<Status()> before;  // done on this computer before the script runs
  std::chrono::milliseconds deadline{std::chrono::minutes(10)};
  bool counts = true;  // false: it only waits, nothing is changed by it
  bool once = false;   // nothing can tell whether it has been done: it is not repeated unasked
  int retries = 0;     // how often the user wants it to be tried again
};

struct Item {
  const ir::Resource* resource = nullptr;
  bool earlier_changed = false;  // an earlier resource of the same step has been changed in this run
  bool step_is_new = true;       // the step has not run to its end with the same content before
  std::string label() const { return resource->type + " '" + resource->name + "'"; }
  std::string text(const char* property, const std::string& otherwise = "") const;
  double number(const char* property, double otherwise) const;
  bool flag(const char* property, bool otherwise) const;
  bool has(const char* property) const {
    return resource->properties.contains(property) && !resource->properties[property].is_null();
  }
};

class Kind {
 public:
  virtual ~Kind() = default;
  // Paths that the resource writes to: checked against Facts::confined_to before anything runs.
  virtual std::vector<std::string> writes(const Item&) const { return {}; }
  // True when it changes the machine as a whole (packages, services, users, mounts) and so needs root and a
  // node that is not confined.
  virtual bool changes_machine() const { return false; }
  // Done before the first look of a run that is to change something.
  virtual Status prepare(const Item&, const Facts&) const { return {}; }
  // True when its script may be sent together with its neighbours': it writes nothing but its own path.
  virtual bool batches() const { return false; }
  // False when planning does more than compare (it may fetch something): then it is planned in its turn only.
  virtual bool plans_ahead() const { return true; }
  // Shell text that calls `say NAME VALUE`. That it fails means that it could not look.
  virtual Result<std::string> look(const Item& item) const = 0;
  // Of a kind that looks at a path and at nothing else: the looks of several are made as one.
  struct PathLook {
    std::string path;    // a shell word
    std::string wanted;  // SHA-256 of a file, empty where any will do; "-": nothing of its content
  };
  virtual Result<std::optional<PathLook>> path_look(const Item&) const { return std::optional<PathLook>(); }
  virtual Result<Work> plan(const Item& item, const Seen& seen, const Facts& facts) const = 0;
  // What other steps may use of the node, by the look behind all changes: goes into the step's output.
  virtual bool gives_any() const { return false; }
  virtual Result<Json> gives(const Item&, const Seen&) const { return Json::object(); }
};

// nullptr for an unknown type.
const Kind* find_kind(const std::string& type);

// --- used by several kinds ---
// Shell functions for looks and for changes. Both run with errexit in force.
extern const char* const kLookPrelude;
extern const char* const kChangePrelude;
// What a look has said, "" where it has said nothing.
std::string said(const Seen& seen, const std::string& name);
// Invalid unless the resource's name is made of letters, digits and `also`, and does not begin with '-'.
Status plain_name(const Item& item, std::string_view also);
// A list's items; a string is a list of one.
std::vector<std::string> list_of(const Item& item, const char* property);
// The error of a path that the login may not look at.
Status hidden(const Item& item, const Facts& facts);
// "sha256:" and the first digits.
std::string short_digest(const std::string& sha256);
Change change(const Item& item, std::string what, Json before, Json after, std::string diff = "");
// Mode, owner and group: changes, and shell text that sets them on the shell word `path`. `keeps`: that is a
// new file, which is to have the owner and group of the one there where none are wanted.
void plan_access(const Item& item, const Seen& seen, const std::string& wanted_mode, const std::string& path,
                 Work& work, bool keeps = false);
// Makes the folder that holds the path, unless it is there.
std::string make_parent(const std::string& path);
// Puts "$t" in the place of the path atomically.
std::string replace_file(const std::string& path);
// The local file's or folder's digest, checked against `PROPERTY_sha256`: Conflict when it has changed since
// the plan.
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
