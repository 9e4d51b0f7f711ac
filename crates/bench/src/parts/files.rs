//! The tree of tools for 2,040 tools of 46 real servers: built, refreshed after a change, and listed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use catalog::{Catalog, Entry};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use tempfile::TempDir;
use test_support::catalogue;
use types::EntryBounds;
use types::{Principal, ServerTools, SessionName, Tool, TreeFile};
use workspace::virtual_files::{Browse, FileLimits, FilePolicy};
use workspace::{WorkspaceConfig, Workspaces};

use crate::figures::{Figure, Samples};
use crate::setting::Setting;

/// Trees built from nothing; each has thousands of files.
const BUILT: usize = 5;
/// Limits in microseconds.
const BUILD: f64 = 1e6;
const REFRESH: f64 = 20e3;
const LIST: f64 = 5e3;

pub fn measure(setting: &Setting) -> Result<Vec<Figure>> {
    let lists = catalogue::lists()?;
    let catalog = Catalog::build(&lists);
    // The first use has built the index of tools.
    for entry in catalog.entries() {
        let _ = (entry.signature(), entry.fingerprint());
    }
    ensure!(catalog.entries().count() == 2_040, "the catalogue has changed");
    Ok(vec![
        built(&catalog, setting)?,
        refreshed(&catalog, lists, setting)?,
        listed(&catalog, setting)?,
    ])
}

/// An installation's files.
struct Place {
    workspaces: Workspaces,
    principal: Principal,
    _data: TempDir,
}

impl Place {
    fn new() -> Result<Place> {
        let data = tempfile::Builder::new().prefix("codeyard-bench-").tempdir()?;
        Ok(Place {
            workspaces: Workspaces::new(WorkspaceConfig::below(data.path())),
            principal: "local".parse()?,
            _data: data,
        })
    }

    fn publish(&self, catalog: &Catalog) -> Result<()> {
        Ok(self.workspaces.publish(&self.principal, &files(catalog))?)
    }
}

fn files(catalog: &Catalog) -> BTreeMap<String, TreeFile<'_>> {
    catalog::tree(catalog, "codeyard", &|_: &Entry| true, &|_| None)
}

fn built(catalog: &Catalog, setting: &Setting) -> Result<Figure> {
    let mut samples = Samples::default();
    // Removed at the end: ext4 creates files slowly where many have just been deleted.
    let mut places = Vec::new();
    for _ in 0..BUILT {
        let place = Place::new()?;
        let start = Instant::now();
        place.publish(catalog)?;
        samples.push(start.elapsed());
        places.push(place);
    }
    let figure = samples.figure("/tools of 2,040 tools, built", setting.placement);
    Ok(figure.at_most(BUILD))
}

/// From the changed list to the tree, without the host's later background work.
fn refreshed(catalog: &Catalog, mut lists: Vec<ServerTools>, setting: &Setting) -> Result<Figure> {
    let place = Place::new()?;
    place.publish(catalog)?;
    place.workspaces.tend_trees(&place.principal)?;
    let mut samples = Samples::default();
    let mut before: Option<Catalog> = None;
    for number in 0..setting.samples {
        let index = number % lists.len();
        let list = lists.get_mut(index).context("a server")?;
        change(list, number)?;
        let start = Instant::now();
        let now = before.as_ref().unwrap_or(catalog).update(&lists);
        place.publish(&now)?;
        samples.push(start.elapsed());
        place.workspaces.tend_trees(&place.principal)?;
        before = Some(now);
    }
    let figure = samples.figure(
        "/tools of 2,040 tools, refreshed for one changed tool",
        setting.placement,
    );
    Ok(figure.at_most(REFRESH))
}

/// Gives one tool of a server another description.
fn change(list: &mut ServerTools, number: usize) -> Result<()> {
    let mut tools: Vec<Arc<Tool>> = list.tools.as_deref().unwrap_or_default().to_vec();
    let index = number.checked_rem(tools.len()).context("a tool")?;
    let tool = tools.get_mut(index).context("a tool")?;
    let mut definition: Map<String, Value> = serde_json::from_str(tool.definition().get())?;
    definition.insert("description".to_owned(), format!("Version {number}.").into());
    let definition: Box<RawValue> = to_raw_value(&definition)?;
    *tool = Arc::new(Tool::parse(definition)?);
    list.tools = Some(tools.into());
    Ok(())
}

/// Like a client's request, which opens the session's files.
fn listed(catalog: &Catalog, setting: &Setting) -> Result<Figure> {
    let place = Place::new()?;
    place.publish(catalog)?;
    let session = SessionName::new("bench");
    let mut samples = Samples::default();
    for _ in 0..setting.samples {
        let start = Instant::now();
        let files = place.workspaces.virtual_files(
            &place.principal,
            &session,
            FilePolicy::default(),
            FileLimits::default(),
        )?;
        let listing = files.browse(&Browse {
            path: "/tools",
            include_hidden: false,
            max_entries: EntryBounds::default().usual,
        })?;
        samples.push(start.elapsed());
        ensure!(listing.entries.len() == 50, "{} entries", listing.entries.len());
    }
    let figure = samples.figure("fs_browse /tools of 2,040 tools", setting.placement);
    Ok(figure.at_most(LIST))
}
