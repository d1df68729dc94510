//! A generation of the joint-quadratic scheme, in words.

use crate::config::Config;

pub(super) fn steps(config: &Config) -> Vec<String> {
    let mut steps = Vec::new();
    if config.jq.descent > 0 {
        let descents = "First, and later in turn with what follows: descend from one point, both levels on one model.";
        steps.push(descents.to_string());
    }
    steps.push("Sample candidates (x, y) from the upper CMA-ES over both levels' variables.".into());
    steps.push((config.allocator.kind.facts().choice)(config));
    if config.jq.injection.is_on() {
        steps.push("Add the minimiser of the leader's model to them.".into());
    }
    steps.extend(
        [
            "Search the lower level for all of them side by side, on one quadratic model of all lower evaluations.",
            "Evaluate the upper level once for each candidate with its follower's answer.",
            "Verify the best candidate and the incumbent by another lower search.",
            "Update the upper distribution from the candidates that were solved, and train the ranking network.",
            "Without progress: look at the follower once more without the model, then restart; end when restarts agree.",
        ]
        .map(String::from),
    );
    if config.jq.ties > 0 {
        let leaning = "Now and then, and before the end: restart with a follower that leans to the leader, ever less.";
        steps.push(leaning.into());
    }
    steps
}
