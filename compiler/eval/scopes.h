// Resolves names: inputs, outputs, systems and their counts. Each is evaluated once, at first use.
//
// In: instances, given inputs. Out: values of expressions. Detects every circular dependency.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/compile.h"
#include "compiler/eval/evaluate.h"
#include "compiler/eval/inputs.h"
#include "compiler/eval/instance.h"
#include "compiler/syntax/parser.h"

namespace radl::passes {

inline constexpr int64_t kMaxNodes = 100'000;

// The node that `self` means in a recipe.
struct Self {
  std::string system;  // "": no node, only variables
  int ordinal = 0;
  const expr::Binding* bindings = nullptr;  // variables of the `each` around a resource
};

// The first training or program of a configure, also inside `each`; null if none.
const ast::Resource* find_job(const ast::Configure& configure);

class Scopes final : public expr::World, public expr::Systems, public Values {
 public:
  Scopes(const Instance& program, const CompileOptions& options, SourceMap& sources,
         Diagnostics& diagnostics);
  ~Scopes() override;

  // Declares the inputs of all instances, assigns their values, and reports values for inputs that do not
  // exist.
  void resolve_inputs();

  // Sets `used_self`, if given, when the expression uses `self`.
  expr::Value evaluate(const ast::Expr& expression, const Instance& instance, const Self* self = nullptr,
                       bool* used_self = nullptr);
  expr::Value input(const Instance& instance, std::string_view name, Span at);
  expr::Value let(const Instance& instance, std::string_view name, Span at);
  // Calls `each` for each repetition with `self` and the variables of the `each`. Stops if it returns false.
  // Returns false after that, or after a report.
  using OnRepetition = std::function<bool(const Self& inside)>;
  bool repeat(const ast::Each& each, const Instance& instance, const Self* self, bool* used_self,
              const OnRepetition& on_repetition);
  expr::Value output(const Instance& instance, std::string_view name, Span at);
  bool output_sensitive(const Instance& instance, std::string_view name);

  // Full names of the systems that a name means: "worker", or in a module "input.workers". Empty if it is not
  // a system, which the document check reports; errors in an input are reported here.
  std::vector<std::string> systems_named(const ast::Name& name, const Instance& instance);
  std::vector<std::string> systems_of(const ast::Item& item, const Instance& instance);
  // The cloud of a deploy block. "" for the run's default, or after a report.
  std::string cloud_of(const ast::Deploy& deploy, const Instance& instance);
  // The number of nodes of a deploy block; nullopt after a report.
  std::optional<int64_t> deploy_count(const ast::Deploy& deploy, const Instance& instance);

  // Calls `on_job` for each training or program of a configure, with `each` expanded and those excluded by
  // `when` omitted. `self` holds the variables; null outside `each`. Returns false after a report.
  using OnJob = std::function<void(const ast::Resource& job, const Self* self)>;
  bool each_job(const ast::Configure& configure, const Instance& instance, const OnJob& on_job);
  // Calls `on_feature` for each feature of a resource's body, with `each` expanded and computed names filled
  // in. Returns false after a report.
  using OnFeature = std::function<void(const ast::Feature& feature, const Self* self)>;
  bool each_feature(const List<ast::Feature*>& features, const Instance& instance, const Self* self,
                    bool* used_self, const OnFeature& on_feature);
  // IDs of a configure's job steps ("training/NAME", "program/NAME"), in source order.
  struct JobSteps {
    std::vector<std::string> ids;
    bool known = false;  // false while it is computed, and after a report
    bool wrong = false;  // after a report
  };
  const JobSteps& job_steps(const ast::Configure& configure, const Instance& instance);

  // Numbers and host names of nodes, set by passes/nodes.cc.
  struct NodeFacts {
    int number = 0;
    std::string host_name, domain;
  };
  void set_node_facts(
      std::function<std::optional<NodeFacts>(const std::string& system, int64_t ordinal)> facts) {
    facts_ = std::move(facts);
  }

  // True if generated() was called.
  bool uses_generated() const { return uses_generated_; }
  // Files that file() read, in order.
  const std::vector<ir::Source>& files_read() const { return files_read_; }
  std::map<std::string, ir::JsonBox> program_inputs(ir::Secrets& secrets) const;
  // Replaces @input.NAME@ in a recipe's text with the input's value.
  std::string fill_body(std::string_view body, const Instance& instance, Span at);
  void report_unused_inputs();
  // Conditions of inputs, and of `assert` blocks.
  void check_conditions();

  // expr::World
  std::optional<std::string> variable(const std::string& name) override;
  std::optional<std::string> generated(const std::string& name) override;
  Result<std::string> file(const std::string& path, Span at) override;
  Result<const ast::Expr*> text_template(const std::string& path, Span at) override;
  // Values, for the expansion of `each` and `when`
  void declare(const Instance& instance) override;
  expr::Value value(const ast::Expr& expression, const Instance& instance) override {
    return evaluate(expression, instance);
  }
  std::optional<std::vector<std::pair<expr::Value, expr::Value>>> elements(const expr::Value& list,
                                                                           Span at) override;
  // expr::Systems
  std::optional<int64_t> count(const std::string& system, Span at) override;
  const std::vector<int>* ordinals(const std::string& system) override;
  std::optional<expr::Value> attribute(const std::string& system, int64_t ordinal, std::string_view member,
                                       Span at) override;

  struct Scope;  // of one instance

 private:
  friend struct Scope;
  struct Slot;
  struct CountSlot;

  Scope& scope(const Instance& instance);
  bool each_job(const List<ast::Resource*>& resources, const Instance& instance, const Self* self,
                const OnJob& on_job);
  bool holds(const ast::Expr& condition, const Instance& instance, std::string_view what);
  bool shown_in_plans(const expr::Value& value, Span at);
  std::string message_of(const ast::Expr* message, const Instance& instance);
  bool give_option(Scope& here, const ast::Feature& feature);
  expr::Value options_value(const Slot& slot, const Instance& instance, std::string_view name);
  expr::Context context(const Self* self);
  std::string path_from(const std::string& path, Span at) const;
  void check_given_to_module(const Instance& instance);
  expr::Value resolve_slot(Slot& slot, const Instance& instance, std::string_view name, Span at);
  expr::Value program_value(Slot& slot, std::string_view name);
  expr::Value module_value(Slot& slot, const Instance& instance, std::string_view name);
  std::optional<int64_t> compute_deploy_count(const ast::Deploy& deploy, const Instance& instance);
  void index_deploys();
  // Reports a circular dependency of `what`, with a note for each value on the way.
  expr::Value cycle(std::string_view what, Span at);

  // Keeps a value on working_ while it is computed.
  class Working {
   public:
    Working(Scopes& scopes, std::string what, Span at) : scopes_(scopes) {
      scopes_.working_.emplace_back(std::move(what), at);
    }
    ~Working() { scopes_.working_.pop_back(); }
    Working(const Working&) = delete;
    Working& operator=(const Working&) = delete;

   private:
    Scopes& scopes_;
  };

  const Instance& program_;
  const CompileOptions& options_;
  SourceMap& sources_;
  Diagnostics& diagnostics_;
  GivenInputs given_;
  expr::Budget budget_;
  std::unordered_map<const Instance*, std::unique_ptr<Scope>> scopes_;
  std::unordered_map<std::string, std::unique_ptr<CountSlot>> counts_;
  std::map<std::pair<const ast::Deploy*, const Instance*>, std::optional<int64_t>> deploy_counts_;
  std::set<std::string> known_systems_;
  bool deploys_indexed_ = false;
  bool uses_generated_ = false;
  bool expanded_ = false;                              // all instances exist
  std::vector<std::pair<std::string, Span>> working_;  // values being computed: name, position of the use
  std::map<std::string, ParsedExpression> templates_;  // by path
  int depth_ = 0;
  std::vector<ir::Source> files_read_;
  std::map<std::string, std::string> file_cache_;
  std::function<std::optional<NodeFacts>(const std::string&, int64_t)> facts_;
};

}  // namespace radl::passes
