// `radlc recommend` for a user program: chooses machine type and number of nodes from the program's own runs
// (runtime/foresight/program_model.h).
#pragma once

#include <string>
#include <vector>

#include "runtime/cli/recommend_flags.h"
#include "runtime/foresight/program_model.h"

namespace radl::cli {

// Candidate clusters for a program: a type and a number of nodes each. Vectors are indexed by candidate.
struct ProgramAnswer {
  RecommendQuestion question;  // its `workers` are the types; Candidate::index refers to `clusters`
  struct Cluster {
    size_t type = 0;
    int nodes = 1;
  };
  std::vector<Cluster> clusters;
  std::vector<foresight::Candidate> candidates;
  std::vector<foresight::ProgramForecast> forecasts;
  std::vector<std::string> why;  // reason for a rejection other than a bound; "": none
  foresight::Choice choice;
  std::string currency = "USD";
  std::string id;       // of the program's step
  std::string profile;  // the command that measures the chosen cluster

  // Candidate names for --explain: "m5.xlarge", "4xm5.xlarge".
  std::string name(size_t candidate) const;
};

// Returns the exit status. Types and sizes on which the program ran are measured. Others are extrapolated, in
// a band from no gain to proportional gain, and marked as outside of the measurements.
int run_program(const Session& session, const RecommendFlags& flags, const Project& project,
                const Machinery& machinery, const Surveys& surveys, const ir::Step& step);

// recommend_program_view.cc
std::string program_text(const ProgramAnswer& answer, bool all);
Json program_json(const ProgramAnswer& answer);
// NotFound: no such candidate.
Result<std::string> explain_program(const ProgramAnswer& answer, const std::string& name);
// If no candidate is within the limits: the smallest workable limits.
std::string least_of_program(const ProgramAnswer& answer);

}  // namespace radl::cli
