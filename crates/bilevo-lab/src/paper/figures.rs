//! Bar charts of a comparison: published figures next to ours.

use super::compared::Compared;
use super::published;
use crate::figures::bars::{Bar, Bars, Unit};

/// Savings (R_rs) of the reference by problem; `None` if nothing was measured, or nothing published (the same bars
/// then belong to a pair already).
pub(super) fn savings(compared: &Compared<'_>) -> Option<Bars> {
    let comparison = &compared.comparison;
    let published_as = comparison.published_as?;
    let average = compared.average_saving(comparison.reference)?;
    Some(Bars {
        title: format!("Saving of {}, {}", comparison.reference, comparison.on.name),
        values: bars(compared, |p| published::saving(published_as, comparison.base, p), |line| line.saving),
        line: Some((average, format!("average {average:.1} %"))),
        unit: Unit::Percent,
    })
}

/// Accuracy of the reference's ranking model by problem, on pairs across generations as in the paper; `None` if it
/// has no model, or if the comparison is not a published pair. The paper gives numbers for its CR-TLEA-CMA-ES on four
/// SMD problems.
pub(super) fn model_accuracy(compared: &Compared<'_>) -> Option<Bars> {
    let comparison = &compared.comparison;
    if comparison.published_as?.strip_prefix("cr-") != Some(comparison.base) {
        return None;
    }
    let with_numbers = comparison.reference == "cr-tlea-cma-es";
    let published = |p: &str| if with_numbers { published::model_accuracy(p) } else { None };
    let values = bars(compared, published, |line| line.group.model_accuracy_across());
    values.iter().any(|bar| bar.measured.is_some()).then(|| Bars {
        title: format!("Model accuracy of {} across generations, {}", comparison.reference, comparison.on.name),
        values,
        line: Some((published::MODEL_ACCURACY_ON_MOST, "0.8: published for most problems".into())),
        unit: Unit::Share,
    })
}

fn bars(
    compared: &Compared<'_>,
    published: impl Fn(&str) -> Option<f64>,
    measured: impl Fn(&super::compared::Line<'_>) -> Option<f64>,
) -> Vec<Bar> {
    let bar = |problem: &&'static str| Bar {
        problem: problem.to_string(),
        published: published(problem),
        measured: compared.line(compared.comparison.reference, problem).and_then(&measured),
    };
    compared.comparison.on.names.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::study::COMPARISONS;
    use crate::tables::groups::group;
    use crate::testing::row;

    #[test]
    fn published_bars_stand_beside_ours() {
        let rows: Vec<_> = ["tlea-cma-es", "cr-tlea-cma-es"]
            .iter()
            .flat_map(|m| (1..=12).map(move |k| row(m, &format!("smd{k}"), 1)))
            .collect();
        let groups = group(&rows);
        let pair = Compared::new(COMPARISONS[0], &groups);
        assert_eq!(savings(&pair).unwrap().scene().svg("a").matches("bar s").count(), 24);
        let accuracy = model_accuracy(&pair).unwrap();
        assert_eq!(accuracy.scene().svg("a").matches("bar s").count(), 12 + 4);
        assert!(accuracy.scene().description.contains("smd6 0.830 (0.586)"));
        let not_run = Compared::new(COMPARISONS[1], &groups);
        assert!(savings(&not_run).is_none() && model_accuracy(&not_run).is_none());
    }
}
