//! Plans for invented machines, and a plan applied inside a temporary root directory.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use insta::assert_snapshot;

use super::*;
use crate::fix::apply;

/// A machine that lacks nothing for root, with one ordinary user.
fn machine() -> FixFacts {
    FixFacts {
        executable: PathBuf::from("/usr/local/bin/codeyard"),
        account: Some(Account {
            name: "ann".to_owned(),
            number: 1000,
        }),
        apparmor_restricts: false,
        apparmor_profile: None,
        apparmor_second_profile: None,
        max_user_namespaces: Some(15_000),
        unprivileged_userns_clone: None,
        sysctl_file: None,
        has_map_helpers: true,
        installer: Some(Installer::Apt),
        passwd: "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n".to_owned(),
        group: "root:x:0:\nann:x:1000:\n".to_owned(),
        subuid: "ann:100000:65536\n".to_owned(),
        subgid: "ann:100000:65536\n".to_owned(),
        systemd_groups: true,
        delegated: Some("cpu memory pids".to_owned()),
        delegation_file: None,
    }
}

#[test]
fn where_nothing_is_missing_nothing_is_planned() {
    assert_eq!(plan(&machine()), []);
    let for_root = FixFacts {
        account: None,
        has_map_helpers: false,
        subuid: String::new(),
        ..machine()
    };
    assert_eq!(plan(&for_root), []);
}

#[test]
fn where_everything_is_missing_each_step_is_explained() {
    let bare = FixFacts {
        apparmor_restricts: true,
        max_user_namespaces: Some(0),
        unprivileged_userns_clone: Some(0),
        has_map_helpers: false,
        subuid: "bob:100000:65536\nann:200000:10\n".to_owned(),
        subgid: String::new(),
        delegated: Some("memory pids".to_owned()),
        ..machine()
    };
    assert_snapshot!(serde_json::to_string_pretty(&plan(&bare)).expect("JSON"));
}

#[track_caller]
fn names(facts: FixFacts, expected: &[&str]) {
    let steps = plan(&facts);
    let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
    assert_eq!(names, expected);
}

#[test]
fn only_what_is_missing_is_planned() {
    let profile = |text: &str| FixFacts {
        apparmor_restricts: true,
        apparmor_profile: Some(text.to_owned()),
        ..machine()
    };
    names(profile("profile codeyard \"/usr/local/bin/codeyard\" {}"), &[]);
    names(profile("profile codeyard \"/opt/codeyard\" {}"), &["apparmor"]);
    let longer = "profile codeyard \"/usr/local/bin/codeyard-old\" {}";
    names(profile(longer), &["apparmor"]);
    let second = FixFacts {
        apparmor_second_profile: Some("profile codeyard-1 \"/usr/local/bin/codeyard\" {}".to_owned()),
        ..profile(longer)
    };
    names(second, &[]);
    let one_list = FixFacts {
        subgid: String::new(),
        ..machine()
    };
    names(one_list.clone(), &["ranges"]);
    let [Action::Append { path, line }] = &plan(&one_list)[0].actions[..] else {
        panic!("one line")
    };
    assert_eq!(
        (path.as_path(), line.as_str()),
        (Path::new("/etc/subgid"), "ann:165536:65536")
    );
    let by_number = FixFacts {
        subuid: "1000:100000:65536\n".to_owned(),
        ..machine()
    };
    names(by_number, &[]);
    let no_systemd = FixFacts {
        systemd_groups: false,
        delegated: None,
        ..machine()
    };
    names(no_systemd, &[]);
    let waits_for_login = FixFacts {
        delegated: Some("memory pids".to_owned()),
        delegation_file: Some("written".to_owned()),
        ..machine()
    };
    names(waits_for_login, &[]);
    let unknown_packages = FixFacts {
        has_map_helpers: false,
        installer: None,
        ..machine()
    };
    let [step] = &plan(&unknown_packages)[..] else {
        panic!("one step")
    };
    assert!(step.actions.is_empty() && step.then.is_some(), "{step:?}");
}

#[test]
fn the_range_is_the_first_free_gap() {
    let text = |text: &str| text.to_owned();
    let free = |passwd, group, subuid, subgid| {
        first_free(&FixFacts {
            passwd: text(passwd),
            group: text(group),
            subuid: text(subuid),
            subgid: text(subgid),
            ..machine()
        })
    };
    let above = "containers:2147483647:2147483648\n";
    assert_eq!(free("", "", "", ""), Some(100_000));
    assert_eq!(free("", "", above, above), Some(100_000));
    assert_eq!(free("", "", "bob:100000:65536\n", above), Some(165_536));
    assert_eq!(free("", "", "a:1:2\nb:165535:9\n", ""), Some(165_544));
    assert_eq!(free("", "", "a:165536:9\n", "b:4000:96100\n"), Some(165_545));
    assert_eq!(free("ann:x:120000:130000::/:\n", "", "", ""), Some(130_001));
    assert_eq!(free("", "all:x:140000:ann\n", "", ""), Some(140_001));
    assert_eq!(
        free("", "", "a:4294967295:4294967295\nword:x:1\n", ""),
        Some(100_000)
    );
    assert_eq!(free("", "", "a:100000:18446744073709551615\n", ""), None);
    assert_eq!(free("", "", "a:100000:1799834464\n", ""), Some(1_799_934_464));
    assert_eq!(free("", "", "a:100000:1799834465\n", ""), None);
}

#[test]
fn without_a_wide_enough_gap_the_step_only_gives_advice() {
    let full = FixFacts {
        subgid: "bob:100000:4294867295\n".to_owned(),
        ..machine()
    };
    let [step] = &plan(&full)[..] else {
        panic!("one step")
    };
    assert!(step.actions.is_empty() && step.then.is_some(), "{step:?}");
}

/// The steps without their commands, which would change the real machine.
fn files_only(mut steps: Vec<FixStep>) -> Vec<FixStep> {
    for step in &mut steps {
        step.actions
            .retain(|action| !matches!(action, Action::Run { .. }));
    }
    steps
}

#[test]
fn what_was_applied_is_not_planned_again_and_nothing_is_overwritten() {
    let home = tempfile::tempdir().expect("a directory");
    let root = home.path();
    let put = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    };
    put("etc/passwd", "root:x:0:0\nann:x:1000:1000::/home/ann:/bin/sh\n");
    // Without a newline at the end, as people write it.
    put("etc/subuid", "bob:100000:65536");
    put("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
    put("proc/sys/user/max_user_namespaces", "0\n");
    put("sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n");
    fs::create_dir_all(root.join("run/systemd/system")).expect("made");
    let look = || FixFacts::look(root, PathBuf::from("/usr/bin/codeyard"), Some("ann")).expect("facts");
    let steps = files_only(plan(&look()));
    let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
    assert_eq!(names, ["sysctls", "apparmor", "helpers", "ranges", "delegation"]);
    for step in &steps {
        apply(step, root).unwrap_or_else(|error| panic!("{}: {error}", step.name));
    }
    let read = |path: &str| fs::read_to_string(root.join(path)).expect("there");
    assert_eq!(read("etc/subuid"), "bob:100000:65536\nann:165536:65536\n");
    assert_eq!(read("etc/subgid"), "ann:165536:65536\n");
    assert!(read("etc/apparmor.d/codeyard").contains("\"/usr/bin/codeyard\""));
    // The commands were not run, so their steps are still planned. Files already written are not planned again.
    let left = plan(&look());
    let names: Vec<&str> = left.iter().map(|step| step.name).collect();
    assert_eq!(names, ["sysctls", "helpers"]);
    assert!(matches!(left[0].actions[..], [Action::Run { .. }]), "{left:?}");
    // An old plan overwrites nothing, and leaves no lock and no partial file.
    for step in &steps {
        let again = apply(step, root);
        let writes = matches!(step.actions.first(), Some(Action::Write { .. }));
        assert_eq!(again.is_err(), writes, "{}", step.name);
    }
    let etc: Vec<String> = fs::read_dir(root.join("etc"))
        .expect("listed")
        .map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert!(
        etc.iter()
            .all(|name| !name.contains("lock") && !name.contains("codeyard-")),
        "{etc:?}"
    );
}

#[test]
fn a_profile_beside_a_foreign_one_is_planned_once() {
    let home = tempfile::tempdir().expect("a directory");
    let put = |path: &str, text: &str| {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    };
    put("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
    put(
        "etc/apparmor.d/codeyard",
        "profile codeyard \"/opt/codeyard\" {}\n",
    );
    let look = || FixFacts::look(home.path(), PathBuf::from("/usr/bin/codeyard"), None).expect("facts");
    let steps = files_only(plan(&look()));
    assert_eq!(steps.len(), 1, "{steps:?}");
    apply(&steps[0], home.path()).expect("applied");
    assert_eq!(plan(&look()), []);
}

#[test]
fn a_list_that_another_program_changes_is_left_alone() {
    let home = tempfile::tempdir().expect("a directory");
    fs::create_dir(home.path().join("etc")).expect("made");
    fs::write(home.path().join("etc/subuid.lock"), "1").expect("written");
    let facts = FixFacts {
        subuid: String::new(),
        ..machine()
    };
    let error = apply(&plan(&facts)[0], home.path()).expect_err("locked");
    assert!(error.to_string().contains("subuid.lock is there"), "{error}");
    assert!(!home.path().join("etc/subuid").exists());
}

#[test]
fn a_link_to_a_list_stays_and_a_new_list_is_world_readable() {
    let home = tempfile::tempdir().expect("a directory");
    let etc = home.path().join("etc");
    fs::create_dir_all(etc.join("lists")).expect("made");
    fs::write(etc.join("lists/subuid"), "bob:100000:65536\n").expect("written");
    symlink("lists/subuid", etc.join("subuid")).expect("linked");
    let facts = FixFacts {
        subuid: "bob:100000:65536\n".to_owned(),
        subgid: String::new(),
        ..machine()
    };
    apply(&plan(&facts)[0], home.path()).expect("applied");
    assert!(etc.join("subuid").is_symlink());
    let list = fs::read_to_string(etc.join("lists/subuid")).expect("there");
    assert_eq!(list, "bob:100000:65536\nann:165536:65536\n");
    let mode = fs::metadata(etc.join("subgid"))
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o644);
}

#[test]
fn users_are_named_or_refused() {
    let home = tempfile::tempdir().expect("a directory");
    fs::create_dir(home.path().join("etc")).expect("made");
    fs::write(home.path().join("etc/passwd"), "root:x:0:0\nann:x:1000:1000\n").expect("written");
    let look = |account| FixFacts::look(home.path(), PathBuf::from("/c"), account).map(|facts| facts.account);
    let ann = Account {
        name: "ann".to_owned(),
        number: 1000,
    };
    assert_eq!(look(Some("ann")), Ok(Some(ann.clone())));
    assert_eq!(look(Some("1000")), Ok(Some(ann)));
    assert_eq!(look(None), Ok(None));
    for (name, told) in [("eve", "no user of this name"), ("root", "ordinary user")] {
        let error = look(Some(name)).expect_err(name).to_string();
        assert!(error.contains(told), "{error}");
    }
}
