//! What the conformance files cannot say: numbers of the operating system, other devices, a whole
//! scan over a hostile folder, cancelling.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::process::Command;

use common::Temporary;
use memdir_core::ErrorCode;
use memdir_core::flow::{Content, Effect, FailureCode, Flow, Outcome, Step, probe};
use memdir_core::report::ReportCode;
use memdir_core::store::{OpenOptions, Scan, Store};
use memdir_host::{drive, failure_code, perform, performs};

fn store(root: &str) -> Store {
    Store::new(OpenOptions {
        directory: Some(root.to_owned()),
        ..OpenOptions::default()
    })
}

fn finish<T: Send + 'static>(mut flow: Flow<T>) -> Result<T, memdir_core::Error> {
    drive(&mut flow, |request| perform(&request.effect))
}

fn code(outcome: &Outcome) -> Option<FailureCode> {
    match outcome {
        Outcome::Failed(failure) => Some(failure.code),
        _ => None,
    }
}

#[test]
fn numbers_of_the_system_have_their_codes() {
    use rustix::io::Errno;
    let table = [
        (Errno::NOENT, FailureCode::NotFound),
        (Errno::EXIST, FailureCode::Exists),
        (Errno::ACCESS, FailureCode::Permission),
        (Errno::PERM, FailureCode::Permission),
        (Errno::ROFS, FailureCode::ReadOnly),
        (Errno::NOSPC, FailureCode::NoSpace),
        (Errno::DQUOT, FailureCode::NoSpace),
        (Errno::NOTDIR, FailureCode::NotADirectory),
        (Errno::ISDIR, FailureCode::IsADirectory),
        (Errno::NOTEMPTY, FailureCode::NotEmpty),
        (Errno::LOOP, FailureCode::Loop),
        (Errno::NAMETOOLONG, FailureCode::NameTooLong),
        (Errno::ILSEQ, FailureCode::InvalidName),
        (Errno::FBIG, FailureCode::TooLarge),
        (Errno::MFILE, FailureCode::TooManyOpen),
        (Errno::NFILE, FailureCode::TooManyOpen),
        (Errno::XDEV, FailureCode::CrossDevice),
        (Errno::BUSY, FailureCode::Busy),
        (Errno::TXTBSY, FailureCode::Busy),
        (Errno::NXIO, FailureCode::Unsupported),
        (Errno::NOSYS, FailureCode::Unsupported),
        (Errno::OPNOTSUPP, FailureCode::Unsupported),
        (Errno::MLINK, FailureCode::Unsupported),
        (Errno::TIMEDOUT, FailureCode::Timeout),
        (Errno::IO, FailureCode::Other),
        (Errno::INVAL, FailureCode::Other),
    ];
    for (errno, expected) in table {
        assert_eq!(failure_code(&errno.into()), expected, "{errno:?}");
    }
    let failure = memdir_host::failure(&Errno::NOENT.into());
    assert_eq!(failure.message, "No such file or directory");
}

#[test]
fn a_rename_across_devices_says_so() {
    let temporary = Temporary::new();
    let device = |path: &str| std::fs::metadata(path).map(|metadata| metadata.dev()).ok();
    if device("/dev/shm").is_none_or(|other| Some(other) == device(temporary.path())) {
        return;
    }
    let from = format!("{}/x.md", temporary.path());
    std::fs::write(&from, "x").unwrap();
    let to = format!("/dev/shm/memdir-host-{}", std::process::id());
    let rename = |replace| Effect::Rename {
        from: from.clone(),
        to: to.clone(),
        within: None,
        replace,
        sync: false,
    };
    let link = Effect::Link {
        from: from.clone(),
        to: to.clone(),
        within: None,
    };
    for effect in [rename(true), rename(false), link] {
        let outcome = perform(&effect);
        let _ = std::fs::remove_file(&to);
        assert_eq!(code(&outcome), Some(FailureCode::CrossDevice), "{effect:?}");
    }
    // The temporary file of a replacement goes away when the rename fails.
    let outcome = perform(&Effect::Write {
        path: to,
        within: None,
        content: Content::Text("y".into()),
        via: Some(format!("{}/y.memdir-tmp", temporary.path())),
        mode: 0o600,
        sync: true,
    });
    assert_eq!(code(&outcome), Some(FailureCode::CrossDevice));
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 1);
}

#[test]
fn devices_and_sockets_are_not_opened() {
    let temporary = Temporary::new();
    let path = format!("{}/socket.md", temporary.path());
    let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    for path in [path, "/dev/null".to_owned()] {
        let read = perform(&Effect::Read {
            within: None,
            path: path.clone(),
            offset: 0,
            length: 1,
        });
        assert_eq!(code(&read), Some(FailureCode::Unsupported), "{path}");
        let append = perform(&Effect::Append {
            path,
            content: Content::Text("x".into()),
            mode: 0o600,
        });
        assert_eq!(code(&append), Some(FailureCode::Unsupported));
    }
}

/// A folder with everything that can go wrong with one.
fn hostile(temporary: &Temporary) {
    let root = temporary.path();
    let at = |name: &str| format!("{root}/{name}");
    std::fs::write(at("good.md"), "---\nname: Good\ntype: user\n---\nBody\n").unwrap();
    std::fs::write(at("empty.md"), "").unwrap();
    std::fs::write(at("latin1.md"), b"caf\xE9").unwrap();
    std::fs::create_dir_all(at("folder.md/below")).unwrap();
    std::fs::write(at("folder.md/below/deep.md"), "deep").unwrap();
    symlink("nowhere", at("dangling.md")).unwrap();
    symlink("ring2.md", at("ring1.md")).unwrap();
    symlink("ring1.md", at("ring2.md")).unwrap();
    symlink("/etc/passwd", at("outside.md")).unwrap();
    symlink("good.md", at("inside.md")).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(at("fifo.md"))
            .status()
            .unwrap()
            .success()
    );
    if cfg!(target_os = "linux") {
        std::fs::write(
            std::path::Path::new(root).join(OsStr::from_bytes(b"\xFF.md")),
            "x",
        )
        .unwrap();
    }
    let huge = std::fs::File::create(at("huge.md")).unwrap();
    huge.set_len(1 << 30).unwrap();
}

#[test]
fn a_scan_of_a_hostile_folder_ends_and_names_every_file() {
    let temporary = Temporary::new();
    hostile(&temporary);
    let Scan { memories, report } = finish(store(temporary.path()).scan()).unwrap();
    let mut paths: Vec<&str> = memories.iter().map(|memory| memory.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        [
            "empty.md",
            "folder.md/below/deep.md",
            "good.md",
            "inside.md"
        ]
    );
    let code_of = |path: &str| {
        report
            .iter()
            .find(|entry| entry.path == path)
            .map(|entry| entry.code)
    };
    for (path, expected) in [
        ("dangling.md", ReportCode::LinkDangling),
        ("empty.md", ReportCode::Empty),
        ("fifo.md", ReportCode::NotAFile),
        ("folder.md", ReportCode::NotAFile),
        ("huge.md", ReportCode::NulByte),
        ("latin1.md", ReportCode::NotUtf8),
        ("outside.md", ReportCode::LinkOutside),
        ("ring1.md", ReportCode::LinkLoop),
        ("ring2.md", ReportCode::LinkLoop),
    ] {
        assert_eq!(code_of(path), Some(expected), "{path}");
    }
    if cfg!(target_os = "linux") {
        assert_eq!(code_of("\u{FFFD}.md"), Some(ReportCode::InvalidName));
    }
}

#[test]
fn a_file_without_permission_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    if rustix::process::geteuid().is_root() {
        return;
    }
    let temporary = Temporary::new();
    let path = format!("{}/secret.md", temporary.path());
    std::fs::write(&path, "x").unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o0)).unwrap();
    let scan = finish(store(temporary.path()).scan()).unwrap();
    assert!(scan.memories.is_empty());
    assert_eq!(
        scan.report.first().map(|entry| entry.code),
        Some(ReportCode::Unreadable)
    );
}

#[test]
fn what_is_not_performed_is_handed_on() {
    let watch = Effect::Watch {
        path: "/".into(),
        timeout_ms: 1,
    };
    assert!(!performs(&watch));
    assert_eq!(code(&perform(&watch)), Some(FailureCode::Unsupported));
    let mut asked = Vec::new();
    let outcomes = drive(&mut probe(vec![watch.clone(), Effect::Now]), |request| {
        asked.push(request.effect);
        Outcome::Changed(true)
    })
    .unwrap();
    assert_eq!(asked, [watch]);
    assert_eq!(outcomes.first(), Some(&Outcome::Changed(true)));
    assert!(matches!(outcomes.last(), Some(Outcome::Now(_))));
}

#[test]
fn a_cancelled_flow_is_driven_to_its_end() {
    let temporary = Temporary::new();
    let mut flow = store(temporary.path()).scan();
    assert!(matches!(flow.resume(Vec::new()), Ok(Step::Effects(_))));
    flow.cancel();
    let error = drive(&mut flow, |request| perform(&request.effect)).unwrap_err();
    // Resumed without an answer to its first step.
    assert_eq!(error.code, ErrorCode::Protocol);

    let flow = store(temporary.path()).scan();
    flow.cancel();
    assert_eq!(finish(flow).unwrap_err().code, ErrorCode::Aborted);
}

#[test]
fn random_bytes_differ_and_the_host_is_always_the_same() {
    let random = || perform(&Effect::Random { length: 16 });
    assert_ne!(random(), random());
    assert_eq!(perform(&Effect::HostInfo), perform(&Effect::HostInfo));
}

/// Another program exchanges a folder for a link as fast as it can.
#[test]
#[cfg(target_os = "linux")]
fn nothing_is_changed_through_a_folder_that_is_exchanged_for_a_link() {
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{CWD, RenameFlags, renameat_with};

    let temporary = Temporary::new();
    let root = temporary.path();
    for folder in ["store/own", "foreign"] {
        std::fs::create_dir_all(format!("{root}/{folder}")).unwrap();
    }
    symlink("../foreign", format!("{root}/store/link")).unwrap();
    std::fs::write(format!("{root}/foreign/keep"), "x").unwrap();
    let (own, link) = (format!("{root}/store/own"), format!("{root}/store/link"));
    let within = Some(format!("{root}/store/"));
    let done = AtomicBool::new(false);
    let mut outcomes = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, &own, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for number in 0..300 {
            let write = |name: String, via: Option<String>| Effect::Write {
                path: format!("{own}/{name}"),
                within: within.clone(),
                content: Content::Text("x".into()),
                via,
                mode: 0o600,
                sync: false,
            };
            for effect in [
                write(format!("{number}"), None),
                write(
                    "uses.json".into(),
                    Some(format!("{own}/{number}.memdir-tmp")),
                ),
                Effect::MakeDir {
                    path: format!("{own}/folder-{number}/below"),
                    within: within.clone(),
                    mode: 0o700,
                },
                Effect::Link {
                    from: format!("{own}/{number}"),
                    to: format!("{own}/{number}-second"),
                    within: within.clone(),
                },
                Effect::Rename {
                    from: format!("{own}/keep"),
                    to: format!("{own}/kept"),
                    within: within.clone(),
                    replace: number % 2 == 0,
                    sync: false,
                },
                Effect::Remove {
                    path: format!("{own}/keep"),
                    within: within.clone(),
                },
            ] {
                outcomes.push(perform(&effect));
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    for outcome in outcomes {
        let code = code(&outcome);
        // A link that is none any more when it is looked at was no folder. What is not there was
        // not made, or lies in the other folder only.
        let expected = [
            None,
            Some(FailureCode::Loop),
            Some(FailureCode::NotADirectory),
            Some(FailureCode::NotFound),
        ];
        assert!(expected.contains(&code), "{code:?}");
    }
    let count = |path: &str| std::fs::read_dir(path).unwrap().count();
    assert_eq!(count(&format!("{root}/foreign")), 1);
    assert!(std::fs::exists(format!("{root}/foreign/keep")).unwrap());
    assert_eq!(count(&format!("{root}/store")), 2);
    for folder in [&own, &link] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name();
            assert!(!name.to_str().unwrap().ends_with("tmp"), "{name:?}");
        }
    }
}

/// Only root can give files away, so nobody else can try it.
#[test]
fn what_root_makes_belongs_to_whom_the_folder_belongs() {
    if std::fs::metadata("/proc/self").is_ok_and(|me| me.uid() != 0) {
        return;
    }
    let root = Temporary::new();
    let store = format!("{}/store", root.path());
    std::fs::create_dir(&store).unwrap();
    std::os::unix::fs::chown(&store, Some(1000), Some(1000)).unwrap();
    let within = Some(store.clone());
    let (folder, file) = (
        format!("{store}/.memdir/deep"),
        format!("{store}/.memdir/a"),
    );
    for effect in [
        Effect::MakeDir {
            path: folder.clone(),
            within: within.clone(),
            mode: 0o700,
        },
        Effect::Write {
            path: file.clone(),
            within,
            content: Content::Text("a".to_owned()),
            via: None,
            mode: 0o600,
            sync: false,
        },
        Effect::MakeDir {
            path: format!("{store}/x/y"),
            within: None,
            mode: 0o700,
        },
    ] {
        assert_eq!(perform(&effect), Outcome::Done);
    }
    for path in [folder, file, format!("{store}/x"), format!("{store}/x/y")] {
        let owner = std::fs::metadata(&path).unwrap();
        assert_eq!((owner.uid(), owner.gid()), (1000, 1000), "{path}");
    }
}
