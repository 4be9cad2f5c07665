// Trials of files against simulated clouds: what they find, what they repeat, what they leave.
#include "runtime/trial/trial.h"

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/source/source.h"
#include "tests/support/paths.h"
#include "tests/support/runtime_programs.h"

namespace radl::test {
namespace {

using simulated::parse_faults;

class Trial : public testing::Test {
 protected:
  Trial() : compiled_(compile_file("tests/unit/runtime/trial/cluster.radl")) {
    options_.faults = *parse_faults("all");
  }
  static Compiled compile_file(const std::string& path) {
    SourceMap sources;
    Diagnostics diagnostics;
    auto compiled = compile({source_dir() + "/" + path}, {}, sources, diagnostics);
    EXPECT_TRUE(compiled.has_value());
    return compiled ? *compiled : Compiled();
  }
  TrialSubject subject() { return {compiled_.program, compiled_.secrets, catalog_}; }
  TrialReport run() {
    auto report = run_trials(subject(), options_);
    EXPECT_TRUE(report.ok()) << report.status().text();
    return report.ok() ? *report : TrialReport();
  }
  static std::string text(const TrialReport& report) {
    std::string text;
    for (const TrialRun& failure : report.failures) {
      text += "seed " + std::to_string(failure.seed) + "\n";
      for (const Finding& finding : failure.findings)
        text += "  " + std::string(finding_name(finding.kind)) + ": " + finding.text + "\n";
    }
    return text;
  }

  Compiled compiled_;
  Catalog catalog_;
  TrialOptions options_;
};

TEST_F(Trial, AFileSurvivesEveryFault) {
  options_.runs = 200;
  TrialReport report = run();
  EXPECT_EQ(report.runs, 200u);
  EXPECT_EQ(report.failed, 0u) << text(report);
  EXPECT_GT(report.counts.interrupted, 50);
  EXPECT_GT(report.counts.failed, 50) << "the faults did nothing";
}

}  // namespace
}  // namespace radl::test
