#include "runtime/steps/farm/optuna.h"

#include <fmt/format.h>

#include <chrono>

#include "common/json_values.h"
#include "common/process/process.h"

namespace radl::farm {
namespace {

constexpr std::chrono::seconds kLongestAnswer{60};
constexpr int kNoOptuna = 3;

constexpr const char* kScript = R"py(
import json, math, sys
request = json.load(sys.stdin)
try:
    import optuna
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
    from optuna.trial import TrialState, create_trial
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(3)
optuna.logging.set_verbosity(optuna.logging.ERROR)

space = request["space"]

def distribution(one):
    if "values" in one:
        return CategoricalDistribution(tuple(range(len(one["values"]))))
    if one["integer"]:
        low, high = math.ceil(one["min"]), math.floor(one["max"])
        step = int(one["step"] or 1)
        return IntDistribution(low, high - (high - low) % step, log=one["log"], step=step)
    return FloatDistribution(one["min"], one["max"], log=one["log"], step=one["step"] or None)

def exists(one, chosen):
    return all(name in chosen and chosen[name] in values for name, values in one["when"].items())

def known(trial):
    parameters, distributions = {}, {}
    for one in space:
        name = one["name"]
        if name in trial["parameters"]:
            value = trial["parameters"][name]
            parameters[name] = one["values"].index(value) if "values" in one else value
            distributions[name] = distribution(one)
    if "value" in trial:
        return create_trial(value=trial["value"], params=parameters, distributions=distributions)
    state = TrialState.FAIL if trial["over"] else TrialState.RUNNING
    return create_trial(state=state, params=parameters, distributions=distributions)

maker = getattr(optuna.samplers, request["sampler"], None)
if maker is None:
    sys.exit("optuna.samplers has no " + request["sampler"])
options = dict(request["options"])
if request["sampler"] == "TPESampler":
    options.setdefault("constant_liar", True)
study = optuna.create_study(direction="maximize" if request["maximize"] else "minimize",
                            sampler=maker(seed=request["seed"], **options))
study.add_trials([known(trial) for trial in request["trials"]])
trial = study.ask()
chosen = {}
for one in space:
    if not exists(one, chosen):
        continue
    name, kind = one["name"], distribution(one)
    if "values" in one:
        chosen[name] = one["values"][trial.suggest_categorical(name, kind.choices)]
    elif one["integer"]:
        chosen[name] = trial.suggest_int(name, kind.low, kind.high, log=kind.log, step=kind.step)
    else:
        chosen[name] = trial.suggest_float(name, kind.low, kind.high, log=kind.log, step=kind.step)
print(json.dumps({"parameters": chosen}))
)py";

}  // namespace

Suggest ask_optuna(Environment environment, Stop stop) {
  return [environment = std::move(environment), stop = std::move(stop)](const Json& request) -> Result<Json> {
    ProcessRequest ask;
    ask.argv = {"python3", "-W", "ignore", "-c", kScript};
    ask.stdin_bytes = request.dump();
    ask.inherited = {"PYTHON*", "VIRTUAL_ENV"};
    ask.deadline = kLongestAnswer;
    ask.stop = stop;
    auto done = run_process(environment, ask);
    if (!done) return std::move(done).status();
    if (done->exit_status == kNoOptuna)
      return Status(Code::Unsupported,
                    "`strategy = 'optuna'` needs the Python package optuna on this computer: " + done->err)
          .with_hint(
              "install it for the python3 of your PATH, for example in a virtual environment: pip "
              "install optuna");
    if (done->exit_status != 0)
      return Status(Code::Unsupported, fmt::format("Optuna has no values for the next trial: {}", done->err));
    Json answer = json::parse_json(done->out);
    if (!answer.is_object())
      return Status(Code::Corrupt, "Optuna's answer is not a JSON object: " + done->out);
    return answer;
  };
}

}  // namespace radl::farm
