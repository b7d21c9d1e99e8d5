//! What lies below a folder and must not leave it: no link below that folder is followed, not even
//! one that has just taken the place of a folder.

use std::path::{Component, Path, PathBuf};

use memdir_core::flow::{Failure, FailureCode};

#[cfg(unix)]
pub(crate) use by_descriptor::{Base, Place, own_as_folder};
#[cfg(not(unix))]
pub(crate) use by_path::{Base, Place, own_as_folder};

/// The way from `within` to `path`, which only goes down.
fn rest<'a>(within: &Path, path: &'a str) -> Result<&'a Path, Failure> {
    Path::new(path)
        .strip_prefix(within)
        .ok()
        .filter(|rest| {
            rest.components()
                .all(|part| matches!(part, Component::Normal(_)))
        })
        .ok_or_else(outside)
}

fn outside() -> Failure {
    Failure::new(
        FailureCode::InvalidName,
        "it does not lie in the folder that it must not leave",
    )
}

/// The same, and the name at its end, for what is to be made there.
fn rest_to_new<'a>(within: &Path, path: &'a str) -> Result<(&'a Path, &'a Path), Failure> {
    let rest = rest(within, path)?;
    match (rest.parent(), rest.file_name()) {
        (Some(parents), Some(name)) => Ok((parents, name.as_ref())),
        _ => Err(outside()),
    }
}

/// Where the system opens one name in a folder that is open already: what is in the place of the
/// folder by then does not matter.
#[cfg(unix)]
mod by_descriptor {
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::os::unix::fs::PermissionsExt;

    use memdir_core::flow::FileKind;
    use rustix::fs::{
        AtFlags, CWD, Gid, Mode, OFlags, RawMode, Uid, chownat, fchown, fsync, linkat, mkdirat,
        openat, renameat, statat, unlinkat,
    };
    use rustix::io::Errno;
    use rustix::process::geteuid;

    use super::{Failure, Path, PathBuf, rest, rest_to_new};
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

        /// Makes a folder in it with the missing ones on the way.
        pub(crate) fn make_dir(&self, path: &str, mode: u32) -> Result<(), Failure> {
            let mut names = rest(&self.path, no_nul(path)?)?.iter().peekable();
            let mut at = None;
            while let Some(name) = names.next() {
                let from = at.as_ref().unwrap_or(&self.folder);
                let made = make_one(from, name.as_ref(), mode, names.peek().is_none());
                at = Some(made.map_err(|errno| failure(&errno.into()))?);
            }
            Ok(())
        }

        fn beneath(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Failure> {
            self.open_rest(rest(&self.path, no_nul(path)?)?, flags)
        }

        fn open_rest(&self, rest: &Path, flags: OFlags) -> Result<OwnedFd, Failure> {
            let opened = if rest.as_os_str().is_empty() {
                openat(&self.folder, ".", flags, Mode::empty())
            } else {
                at_once(&self.folder, rest, flags)
                    .unwrap_or_else(|| step_by_step(&self.folder, rest, flags))
            };
            opened.map_err(|errno| failure(&errno.into()))
        }
    }

    /// Where a name is looked up or made: it in a folder that is open, or a whole path.
    pub(crate) struct Place<'a> {
        folder: Option<OwnedFd>,
        name: &'a Path,
    }

    impl<'a> Place<'a> {
        /// In the folder, or anywhere without one.
        pub(crate) fn new(base: Option<&Base>, path: &'a str) -> Result<Self, Failure> {
            let path = no_nul(path)?;
            let Some(base) = base else {
                return Ok(Self {
                    folder: None,
                    name: path.as_ref(),
                });
            };
            let (parents, name) = rest_to_new(&base.path, path)?;
            Ok(Self {
                folder: Some(base.open_rest(parents, STEP)?),
                name,
            })
        }

        /// A new file; `exists` when anything, even a dangling link, has its name.
        pub(crate) fn create(&self, mode: u32) -> Result<File, Failure> {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let file = openat(self.folder(), self.name, flags, bits(mode))
                .map_err(|errno| failure(&errno.into()))?;
            let file = File::from(file);
            if let Some((user, group)) = owner_of(&self.folder(), self.name) {
                let _ = fchown(&file, user, group);
            }
            // The umask may have taken bits away. A file system that refuses modes is no reason to
            // fail.
            let _ = file.set_permissions(std::fs::Permissions::from_mode(mode));
            Ok(file)
        }

        /// What has the name; none too where that cannot be told.
        pub(crate) fn kind(&self) -> Option<FileKind> {
            let stat = statat(self.folder(), self.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            Some(stat::from_system(&stat).kind)
        }

        /// Gives what is here the other name, replacing a file.
        pub(crate) fn rename(&self, to: &Self) -> io::Result<()> {
            Ok(renameat(self.folder(), self.name, to.folder(), to.name)?)
        }

        /// Gives what is here the other name unless anything has it; none where that is not one
        /// call to the system and the file system.
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        pub(crate) fn rename_unless_taken(&self, to: &Self) -> Option<io::Result<()>> {
            use rustix::fs::{RenameFlags, renameat_with};

            let flags = RenameFlags::NOREPLACE;
            match renameat_with(self.folder(), self.name, to.folder(), to.name, flags) {
                // Sandboxes forbid what they do not know.
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => None,
                renamed => Some(renamed.map_err(io::Error::from)),
            }
        }

        #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
        pub(crate) fn rename_unless_taken(&self, _: &Self) -> Option<io::Result<()>> {
            None
        }

        /// Gives what is here, a link itself, the other name too.
        pub(crate) fn link(&self, to: &Self) -> io::Result<()> {
            let flags = AtFlags::empty();
            Ok(linkat(
                self.folder(),
                self.name,
                to.folder(),
                to.name,
                flags,
            )?)
        }

        /// Removes a file or a link.
        pub(crate) fn unlink(&self) -> io::Result<()> {
            Ok(unlinkat(self.folder(), self.name, AtFlags::empty())?)
        }

        /// Removes an empty folder.
        pub(crate) fn remove_folder(&self) -> io::Result<()> {
            Ok(unlinkat(self.folder(), self.name, AtFlags::REMOVEDIR)?)
        }

        /// Makes the name itself last. Best effort: not every file system can, and the content is
        /// safe.
        pub(crate) fn sync_folder(&self) {
            let folder = match self.name.parent() {
                Some(folder) if !folder.as_os_str().is_empty() => folder,
                _ => ".".as_ref(),
            };
            let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
            if let Ok(folder) = openat(self.folder(), folder, flags, Mode::empty()) {
                let _ = fsync(folder);
            }
        }

        /// Whether it still lies where it was looked for, which what is open always does.
        #[expect(
            clippy::unnecessary_wraps,
            clippy::unused_self,
            reason = "as where it is looked for"
        )]
        pub(crate) fn again(&self) -> Result<(), Failure> {
            Ok(())
        }

        fn folder(&self) -> BorrowedFd<'_> {
            self.folder.as_ref().map_or(CWD, AsFd::as_fd)
        }
    }

    /// To whom a new name in a folder is to belong. What root makes in a user's folder would be root's,
    /// and the user could not read it; everybody else makes what is theirs.
    fn owner_of(folder: &impl AsFd, name: &Path) -> Option<(Option<Uid>, Option<Gid>)> {
        if !geteuid().is_root() {
            return None;
        }
        let parent = match name.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => ".".as_ref(),
        };
        let stat = statat(folder, parent, AtFlags::empty()).ok()?;
        let (user, group) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
        (!user.is_root()).then_some((Some(user), Some(group)))
    }

    /// The same for a folder that was just made.
    pub(crate) fn own_as_folder(path: &Path) {
        if let Some((user, group)) = owner_of(&CWD, path) {
            let _ = chownat(CWD, path, user, group, AtFlags::SYMLINK_NOFOLLOW);
        }
    }

    /// Some systems count them in fewer bits.
    fn bits(mode: u32) -> Mode {
        Mode::from_raw_mode(RawMode::try_from(mode).unwrap_or_default())
    }

    /// One folder, whether it was there or not.
    fn make_one(from: &OwnedFd, name: &Path, mode: u32, last: bool) -> Result<OwnedFd, Errno> {
        let made = mkdirat(from, name, bits(mode));
        if made.is_ok()
            && let Some((user, group)) = owner_of(from, name)
        {
            let _ = chownat(from, name, user, group, AtFlags::SYMLINK_NOFOLLOW);
        }
        // A sandbox that forbids writing says so before it looks whether there is anything to do.
        open_one(from, name, STEP).map_err(|errno| match made {
            Err(Errno::EXIST) if last && errno == Errno::NOTDIR => Errno::EXIST,
            Err(made) if made != Errno::EXIST && errno != Errno::LOOP => made,
            _ => errno,
        })
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
    use std::fs::{File, OpenOptions};
    use std::io;

    use memdir_core::flow::FileKind;

    use super::{Failure, FailureCode, Path, PathBuf, rest, rest_to_new};
    use crate::failure::failure;
    use crate::{open, stat, write};

    /// Owners are not known here.
    pub(crate) fn own_as_folder(_: &Path) {}

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

        /// Makes a folder in it with the missing ones on the way.
        pub(crate) fn make_dir(&self, path: &str, mode: u32) -> Result<(), Failure> {
            std::fs::metadata(&self.path).map_err(|error| failure(&error))?;
            self.guarded(rest(&self.path, path)?, || write::make_dirs(path, mode))
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

    /// Where a name is looked up or made.
    pub(crate) struct Place<'a> {
        path: &'a str,
        base: Option<(&'a Base, &'a Path)>,
    }

    impl<'a> Place<'a> {
        /// In the folder, or anywhere without one.
        pub(crate) fn new(base: Option<&'a Base>, path: &'a str) -> Result<Self, Failure> {
            let within = |base: &'a Base| Ok((base, rest_to_new(&base.path, path)?.0));
            let base = base.map(within).transpose()?;
            let place = Self { path, base };
            place.again()?;
            Ok(place)
        }

        /// A new file; `exists` when anything, even a dangling link, has its name.
        pub(crate) fn create(&self, _: u32) -> Result<File, Failure> {
            let mut options = OpenOptions::new();
            options
                .write(true)
                .create_new(true)
                .open(self.path)
                .map_err(|error| failure(&error))
        }

        /// What has the name; none too where that cannot be told.
        pub(crate) fn kind(&self) -> Option<FileKind> {
            let metadata = std::fs::symlink_metadata(self.path).ok()?;
            Some(stat::from_metadata(&metadata).kind)
        }

        /// Gives what is here the other name, replacing a file.
        pub(crate) fn rename(&self, to: &Self) -> io::Result<()> {
            std::fs::rename(self.path, to.path)
        }

        /// No such call.
        #[expect(clippy::unused_self, reason = "as where it is one call")]
        pub(crate) fn rename_unless_taken(&self, _: &Self) -> Option<io::Result<()>> {
            None
        }

        /// Gives what is here, a link itself, the other name too.
        pub(crate) fn link(&self, to: &Self) -> io::Result<()> {
            std::fs::hard_link(self.path, to.path)
        }

        /// Removes a file or a link.
        pub(crate) fn unlink(&self) -> io::Result<()> {
            std::fs::remove_file(self.path)
        }

        /// Removes an empty folder.
        pub(crate) fn remove_folder(&self) -> io::Result<()> {
            std::fs::remove_dir(self.path)
        }

        /// Not where a folder cannot be opened.
        #[expect(clippy::unused_self, reason = "as where it can")]
        pub(crate) fn sync_folder(&self) {}

        /// Looks for links on the way.
        pub(crate) fn again(&self) -> Result<(), Failure> {
            self.base
                .map_or(Ok(()), |(base, folders)| base.no_link(folders))
        }
    }
}
