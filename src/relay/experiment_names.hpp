// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"

#include <string>
#include <vector>

namespace ponk::relay {

// Of a name that a script gives to the experiment of its run; the same in all runs.
std::string other_experiment_id(const std::string& name);

// Under which names and ids a script knows the experiment of its run. A run does not move, so all
// of them are the same experiment, and a tag keeps apart what the script put into each. Any thread
// may call.
//
// MLflow's client asks for an experiment by its name before it puts runs into it and before it
// searches in it, with the same call; and it goes on in its run only when the id that it was told
// is the run's. So until the run is in use all names have that id, and what comes next tells which
// was meant. From then on other names have ids of their own, and nothing is to be guessed. (Where
// nobody has named any and the run has ended, the next one shares it, too: a script may have it in
// MLFLOW_EXPERIMENT_NAME, and MLflow compares that with the id that we gave.)
class ExperimentNames {
public:
    // `home` is where runs go; empty: nobody has named any.
    ExperimentNames(std::string own_id, std::string own_name, const std::string& home);

    enum class How { found, made };
    // `ended`: the script has said so, and may begin another.
    enum class Run { unused, used, ended };
    struct Named {
        std::string id;
        bool goes_there;  // runs do, from now on
    };
    Named name(const std::string& name, How how, Run run);

    // Where a run goes that is made with the run's own id; empty where that is the experiment's own
    // name.
    [[nodiscard]] std::string of_new_run();
    // Where a search looks that names the run's own id so many times. The next page of one looks
    // where the first did.
    enum class Page { first, next };
    [[nodiscard]] std::vector<std::string> of_search(std::size_t times, Page page);

    // What the run's own id is called.
    [[nodiscard]] std::string shown() const;
    // Of the runs that have this tag; empty: that have none.
    [[nodiscard]] std::string id_of(const std::string& name) const;

private:
    struct State {
        std::string home;
        std::vector<std::string> asked;  // for the run's own id since the last search
        std::vector<std::string> searched;
    };
    [[nodiscard]] const std::string& home_of(const State& state) const;

    const std::string own_id_;
    const std::string own_name_;
    mutable Synced<State> state_;
};

}  // namespace ponk::relay
