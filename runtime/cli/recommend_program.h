// `radlc recommend` of a program of the user's own: which machine type and how many nodes, by what its own
// runs took (runtime/foresight/program_model.h).
#pragma once

#include <string>
#include <vector>

#include "runtime/cli/recommend_question.h"
#include "runtime/foresight/program_model.h"

namespace radl::cli {

// Clusters for a program: each a type and a number of nodes. Vectors are by candidate.
struct ProgramAnswer {
  RecommendQuestion question;  // its `workers` are the types; Candidate::index is of `clusters`
  struct Cluster {
    size_t type = 0;
    int nodes = 1;
  };
  std::vector<Cluster> clusters;
  std::vector<foresight::Candidate> candidates;
  std::vector<foresight::ProgramForecast> forecasts;
  std::vector<std::string> why;  // it is rejected for another reason than a bound; "": it is not
  foresight::Choice choice;
  std::string currency = "USD";
  std::string id;       // of the program's step
  std::string profile;  // the command that measures the chosen cluster better

  // "m5.xlarge", "4xm5.xlarge": what --explain takes.
  std::string name(size_t candidate) const;
};

// The exit status. Types and sizes that the program ran on are measured; others are scaled from these, in a
// band from no gain to a gain in proportion, and are called outside of what was measured.
int run_program(const Session& session, const RecommendFlags& flags, const Project& project,
                const Machinery& machinery, const Surveys& surveys, const ir::Step& step);

// recommend_program_view.cc
std::string program_text(const ProgramAnswer& answer, bool all);
Json program_json(const ProgramAnswer& answer);
// NotFound: there is no such candidate.
Result<std::string> explain_program(const ProgramAnswer& answer, const std::string& name);
// If nothing is within the limits: what would be.
std::string least_of_program(const ProgramAnswer& answer);

}  // namespace radl::cli
