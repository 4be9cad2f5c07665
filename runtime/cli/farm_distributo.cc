// Distributo's own words (docs/distributo.md): each writes a program with std/farm/inference, and applies or
// destroys it as any other file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <initializer_list>

#include "common/files.h"
#include "common/json_values.h"
#include "runtime/cli/apply.h"
#include "runtime/cli/destroy.h"
#include "runtime/cli/farm_command.h"
#include "runtime/cli/shown.h"

namespace radl::cli::farm_command {
namespace {

struct DistributoOptions {
  bool inference = false, allocate = false, release = false;
  std::string cluster = "distributo";
  Json given = Json::object();  // options by the names of the file's second line
  RunOptions run;
};

constexpr const char* kDistributoLine = "# settings: ";

Status check_distributo_word(const std::string& option, const std::string& value) {
  const Json text = value;
  if (Json::parse(text.dump(-1, ' ', false, Json::error_handler_t::replace)) != text)
    return invalid(option + ": the value is not UTF-8");
  const bool plain = std::none_of(value.begin(), value.end(), [](unsigned char c) {
    return c < ' ' || c == 127 || c == '\'' || c == '\\';
  });
  if (plain && value.find("${") == value.npos) return {};
  return invalid(option + ": the value must not contain quotes, backslashes, control characters or ${");
}

// Whether distributo_program() can read them: a file may hold anything.
bool are_distributo_settings(const Json& settings) {
  const auto have = [&](std::initializer_list<const char*> names, bool (Json::*is)() const noexcept) {
    return std::all_of(names.begin(), names.end(),
                       [&](const char* name) { return (json::member(settings, name).*is)(); });
  };
  if (!have({"num_instances"}, &Json::is_number_integer)) return false;
  if (!settings.contains("inference")) return true;
  return settings["inference"].is_boolean() &&
         have({"batch_size", "num_batches"}, &Json::is_number_integer) &&
         have({"model", "images", "output"}, &Json::is_string);
}

std::string distributo_program(const Json& settings) {
  std::string text = fmt::format(
      "radl 2\n# Written by `radlc farm`, which writes it again while nobody has edited it.\n{}{}\n"
      "system worker ( cpu.count >= 1 )\ndeploy worker {}\n",
      kDistributoLine, settings.dump(), settings["num_instances"].get<int64_t>());
  if (!settings.value("inference", false)) return text;
  const auto word = [&](const char* name) { return settings[name].get<std::string>(); };
  return text + fmt::format(
                    "use 'std/farm/inference' as inference (\n  nodes = system.worker\n"
                    "  model = '{}', images = '{}'\n  batch_size = {}, batches = {}\n"
                    "  fitness = 'fullest'\n  options = {{ results = '{}' }}\n)\n"
                    "output predictions ( value = inference.predictions )\n",
                    word("model"), word("images"), settings["batch_size"].get<int64_t>(),
                    settings["num_batches"].get<int64_t>(), word("output"));
}

// The settings in a file of this command. Conflict: the file was edited, or written by another program.
Result<Json> distributo_settings(const std::string& path) {
  auto text = read_file(path);
  if (text.status().code() == Code::NotFound) return Json(Json::object());
  if (!text.ok()) return text.status();
  const size_t at = text->find(kDistributoLine);
  const size_t begin = at == text->npos ? at : at + std::string_view(kDistributoLine).size();
  Json settings = at == text->npos
                      ? Json()
                      : Json::parse(text->substr(begin, text->find('\n', at) - begin), nullptr, false);
  if (are_distributo_settings(settings) && distributo_program(settings) == *text) return settings;
  return Status(Code::Conflict, path + " was not written by `radlc farm`, or was edited since")
      .with_hint("apply it with `radlc apply " + path + "`, or choose another name with --cluster");
}

// Adds the command line's options to the file's. Keeps surplus nodes, like Distributo.
Result<Json> with_given(Json settings, const DistributoOptions& options) {
  const int64_t had = static_cast<int64_t>(json::number_of(settings, "num_instances"));
  settings.update(options.given);
  const int64_t asked = static_cast<int64_t>(json::number_of(settings, "num_instances", 1));
  settings["num_instances"] = std::max(asked, had);
  if (had > asked)
    std::fprintf(stderr, "note: the cluster has %lld instances already; --free-resources removes them\n",
                 static_cast<long long>(had));
  if (!options.inference) return settings;
  settings["inference"] = true;
  settings.emplace("batch_size", 100);
  settings.emplace("num_batches", 10);
  for (const char* name : {"model", "images", "output"})
    if (!settings.contains(name)) return invalid(fmt::format("--inference needs --{}", name));
  return settings;
}

int run_distributo(const Session& session, const DistributoOptions& options) {
  const std::string path = options.cluster + ".radl";
  const int chosen = int{options.inference} + int{options.allocate} + int{options.release};
  if (chosen == 0)
    return report(session, invalid("name a command of `radlc farm`, or --inference, --allocate-resources or "
                                   "--free-resources"));
  if (options.release && chosen > 1)
    return report(session, invalid("--free-resources goes with no other action"));
  if (options.release && !options.given.empty())
    return report(session, invalid("--free-resources takes only --cluster"));
  for (const auto& [name, value] : options.given.items())
    if (Status usable =
            value.is_string() ? check_distributo_word("--" + name, value.get<std::string>()) : Status();
        !usable.ok())
      return report(session, usable);
  if (options.release) {
    destroy_command::Options destroy;
    destroy.project.files = {path};
    destroy.run = options.run;
    return destroy_command::run(session, destroy);
  }
  auto settings = distributo_settings(path);
  if (settings.ok()) settings = with_given(std::move(*settings), options);
  if (!settings.ok()) return report(session, settings.status());
  if (Status written = write_file_atomic(path, distributo_program(*settings)); !written.ok())
    return report(session, written);
  std::fprintf(stderr, "wrote %s\n", shown(path).c_str());
  apply_command::Options apply;
  apply.project.files = {path};
  apply.run = options.run;
  return apply_command::run(session, apply);
}

}  // namespace

std::function<int()> add_distributo(CLI::App& command, Session& session) {
  auto options = std::make_shared<DistributoOptions>();
  command.add_flag("-i,--inference", options->inference, "predict batches of images on the cluster");
  command.add_flag("-a,--allocate-resources", options->allocate, "create the cluster's instances");
  command.add_flag("-f,--free-resources", options->release, "remove the cluster, whatever state it is in");
  command.add_option("-c,--cluster", options->cluster, "name of the cluster; its file is NAME.radl")
      ->type_name("NAME")
      ->capture_default_str()
      ->check([](const std::string& name) {
        const bool plain =
            !name.empty() &&
            name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
                name.npos &&
            name[0] != '-';
        return plain ? std::string() : "use letters, digits, '-' and '_'";
      });
  const auto number = [&](const char* names, const char* key, const char* text) {
    command
        .add_option_function<int64_t>(
            names, [options, key](const int64_t& value) { options->given[key] = value; }, text)
        ->type_name("COUNT")
        ->check(CLI::Range(1, 1000000));
  };
  const auto word = [&](const char* names, const char* key, const char* text, const char* type) {
    command
        .add_option_function<std::string>(
            names, [options, key](const std::string& value) { options->given[key] = value; }, text)
        ->type_name(type);
  };
  number("-n,--num-instances", "num_instances", "number of instances (default: 1, or as many as there are)");
  number("-s,--batch-size", "batch_size", "number of images of a batch (default: 100)");
  number("-b,--num-batches", "num_batches", "number of batches (default: 10)");
  word("-o,--output", "output", "folder or s3://BUCKET/PREFIX of the predictions", "PLACE");
  word("--model", "model", "folder with the trained model", "FOLDER");
  word("--images", "images", "folder with the images", "FOLDER");
  add_run_options(command, options->run);
  return [options, &session] { return run_distributo(session, *options); };
}

}  // namespace radl::cli::farm_command
