// Words that stand in no table of the compiler.
#include "compiler/eval/job_products.h"
#include "tools/lsp/vocabulary.h"

namespace radl::lsp {

const std::vector<BlockWord>& block_words() {
  static const std::vector<BlockWord> words = {
      {"system",
       "system ${1:name} (\n  cpu.count >= ${2:1} and\n  memory.size >= ${3:2g} and\n"
       "  net_interface.0.connection = '${4:network}'\n)",
       "A kind of node: what it must have at least. `deploy` says how many there are."},
      {"network", "network ${1:name} (outbound = '${2|yes,no|}')",
       "A network that interfaces of systems are connected to."},
      {"configure",
       "configure ${1:name} (\n@begin\n---\n- tasks:\n    - name: ${2:what is done}\n      $0\n@end\n)",
       "A recipe: Ansible between `@begin` and `@end`, or (in `radl 2`) resources such as `package` and "
       "`file`."},
      {"deploy", "deploy ${1:system} ${2:1}",
       "How many nodes of a system there shall be, and by which credential."},
      {"contextualize", "contextualize (\n  system ${1:system} configure ${2:recipe} step ${3:1}\n)",
       "Which recipe runs on which system, and in which order. `contextualize ()` turns configuration off."},
      {"ansible",
       "ansible ${1:name} (host = '${2:host}' and credentials.username = '${3:user}' and "
       "credentials.private_key = '$4')",
       "A node that exists and runs Ansible for the others."},
      {"description", "description ${1:name} (name = '${2:title}')",
       "Names the infrastructure. Must be the first block."},
      {"radl", "radl 2\n",
       "Enables the extensions: inputs, expressions, modules, native recipes, outputs. Must be the first "
       "block.",
       false},
      {"input",
       "input ${1:name} (type = ${2|text,integer,number,boolean,size,duration,list,map,system,systems|}, "
       "default = ${3:1}, description = '$4')",
       "A value given from outside: `--input name=value`, an input file, the environment, or its default.",
       true},
      {"output", "output ${1:name} (value = $2, description = '$3')",
       "A result, shown after apply and given to the module's user.", true},
      {"use", "use '${1:std/}' as ${2:name} (\n  $0\n)",
       "Brings in a module; its inputs are the features in the parentheses.", true},
      {"let", "let ${1:name} = $2", "A name for a value, for all expressions of this file.", true},
      {"assert", "assert ($1, '${2:what is wrong}')",
       "A condition that must hold; else nothing is planned and the message is shown.", true},
      {"moved", "moved ('${1:worker}', '${2:trainer}')",
       "What has another name now: a system, node, network or module. It is kept, with its machine and "
       "steps.",
       true},
      {"each", "each ${1:name} in ${2:list} (\n  $0\n)",
       "Repeats the blocks in the parentheses for each element. `each k, v in m` has the key (or the number) "
       "as "
       "well.",
       true},
  };
  return words;
}

const std::vector<RecipeVariable>& recipe_variables() {
  static const std::vector<RecipeVariable> variables = {
      {"IM_NODE_HOSTNAME", "host name of this node, without domain"},
      {"IM_NODE_DOMAIN", "domain of this node"},
      {"IM_NODE_FQDN", "host name and domain of this node"},
      {"IM_NODE_NUM", "number of this node in the infrastructure, the value of `#N#` (a string)"},
      {"IM_NODE_VMID", "the provider's name of this node"},
      {"IM_NODE_CLOUD_TYPE", "type of the credential that made this node"},
      {"IM_NODE_CLOUD_SERVER", "host of that credential, if known"},
      {"IM_NODE_PUBLIC_IP", "public address of this node, if it has one"},
      {"IM_NODE_PRIVATE_IP", "private address of this node; the public one if there is no private one"},
      {"IM_NODE_NET_0_IP", "address of interface 0 (also 1, 2, ...)"},
      {"IM_NODE_NET_0_HOSTNAME", "host name of interface 0, if it has one (also _DOMAIN, _FQDN)"},
      {"IM_NODE_TLS_CERTIFICATES", "certificates made for this node's names"},
      {"IM_MASTER_HOSTNAME", "host name of the master"},
      {"IM_MASTER_DOMAIN", "domain of the master"},
      {"IM_MASTER_FQDN", "host name and domain of the master"},
      {"IM_INFRASTRUCTURE_ID", "id of the infrastructure"},
      {"IM_INFRASTRUCTURE_RADL", "the document as a list of objects; dots in keys are underscores"},
      {"IM_INFRASTRUCTURE_AUTH", "credentials of the infrastructure"},
      {"hostvars", "variables of all hosts, by inventory name"},
      {"groups", "names of hosts by system: `groups['wn']`"},
  };
  return variables;
}

const std::vector<MemberWord>& node_members() {
  static const std::vector<MemberWord> members = {
      {"hostname", "Host name of its first interface, without domain."},
      {"fqdn", "Host name and domain."},
      {"number", "Its number in the infrastructure, the value of `#N#`."},
      {"ordinal", "Its number among the nodes of its system, from 0."},
      {"system", "Name of its system."},
      {"address", "Its name in plans and states: `worker[0]`."},
      {"ip", "Its public address, or the private one where there is none. Known after apply."},
      {"private_ip", "Its address in the private network. Known after apply."},
      {"public_ip", "Its public address. Known after apply."},
      {"port", "The port of its SSH server. Known after apply."},
      {"user", "The user that logs in. Known after apply."},
      {"id", "The cloud's name of it. Known after apply."},
  };
  return members;
}

const std::vector<MemberWord>& system_members() {
  static const std::vector<MemberWord> members = {
      {"count", "How many nodes the system has."},
      {"name", "The system's name."},
  };
  return members;
}

const std::vector<MemberWord>& job_members(bool trains) {
  static const auto words = [](bool of_training) {
    std::vector<MemberWord> made;
    for (const JobProduct& product : job_products(of_training))
      made.push_back({product.name, product.summary});
    return made;
  };
  static const std::vector<MemberWord> training = words(true), program = words(false);
  return trains ? training : program;
}

const std::vector<MemberWord>& module_members() {
  static const std::vector<MemberWord> members = {
      {"name", "The name under which this instance is used; `program` at the top."},
      {"path", "The file of this instance."},
  };
  return members;
}

const MemberWord* find_member(const std::vector<MemberWord>& members, std::string_view name) {
  for (const MemberWord& each : members)
    if (each.name == name) return &each;
  return nullptr;
}

}  // namespace radl::lsp
