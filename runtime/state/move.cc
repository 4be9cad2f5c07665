// `radlc state mv` and `moved`: a resource, system or module under a new name wherever the state names it.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/state/apply_change.h"
#include "runtime/state/moves.h"
#include "runtime/state/records.h"
#include "runtime/state/renaming.h"
#include "runtime/state/rows.h"

namespace radl {

namespace {

// What a move makes of a state: everything under its new name, by its old one.
struct Moved {
  std::vector<std::pair<std::string, ResourceRecord>> resources;
  std::vector<std::pair<std::string, StepRecord>> steps;
  std::vector<Intent> intents;
};

// NotFound: the state has nothing of that name. Exists: it has something of the new one.
Result<Moved> moved_by(const Renaming& renaming, const Snapshot& before, std::vector<Intent> intents,
                       const std::string& from) {
  Moved moved;
  bool found = false;
  for (const auto& [address, record] : before.resources) {
    ResourceRecord now = record;
    if (!renaming.apply(now)) continue;
    if (now.address != address) {
      found = true;
      if (Status fits = renaming.check(address, now); !fits.ok()) return fits;
      if (before.resources.count(now.address))
        return Status(Code::Exists, "the state has a '" + now.address + "' already");
    }
    moved.resources.emplace_back(address, std::move(now));
  }
  for (const auto& [id, record] : before.steps) {
    StepRecord now = record;
    if (!renaming.apply(now)) continue;
    found |= now.id != id;  // a module may have trainings alone
    moved.steps.emplace_back(id, std::move(now));
  }
  for (Intent& intent : intents) {
    bool renamed = renaming.apply(intent.resource);
    found |= renamed && intent.kind == Intent::Kind::Create;
    std::string now =
        intent.kind == Intent::Kind::Run ? renaming.step(intent.address) : renaming.address(intent.address);
    renamed |= now != intent.address;
    intent.address = std::move(now);
    if (renamed) moved.intents.push_back(std::move(intent));
  }
  if (!found) return not_found("the state has no '" + from + "'");
  return moved;
}

Status rename_secret(Database& db, const std::string& from, const std::string& to) {
  if (from == to) return {};
  Result<Statement> row = db.prepare("UPDATE OR REPLACE secrets SET name = ? WHERE name = ?");
  if (!row.ok()) return row.status();
  return row->bind(1, to).bind(2, from).run();
}

// A system, or those of a module's instance.
Scalings renamed(const Scalings& scaled, const state_change::Move& move) {
  Scalings now;
  for (const auto& [system, chosen] : scaled) {
    const bool same = system == move.from || system.starts_with(move.from + ".");
    now[same ? move.to + system.substr(move.from.size()) : system] = chosen;
  }
  return now;
}

// The same in memory.
Status move_in(Snapshot& snapshot, const state_change::Move& move) {
  const Renaming renaming(move, node_addresses(snapshot, {}));
  Result<Moved> moved = moved_by(renaming, snapshot, {}, move.from);
  if (!moved.ok()) return moved.status();
  for (const auto& [address, record] : moved->resources) snapshot.resources.erase(address);
  for (auto& [address, record] : moved->resources) snapshot.resources[record.address] = std::move(record);
  for (const auto& [id, record] : moved->steps) snapshot.steps.erase(id);
  for (auto& [id, record] : moved->steps) snapshot.steps[record.id] = std::move(record);
  std::map<std::string, std::string> secrets;
  for (const auto& [name, fingerprint] : snapshot.secrets) secrets[renaming.secret(name)] = fingerprint;
  snapshot.secrets = std::move(secrets);
  snapshot.scaled = renamed(snapshot.scaled, move);
  return {};
}

// A system with a recipe of the same name: RADL binds the two by that name.
bool names_recipe_too(const ir::Program& program, const std::string& system) {
  return std::any_of(program.steps.begin(), program.steps.end(), [&](const ir::Step& step) {
    return step.recipe == system && step.nodes.size() == 1 && step.nodes[0].starts_with(system + "[");
  });
}

// Names defined only by a cloud ("volume.worker[0].1") cannot be checked here: they may exist.
bool may_be_in(const ir::Program& program, const std::string& name) {
  const std::string system = name.ends_with(']') ? name.substr(0, name.rfind('[')) : name;
  if (name.find('[') != std::string::npos && !name.ends_with(']')) return true;
  const std::string inside = name + ".";
  return std::any_of(program.nodes.begin(), program.nodes.end(),
                     [&](const ir::Node& node) {
                       return node.system == system || node.system.starts_with(inside);
                     }) ||
         std::any_of(program.networks.begin(), program.networks.end(),
                     [&](const ir::Network& network) {
                       return network.address == name || network.name.starts_with(inside);
                     }) ||
         std::any_of(program.steps.begin(), program.steps.end(),
                     [&](const ir::Step& step) { return step.recipe.starts_with(inside); });
}

bool is_moved_on(const ir::Program& program, const std::string& name) {
  return std::any_of(program.moves.begin(), program.moves.end(),
                     [&](const ir::Move& move) { return move.from == name; });
}

std::string place_of(const ir::Move& move) {
  return fmt::format("moved ('{}', '{}') ({}:{})", move.from, move.to, move.origin.path, move.origin.line);
}

}  // namespace

Result<MovedState> moved_state(const Snapshot& snapshot, const ir::Program& program) {
  MovedState moved{snapshot, {}};
  for (const ir::Move& declared : program.moves) {
    state_change::Move move{declared.from, declared.to, names_recipe_too(program, declared.to)};
    Status made = move_in(moved.snapshot, move);
    if (made.code() == Code::NotFound) continue;  // done before, or it never was
    if (made.code() == Code::Exists)
      return Status(Code::Exists, place_of(declared) + ": " + made.message())
          .with_hint(fmt::format("both exist. Remove the `moved` from the file, and the next apply removes "
                                 "'{}'; or first remove the present '{}' with `radlc destroy --target`",
                                 declared.from, declared.to));
    if (!made.ok())
      return Status(made.code(), place_of(declared) + ": " + made.message()).with_hint(made.hint());
    if (!may_be_in(program, declared.to) && !is_moved_on(program, declared.to))
      return Status(Code::Invalid, place_of(declared) + fmt::format(": the file has no '{}'", declared.to))
          .with_hint(fmt::format(
              "apply would remove the former '{}'. Correct the name, or remove the `moved`", declared.from));
    moved.made.push_back(std::move(move));
  }
  return moved;
}

Status apply_move(Writing& writing, const state_change::Move& move) {
  Database& db = writing.db;
  Result<Snapshot> before = read_snapshot(db);
  if (!before.ok()) return before.status();
  // What an interrupted run had begun is found under the new name too.
  Result<std::vector<Intent>> intents = read_open_intents(db);
  if (!intents.ok()) return intents.status();
  const Renaming renaming(move, node_addresses(*before, *intents));
  Result<Moved> moved = moved_by(renaming, *before, std::move(*intents), move.from);
  if (!moved.ok()) return moved.status();
  for (const auto& [address, record] : moved->resources) {
    if (Status gone = delete_resource(db, address, true); !gone.ok()) return gone;
  }
  for (const auto& [address, record] : moved->resources) {
    if (Status put = put_row(db, record); !put.ok()) return put;
  }
  for (const auto& [id, record] : moved->steps) {
    if (Status gone = delete_step(db, id); !gone.ok()) return gone;
  }
  for (const auto& [id, record] : moved->steps) {
    if (Status put = write_step(db, record); !put.ok()) return put;
  }
  for (const auto& [name, fingerprint] : before->secrets) {
    if (Status put = rename_secret(db, name, renaming.secret(name)); !put.ok()) return put;
  }
  for (const Intent& intent : moved->intents) {
    if (Status put = rewrite_intent(db, intent); !put.ok()) return put;
  }
  return write_scalings(db, renamed(before->scaled, move));
}

}  // namespace radl
