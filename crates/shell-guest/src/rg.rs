//! The program `rg` with its commonest options, on the crates of ripgrep, for machines that have none.

mod options;

use std::io::{self, BufWriter, Write};
use std::path::Path;

use grep_printer::{StandardBuilder, SummaryBuilder, SummaryKind};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use ignore::{Walk, WalkBuilder};

use options::{Case, RgOptions, Shown, parse};

/// Exit statuses of ripgrep: something matched, nothing did, or something failed.
const MATCHED: i32 = 0;
const UNMATCHED: i32 = 1;
const FAILED: i32 = 2;

const HELP: &str = include_str!("rg/help.txt");

type Problem = Box<dyn std::error::Error>;

/// Runs the program; returns its exit status.
pub fn run(arguments: &[String]) -> i32 {
    let ended = match parse(arguments) {
        Ok(Some(options)) => search(&options, &mut BufWriter::new(io::stdout().lock())),
        Ok(None) => io::stdout()
            .write_all(HELP.as_bytes())
            .map(|()| MATCHED)
            .map_err(Problem::from),
        Err(problem) => Err(problem.into()),
    };
    ended.unwrap_or_else(|problem| {
        if !is_closed(&*problem) {
            tell(&problem.to_string());
        }
        FAILED
    })
}

/// Prints a problem to standard error. Ignores a closed stream.
fn tell(problem: &str) {
    let _ = writeln!(io::stderr(), "rg: {problem}");
}

fn search(options: &RgOptions, output: &mut impl Write) -> Result<i32, Problem> {
    let mut summary = SearchSummary::default();
    if options.shown == Shown::Files {
        list(options, output, &mut summary)?;
        output.flush()?;
        return Ok(summary.status());
    }
    let matcher = matcher(options)?;
    let mut searcher = searcher(options);
    if options.reads_input() {
        summary.found = one(options, &matcher, &mut searcher, output, None)?;
        output.flush()?;
        return Ok(summary.status());
    }
    for entry in walk(options)? {
        let searched = entry.map_err(Problem::from).and_then(|entry| {
            if entry.path().is_dir() {
                return Ok(false);
            }
            let searched = one(options, &matcher, &mut searcher, output, Some(entry.path()));
            searched.map_err(|error| in_file(entry.path(), error))
        });
        match searched {
            Ok(matches) => summary.found |= matches,
            Err(error) if is_closed(&*error) => return Err(error),
            Err(error) => summary.fail(&error),
        }
    }
    output.flush()?;
    Ok(summary.status())
}

/// Whether the reader has closed the output.
fn is_closed(problem: &(dyn std::error::Error + 'static)) -> bool {
    let error = problem.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// The problem with its file's name, unless the output caused it.
fn in_file(path: &Path, error: io::Error) -> Problem {
    match error.kind() {
        io::ErrorKind::BrokenPipe => error.into(),
        _ => format!("{}: {error}", path.display()).into(),
    }
}

/// Summary of a search.
#[derive(Default)]
struct SearchSummary {
    /// Whether a line matched.
    found: bool,
    /// Whether a file could not be searched.
    failed: bool,
}

impl SearchSummary {
    fn status(&self) -> i32 {
        match (self.found, self.failed) {
            (_, true) => FAILED,
            (true, false) => MATCHED,
            (false, false) => UNMATCHED,
        }
    }

    fn fail(&mut self, problem: &dyn std::fmt::Display) {
        self.failed = true;
        tell(&problem.to_string());
    }
}

/// Prints the files that would be searched.
fn list(options: &RgOptions, output: &mut impl Write, summary: &mut SearchSummary) -> Result<(), Problem> {
    for entry in walk(options)? {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                summary.found = true;
                writeln!(output, "{}", shown_path(entry.path()).display())?;
            }
            Ok(_) => {}
            Err(error) => summary.fail(&error),
        }
    }
    Ok(())
}

/// Searches one file, or standard input; returns whether a line matches.
fn one(
    options: &RgOptions,
    matcher: &RegexMatcher,
    searcher: &mut Searcher,
    output: &mut impl Write,
    path: Option<&Path>,
) -> io::Result<bool> {
    let has_path = options.shows_path();
    let summary = match options.shown {
        Shown::Lines | Shown::Files => None,
        Shown::Count => Some(SummaryKind::Count),
        Shown::Matching => Some(SummaryKind::PathWithMatch),
        Shown::Others => Some(SummaryKind::PathWithoutMatch),
        Shown::Nothing => Some(SummaryKind::QuietWithMatch),
    };
    let shown = path.map(shown_path);
    let output = &mut *output;
    if let Some(kind) = summary {
        let mut printer = SummaryBuilder::new()
            .kind(kind)
            .path(has_path || kind_is_path(kind))
            .build_no_color(output);
        let named = shown.unwrap_or(Path::new("<stdin>"));
        let mut sink = printer.sink_with_path(matcher, named);
        match path {
            Some(path) => searcher.search_path(matcher, path, &mut sink)?,
            None => searcher.search_reader(matcher, io::stdin(), &mut sink)?,
        }
        return Ok(sink.has_match() != (options.shown == Shown::Others));
    }
    let mut printer = StandardBuilder::new()
        .path(has_path)
        .only_matching(options.only_matching)
        .replacement(options.replacement.clone().map(String::into_bytes))
        .build_no_color(output);
    match (path, shown) {
        (Some(path), Some(shown)) => {
            let mut sink = printer.sink_with_path(matcher, shown);
            searcher.search_path(matcher, path, &mut sink)?;
            Ok(sink.has_match())
        }
        _ => {
            let mut sink = printer.sink(matcher);
            searcher.search_reader(matcher, io::stdin(), &mut sink)?;
            Ok(sink.has_match())
        }
    }
}

fn kind_is_path(kind: SummaryKind) -> bool {
    matches!(kind, SummaryKind::PathWithMatch | SummaryKind::PathWithoutMatch)
}

/// The path in the user's spelling.
fn shown_path(path: &Path) -> &Path {
    path.strip_prefix("./").unwrap_or(path)
}

fn matcher(options: &RgOptions) -> Result<RegexMatcher, grep_regex::Error> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(options.case == Case::Any)
        .case_smart(options.case == Case::Smart)
        .word(options.words)
        .whole_line(options.whole_lines)
        .fixed_strings(options.fixed)
        .multi_line(true)
        .dot_matches_new_line(false);
    if !options.multiline {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build_many(&options.patterns)
}

fn searcher(options: &RgOptions) -> Searcher {
    let binary = match options.text {
        true => BinaryDetection::none(),
        false => BinaryDetection::quit(0),
    };
    SearcherBuilder::new()
        .binary_detection(binary)
        .line_number(options.line_numbers)
        .invert_match(options.inverts)
        .multi_line(options.multiline)
        .before_context(options.before)
        .after_context(options.after)
        .max_matches(options.most)
        .build()
}

fn walk(options: &RgOptions) -> Result<Walk, ignore::Error> {
    let mut paths = options.paths.iter();
    let mut builder = WalkBuilder::new(paths.next().map_or("./", String::as_str));
    for path in paths {
        builder.add(path);
    }
    let builder = builder
        .hidden(!options.hidden)
        .follow_links(options.follows)
        .max_depth(options.depth)
        .sort_by_file_path(Path::cmp)
        .types(types(options)?)
        .overrides(globs(options)?);
    if !options.respects_ignore {
        builder
            .ignore(false)
            .git_ignore(false)
            .git_exclude(false)
            .git_global(false)
            .parents(false);
    }
    Ok(builder.require_git(false).build())
}

fn types(options: &RgOptions) -> Result<Types, ignore::Error> {
    let mut types = TypesBuilder::new();
    types.add_defaults();
    for name in &options.types {
        types.select(name);
    }
    for name in &options.other_types {
        types.negate(name);
    }
    types.build()
}

fn globs(options: &RgOptions) -> Result<Override, ignore::Error> {
    let mut globs = OverrideBuilder::new("./");
    for glob in &options.globs {
        globs.add(glob)?;
    }
    globs.build()
}
