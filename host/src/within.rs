//! What lies below a folder and must not leave it: no link below that folder is followed, not even
//! one that has just taken the place of a folder.

use std::path::{Component, Path, PathBuf};

use memdir_core::flow::{Failure, FailureCode};

#[cfg(unix)]
pub(crate) use by_descriptor::Base;
#[cfg(not(unix))]
pub(crate) use by_path::Base;

/// The way from `within` to `path`, which only goes down.
fn rest<'a>(within: &Path, path: &'a str) -> Result<&'a Path, Failure> {
    Path::new(path)
        .strip_prefix(within)
        .ok()
        .filter(|rest| {
            rest.components()
                .all(|part| matches!(part, Component::Normal(_)))
        })
        .ok_or_else(|| {
            Failure::new(
                FailureCode::InvalidName,
                "it does not lie in the folder that it must not leave",
            )
        })
}

/// Where the system opens one name in a folder that is open already: what is in the place of the
/// folder by then does not matter.
#[cfg(unix)]
mod by_descriptor {
    use std::fs::File;
    use std::os::fd::OwnedFd;

    use memdir_core::flow::FileKind;
    use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, statat};
    use rustix::io::Errno;

    use super::{Failure, Path, PathBuf, rest};
    use crate::failure::{failure, no_nul};
    use crate::stat;

    /// A folder that is only a step on the way need not be readable, where that can be said.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const STEP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const STEP: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

    /// The folder.
    pub(crate) struct Base {
        path: PathBuf,
        folder: OwnedFd,
    }

    impl Base {
        /// Opens the folder, through links if there are any on the way to it.
        pub(crate) fn open(path: &str) -> Result<Self, Failure> {
            let folder = openat(CWD, no_nul(path)?, STEP, Mode::empty());
            Ok(Self {
                path: path.into(),
                folder: folder.map_err(|errno| failure(&errno.into()))?,
            })
        }

        /// Opens a file in it for reading, of whatever kind, without waiting for the other end of a
        /// FIFO.
        pub(crate) fn file(&self, path: &str) -> Result<File, Failure> {
            let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
            self.beneath(path, flags).map(File::from)
        }

        /// Opens a folder in it, or itself, for listing.
        pub(crate) fn folder(&self, path: &str) -> Result<OwnedFd, Failure> {
            self.beneath(path, OFlags::DIRECTORY | OFlags::CLOEXEC)
        }

        fn beneath(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Failure> {
            let rest = rest(&self.path, no_nul(path)?)?;
            let opened = if rest.as_os_str().is_empty() {
                openat(&self.folder, ".", flags, Mode::empty())
            } else {
                at_once(&self.folder, rest, flags)
                    .unwrap_or_else(|| step_by_step(&self.folder, rest, flags))
            };
            opened.map_err(|errno| failure(&errno.into()))
        }
    }

    /// In one call; none where the system has no such call, before Linux 5.6 and in sandboxes that
    /// forbid what they do not know, and where the way is longer than it takes at once.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn at_once(folder: &OwnedFd, rest: &Path, flags: OFlags) -> Option<Result<OwnedFd, Errno>> {
        use rustix::fs::{ResolveFlags, openat2};

        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match openat2(folder, rest, flags, Mode::empty(), resolve) {
            Err(Errno::NOSYS | Errno::PERM | Errno::NAMETOOLONG) => None,
            opened => Some(opened),
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn at_once(_: &OwnedFd, _: &Path, _: OFlags) -> Option<Result<OwnedFd, Errno>> {
        None
    }

    /// Name by name, each in the folder opened before.
    fn step_by_step(folder: &OwnedFd, rest: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let (parents, name) = match (rest.parent(), rest.file_name()) {
            (Some(parents), Some(name)) => (parents, name),
            _ => return Err(Errno::NOENT),
        };
        let mut at = None;
        for parent in parents {
            let from = at.as_ref().unwrap_or(folder);
            at = Some(open_one(from, parent.as_ref(), STEP)?);
        }
        open_one(at.as_ref().unwrap_or(folder), name.as_ref(), flags)
    }

    fn open_one(folder: &OwnedFd, name: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        openat(folder, name, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(|errno| {
            // A link where a folder was asked for is "no folder" to some systems.
            let is_link = || {
                statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
                    .is_ok_and(|stat| stat::from_system(&stat).kind == FileKind::Link)
            };
            if errno == Errno::NOTDIR && is_link() {
                Errno::LOOP
            } else {
                errno
            }
        })
    }

    #[cfg(test)]
    mod tests {
        use std::os::unix::fs::symlink;

        use super::*;

        /// Systems without the one call must answer as those that have it.
        #[test]
        fn both_ways_answer_alike() {
            let root = std::env::temp_dir().join(format!("memdir-within-{}", std::process::id()));
            std::fs::create_dir_all(root.join("a/b")).unwrap();
            std::fs::write(root.join("a/b/x"), "x").unwrap();
            symlink("a", root.join("link")).unwrap();
            symlink("b/x", root.join("a/x")).unwrap();
            let base = Base::open(root.to_str().unwrap()).unwrap();
            let file = OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let folder = OFlags::DIRECTORY | OFlags::CLOEXEC;
            for (path, flags, expected) in [
                ("a/b/x", file, None),
                ("a/b", folder, None),
                ("link/b/x", file, Some(Errno::LOOP)),
                ("link/b", folder, Some(Errno::LOOP)),
                ("link", folder, Some(Errno::LOOP)),
                ("a/x", file, Some(Errno::LOOP)),
                ("a/b/x/y", file, Some(Errno::NOTDIR)),
                ("a/b/x", folder, Some(Errno::NOTDIR)),
                ("a/none/x", file, Some(Errno::NOENT)),
            ] {
                let rest = Path::new(path);
                let stepped = step_by_step(&base.folder, rest, flags).err();
                assert_eq!(stepped, expected, "{path} step by step");
                if let Some(opened) = at_once(&base.folder, rest, flags) {
                    assert_eq!(opened.err(), expected, "{path} at once");
                }
            }
            std::fs::remove_dir_all(root).unwrap();
        }
    }
}

/// Elsewhere it is looked whether the folders on the way are links, before and after the opening. A
/// link that comes after the first look and goes before the second is not seen.
#[cfg(not(unix))]
mod by_path {
    use std::fs::File;

    use super::{Failure, FailureCode, Path, PathBuf, rest};
    use crate::open;

    /// The folder.
    pub(crate) struct Base {
        path: PathBuf,
    }

    impl Base {
        /// Takes the folder, which is looked at with the first path in it.
        #[expect(clippy::unnecessary_wraps, reason = "as where it is opened")]
        pub(crate) fn open(path: &str) -> Result<Self, Failure> {
            Ok(Self { path: path.into() })
        }

        /// Opens a file in it for reading.
        pub(crate) fn file(&self, path: &str) -> Result<File, Failure> {
            let folders = rest(&self.path, path)?.parent().unwrap_or(Path::new(""));
            self.guarded(folders, || open::for_reading(path))
        }

        /// Lists a folder in it, or itself, by `list`.
        pub(crate) fn folder<T>(
            &self,
            path: &str,
            list: impl FnOnce() -> Result<T, Failure>,
        ) -> Result<T, Failure> {
            self.guarded(rest(&self.path, path)?, list)
        }

        fn guarded<T>(
            &self,
            folders: &Path,
            work: impl FnOnce() -> Result<T, Failure>,
        ) -> Result<T, Failure> {
            self.no_link(folders)?;
            let done = work();
            self.no_link(folders)?;
            done
        }

        fn no_link(&self, folders: &Path) -> Result<(), Failure> {
            let mut folder = self.path.clone();
            for name in folders {
                folder.push(name);
                if std::fs::symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_symlink()) {
                    return Err(Failure::new(
                        FailureCode::Loop,
                        "Too many levels of symbolic links",
                    ));
                }
            }
            Ok(())
        }
    }
}
