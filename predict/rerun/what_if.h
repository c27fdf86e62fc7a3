// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// "If I change this, how much faster?" The run is executed again with the change, and what comes
// out is analysed like the run itself: where the waiting went, who causes it then, the new critical
// path.
#pragma once

#include <functional>
#include <optional>

#include "blame/analyze.h"
#include "predict/rerun/perturb.h"
#include "predict/rerun/scenario.h"

namespace culprit::predict {

struct Prediction {
  blame::Findings recorded, predicted;
  double wall_s = 0, predicted_wall_s = 0;
  /// The length of the run executed again without a change: its difference from the recorded length
  /// shows how reliable the prediction is.
  double unchanged_wall_s = 0;
  Sampled sampled;                       ///< of the changed run; its mean is predicted_wall_s
  Sensitivities sensitivities;           ///< if they were asked for
  std::set<LinkKind> unknown_links;      ///< as in Change
  std::unique_ptr<trace::Source> trace;  ///< of the predicted run; needs the recorded one's
  Unknowns unknowns;
  uint64_t forced = 0;  ///< dependences that were passed over, since they formed a circle
};

/// `losses` are those of opening the trace. Error if it cannot be analysed, if something that the
/// scenario names is not in the run, or if clocks had to be repaired. What is random is repeated;
/// the findings are those of the first repeat.
Result<Prediction> what_if(const trace::Source& source, const Scenario& scenario, unsigned threads,
                           const Losses& losses, bool with_sensitivities = false);

/// Builds a run's graph while it is analysed.
class GraphObserver : public blame::Observer {
 public:
  using AtGraph = std::function<void(const replay::Run&, const EventGraph&, blame::Findings&)>;
  GraphObserver(unsigned threads, AtGraph at_graph)
      : threads_(threads), at_graph_(std::move(at_graph)) {}

  void at_operations(const replay::Run& run, const blame::Allowance&) override {
    dependences_ = find_dependences(run, threads_);
  }
  void at_end(const replay::Run& run, const replay::WaitGraph& graph,
              blame::Findings& findings) override {
    at_graph_(run,
              build_graph(outline_run(run, graph, std::move(dependences_), threads_), threads_),
              findings);
  }

 private:
  const unsigned threads_;
  const AtGraph at_graph_;
  Dependences dependences_;
};

}  // namespace culprit::predict
