//! `PutMetricData` of CloudWatch's query interface.

use chrono::{DateTime, SecondsFormat};
use store::RunView;
use store::sinks::SentRecord;
use url::form_urlencoded::Serializer;

use crate::config::{CloudWatchTarget, MetricDimension};

/// The metric of S3-36.
const METRIC: &str = "ExecutionTime";
const UNIT: &str = "Milliseconds";

/// A datum for each run that began; `None` without one. CloudWatch takes 1,000, more than a batch has.
pub(super) fn body(records: &[SentRecord], target: &CloudWatchTarget) -> Option<String> {
    let runs = records.iter().filter_map(|record| match record {
        SentRecord::Run(sent) => Some((&sent.run, sent.run.duration_us?)),
        _ => None,
    });
    let mut form = Serializer::new(String::new());
    form.append_pair("Action", "PutMetricData");
    form.append_pair("Version", "2010-08-01");
    form.append_pair("Namespace", &target.namespace);
    let mut count = 0;
    for (run, duration_us) in runs {
        count += 1;
        let mut member = |name: &str, value: &str| {
            form.append_pair(&format!("MetricData.member.{count}.{name}"), value);
        };
        let at_ms = run.ended_ms.unwrap_or(run.asked_ms);
        let at = DateTime::from_timestamp_millis(at_ms).unwrap_or_default();
        member("MetricName", METRIC);
        member("Unit", UNIT);
        member("Timestamp", &at.to_rfc3339_opts(SecondsFormat::Millis, true));
        member("Value", &format!("{}", duration_us as f64 / 1000.0));
        for (number, (name, value)) in (1..).zip(dimensions(run, &target.dimensions)) {
            member(&format!("Dimensions.member.{number}.Name"), name);
            member(&format!("Dimensions.member.{number}.Value"), value);
        }
    }
    (count > 0).then(|| form.finish())
}

/// Dimensions with their values. An absent value is `none`, because CloudWatch takes no empty one.
fn dimensions<'r>(run: &'r RunView, wanted: &[MetricDimension]) -> Vec<(&'static str, &'r str)> {
    let known = MetricDimension::ALL.into_iter();
    let wanted = known.filter(|(_, dimension)| wanted.contains(dimension));
    wanted
        .map(|(name, dimension)| {
            let value = match dimension {
                MetricDimension::Status => Some(run.status.as_str()),
                MetricDimension::Language => run.language.as_deref(),
                MetricDimension::ServerId => run.virtual_server.as_deref(),
                MetricDimension::ExecutionId => Some(run.id.as_str()),
            };
            (name, value.unwrap_or("none"))
        })
        .collect()
}
