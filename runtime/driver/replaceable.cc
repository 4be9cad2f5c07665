#include "runtime/driver/replaceable.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>
#include <tuple>

#include "common/shorten.h"

namespace radl::driver {
namespace {

struct Known {
  const char* module;
  const char* does;
  const char* use;
  std::vector<std::string_view> words;  // in lower case; each stands alone, '-', '_' and '.' part words
};

// Names of packages, roles and programs, as the collections of the Infrastructure Manager and EC3 have them.
const std::vector<Known>& known() {
  static const std::vector<Known> kAll = {
      {"std/training/mpi",
       "Open MPI on the nodes, mpirun over them with a key of the run",
       "use 'std/training/mpi' as NAME ( nodes = system.SYSTEM, main = 'PROGRAM', processes = 4 )",
       {"openmpi", "libopenmpi", "mpich", "mpirun", "mpiexec", "mvapich2", "horovodrun"}},
      {"std/training/torch",
       "a PyTorch program under torchrun: DDP and FSDP, losses, checkpoints",
       "use 'std/training/torch' as NAME ( nodes = system.SYSTEM, source = './FOLDER', main = 'train.py' )",
       {"torchrun", "pytorch", "torch", "torchvision"}},
      {"std/training/tensorflow",
       "a TensorFlow program with TF_CONFIG: workers, parameter servers, evaluators",
       "use 'std/training/tensorflow' as NAME ( nodes = system.SYSTEM, source = './FOLDER', main = "
       "'train.py' )",
       {"tensorflow", "tf_config"}},
      {"std/cluster/ray",
       "a Ray cluster; programs come to it by std/training/ray",
       "use 'std/cluster/ray' as NAME ( head = system.HEAD, workers = system.SYSTEM )",
       {"ray", "raylet"}},
      {"std/cluster/slurm",
       "a Slurm cluster with munge and accounting; nodes come for waiting jobs and go (radlc autoscale)",
       "use 'std/cluster/slurm' as NAME ( head = system.HEAD, workers = system.SYSTEM, max = 8, idle = 5m )",
       {"slurm", "slurmctld", "slurmd", "slurmdbd", "scontrol", "sbatch", "munge"}},
      {"std/cluster/hdfs",
       "a namenode and datanodes of Hadoop with WebHDFS; blocks of nodes that go are copied first",
       "use 'std/cluster/hdfs' as NAME ( namenode = system.HEAD, datanodes = system.SYSTEM, hadoop = "
       "'./JARS' )",
       {"hadoop", "hdfs", "namenode", "datanode", "webhdfs"}},
      {"std/cluster/spark",
       "a Spark cluster, over HDFS where there is one; programs come to it by std/training/spark",
       "use 'std/cluster/spark' as NAME ( master = system.HEAD, workers = system.SYSTEM )",
       {"spark", "pyspark"}},
      {"std/storage/nfs",
       "a folder of one node that others mount by NFS",
       "use 'std/storage/nfs' as NAME ( server = system.HEAD, clients = system.SYSTEM )",
       {"nfs", "nfsd", "exportfs"}},
      {"std/storage/minio",
       "an S3 store on a node, and a bucket of it as a folder on others",
       "use 'std/storage/minio' as NAME ( server = system.HEAD, clients = system.SYSTEM, program = './minio' "
       ")",
       {"minio", "s3fs"}},
  };
  return kAll;
}

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

bool has_word(const std::string& line, std::string_view word) {
  for (size_t at = line.find(word); at != line.npos; at = line.find(word, at + 1)) {
    const size_t end = at + word.size();
    // Digits may follow: libopenmpi3, mpich2.
    size_t behind = end;
    while (behind < line.size() && std::isdigit(static_cast<unsigned char>(line[behind]))) ++behind;
    if ((at == 0 || !in_word(line[at - 1])) && (behind == line.size() || !in_word(line[behind]))) return true;
  }
  return false;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string trimmed(const std::string& line) {
  const size_t begin = line.find_first_not_of(" \t"), end = line.find_last_not_of(" \t\r");
  return begin == line.npos ? "" : line.substr(begin, end - begin + 1);
}

// A line that installs or starts something is better evidence than a variable or list with the same word.
bool does_something(const std::string& line) {
  static constexpr std::string_view kWords[] = {"role",    "roles", "apt",   "yum",     "dnf",    "package",
                                                "service", "shell", "mount", "systemd", "command"};
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return has_word(line, word); });
}

// At most three lines of a recipe that say what one of the words says; comments do nothing.
std::vector<std::string> lines_with(const std::string& body, const std::vector<std::string_view>& words) {
  std::vector<std::string> telling, others;
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);) {
    line = trimmed(line);
    if (line.empty() || line[0] == '#') continue;
    const std::string low = lower(line);
    if (std::any_of(words.begin(), words.end(), [&](std::string_view word) { return has_word(low, word); }))
      (does_something(low) ? telling : others).push_back(shorten(line, 100));
  }
  telling.insert(telling.end(), others.begin(), others.end());
  if (telling.size() > 3) telling.resize(3);
  return telling;
}

}  // namespace

std::vector<Replaceable> replaceable_recipes(const Compiled& compiled) {
  std::map<std::tuple<std::string, std::string, std::string, int>, Replaceable> made;
  auto look_at = [&](const std::string& recipe, const std::string& text, const ir::Origin& origin,
                     const std::vector<std::string>& nodes) {
    for (const Known& module : known()) {
      std::vector<std::string> why = lines_with(text, module.words);
      if (why.empty()) continue;
      Replaceable& one = made[{module.module, recipe, origin.path, origin.line}];
      one.module = module.module;
      one.recipe = recipe;
      one.origin = origin;
      one.why = std::move(why);
      one.nodes.insert(nodes.begin(), nodes.end());
    }
  };
  for (const ir::Step& step : compiled.program.steps) {
    if (step.kind == ir::StepKind::Ansible || step.kind == ir::StepKind::CloudInit)
      look_at(step.recipe, step.body, step.origin, step.nodes);
  }
  // Templates of EC3 and working nodes that come by themselves: their recipes count before a node runs them.
  for (const IdleRecipe& idle : compiled.idle_recipes) look_at(idle.name, idle.text, idle.origin, {});
  std::vector<Replaceable> all;
  for (auto& [key, one] : made) all.push_back(std::move(one));
  return all;
}

std::string module_in_words(const std::string& module) {
  for (const Known& one : known()) {
    if (one.module == module) return std::string(one.does) + "\n    " + one.use;
  }
  return "";
}

}  // namespace radl::driver
