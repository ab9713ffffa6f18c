//! Functions and mappings of the template, with the defaults of its parameters.

use std::path::Path;
use std::time::Duration;

/// The template.
#[derive(Debug)]
pub(super) struct Template(String);

/// A function.
#[derive(Clone, Copy, Debug)]
pub(super) struct FunctionSize {
    pub(super) memory_mb: u32,
    pub(super) timeout: Duration,
}

/// The mapping of a function's queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct MappingSize {
    /// Maximum number of messages of a batch.
    pub(super) batch: usize,
    /// Time for which a batch is gathered.
    pub(super) window: Duration,
    /// Maximum number of simultaneous invocations.
    pub(super) at_once: usize,
}

/// Returns the number of minutes between two ticks of dispatch, according to the template.
pub fn dispatch_every() -> u64 {
    Template::read().dispatch_every()
}

impl Template {
    pub(super) fn read() -> Template {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../infra/template.yaml");
        Template(std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
    }

    pub(super) fn function(&self, name: &str) -> FunctionSize {
        let number = |field| u32::try_from(self.number(name, field)).unwrap();
        FunctionSize { memory_mb: number("MemorySize"), timeout: Duration::from_secs(self.number(name, "Timeout")) }
    }

    pub(super) fn mapping(&self, name: &str) -> MappingSize {
        let count = |field| usize::try_from(self.number(name, field)).unwrap();
        MappingSize {
            batch: count("BatchSize"),
            window: Duration::from_secs(self.number(name, "MaximumBatchingWindowInSeconds")),
            at_once: count("MaximumConcurrency"),
        }
    }

    pub(super) fn parameter(&self, name: &str) -> String {
        self.resolved(&format!("!Ref {name}"))
    }

    /// Returns the number of minutes between two ticks of dispatch.
    pub(super) fn dispatch_every(&self) -> u64 {
        let block = self.block("Resources", "DispatchSchedule");
        let rate = block.iter().find_map(|line| line.trim().strip_prefix("ScheduleExpression: rate("));
        let minutes = rate.and_then(|rate| rate.split(' ').next()?.parse().ok());
        minutes.unwrap_or_else(|| panic!("the rate of dispatch is no number of minutes: {rate:?}"))
    }

    fn number(&self, function: &str, field: &str) -> u64 {
        let (first, rest) = function.split_at(1);
        let block = self.block("Resources", &format!("{}{rest}Function", first.to_uppercase()));
        let start = format!("{field}: ");
        let value = block.iter().find_map(|line| line.split_once(&start)).map(|(_, value)| value.trim());
        let value = value.unwrap_or_else(|| panic!("{function} has no {field}"));
        // The field may be the last one inside braces.
        let value = value.trim_end_matches('}');
        self.resolved(value).parse().unwrap_or_else(|_| panic!("{function}: {field} is {value}"))
    }

    /// Resolves a value: a literal, the default of a parameter, or the entry of a mapping.
    fn resolved(&self, value: &str) -> String {
        let value = value.trim();
        let inner = |name: &str| value.strip_prefix(name)?.trim().strip_prefix('[')?.strip_suffix(']');
        if let Some(name) = value.strip_prefix("!Ref ") {
            let default =
                self.block("Parameters", name).into_iter().find_map(|line| line.trim().strip_prefix("Default: "));
            return unquoted(default.unwrap_or_else(|| panic!("{name} has no default"))).to_owned();
        }
        if let Some(parts) = inner("!FindInMap ") {
            let parts: Vec<String> = parts.split(',').map(|part| self.resolved(part)).collect();
            let [map, row, column] = &parts[..] else { panic!("not understood: {value}") };
            let rows = self.block("Mappings", map);
            let row = rows.iter().find_map(|line| {
                let (name, fields) = line.trim().split_once(':')?;
                (unquoted(name) == row).then_some(fields)
            });
            let row = row.unwrap_or_else(|| panic!("{map} has no such row: {value}"));
            let fields = row.trim().trim_start_matches('{').trim_end_matches('}').split(',');
            let found = fields.filter_map(|field| field.split_once(':')).find(|(name, _)| name.trim() == column);
            return unquoted(found.unwrap_or_else(|| panic!("not found: {value}")).1.trim()).to_owned();
        }
        if let Some(parts) = inner("!If ") {
            // All conditions are switches that are off by default.
            return self.resolved(parts.splitn(3, ',').nth(2).unwrap_or_default());
        }
        unquoted(value).to_owned()
    }

    /// Returns the lines below an entry of a section.
    fn block(&self, section: &str, name: &str) -> Vec<&str> {
        let lines = self.0.lines().skip_while(|line| *line != format!("{section}:")).skip(1);
        let lines = lines.take_while(|line| line.is_empty() || line.starts_with([' ', '#']));
        let lines = lines.skip_while(|line| *line != format!("  {name}:")).skip(1);
        let block: Vec<&str> = lines.take_while(|line| line.is_empty() || line.starts_with("    ")).collect();
        assert!(!block.is_empty(), "the template has no {name} in {section}");
        block
    }
}

fn unquoted(value: &str) -> &str {
    value.trim().trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_template() {
        let template = Template(
            "Parameters:\n  Window:\n    Type: Number\n    Default: 60\n  Scale:\n    Default: \"small\"\n\n\
             Mappings:\n  Scales:\n    small: {Poll: 2, Fetch: 3}\n    large: {Poll: 20, Fetch: 30}\n  \
             Windows:\n    all: {Poll: 180}\n\
             Resources:\n  PollFunction:\n    Properties:\n      MemorySize: 256\n      Timeout: 900\n            \
             BatchSize: 1000\n            MaximumBatchingWindowInSeconds: !If [Has, !Ref Window, !FindInMap [Windows, all, Poll]]\n            \
             ScalingConfig: {MaximumConcurrency: !FindInMap [Scales, !Ref Scale, Poll]}\n"
                .to_owned(),
        );
        let mapping = template.mapping("poll");
        assert_eq!((mapping.batch, mapping.window.as_secs(), mapping.at_once), (1000, 180, 2));
        assert_eq!((template.function("poll").memory_mb, template.function("poll").timeout.as_secs()), (256, 900));
        for function in ["discover", "poll", "fetch", "extract", "remove"] {
            let (mapping, size) = (Template::read().mapping(function), Template::read().function(function));
            assert!(mapping.at_once >= 2 && mapping.batch >= 10 && size.memory_mb >= 128, "{function}: {mapping:?}");
        }
    }
}
