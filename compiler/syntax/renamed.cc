#include "compiler/syntax/renamed.h"

#include <algorithm>
#include <span>

namespace radl {
namespace {

struct Renamed {
  std::string_view of, from, to;
};

constexpr Renamed kInputs[] = {{"std/training/torch", "least", "min"},
                               {"std/cluster/ray", "least", "min"},
                               {"std/cluster/ray", "most", "max"},
                               {"std/cluster/spark", "most", "max"},
                               {"std/cluster/hdfs", "most", "max"},
                               {"std/training/torch", "workers", "processes"},
                               {"std/training/tensorflow", "workers", "processes"},
                               {"std/training/ray", "workers", "processes"},
                               {"std/training/spark", "workers", "processes"},
                               {"std/training/mpi", "workers", "processes"},
                               {"std/training/mpi", "packages", "install"},
                               {"std/cluster/ray", "options", "start_arguments"},
                               {"std/cluster/slurm", "settings", "configuration"},
                               {"std/storage/nfs", "options", "mount_options"},
                               {"std/storage/minio", "options", "mount_options"}};
constexpr Renamed kOutputs[] = {{"std/cluster/slurm", "nodes", "node_names"}};
constexpr Renamed kProperties[] = {{"program", "workers", "processes"}, {"program", "least", "min"}};

std::string_view find(std::span<const Renamed> table, std::string_view of, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Renamed& one) { return one.of == of && one.from == name; });
  return found == table.end() ? std::string_view() : found->to;
}

}  // namespace

std::string_view renamed_input(std::string_view module, std::string_view name) {
  return find(kInputs, module, name);
}

std::string_view renamed_output(std::string_view module, std::string_view name) {
  return find(kOutputs, module, name);
}

std::string_view renamed_property(std::string_view type, std::string_view name) {
  return find(kProperties, type, name);
}

std::string renamed_help(std::string_view present) {
  return "its name is now '" + std::string(present) + "': `radlc fmt --upgrade FILE` writes it";
}

}  // namespace radl
