//! Decides what `dist/` holds, and builds what is wanted of it.

use crate::layout::Layout;
use crate::run::Result;
use crate::{component, js, server, wheel};

/// What a user installs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Artefact {
    /// The component that imports nothing.
    Component,
    /// The command, without and with HTTP.
    Command,
    /// The npm tarball.
    Npm,
    /// The wheel and the sdist.
    Wheel,
    /// The team memory server.
    Server,
}

/// Everything, the quick ones first.
pub const ALL: [Artefact; 5] = [
    Artefact::Component,
    Artefact::Command,
    Artefact::Npm,
    Artefact::Wheel,
    Artefact::Server,
];

/// Builds one of them.
pub fn build(layout: &Layout, artefact: Artefact) -> Result<()> {
    match artefact {
        Artefact::Component => component::core(layout),
        Artefact::Command => component::command(layout),
        Artefact::Npm => js::package(layout),
        Artefact::Wheel => wheel::package(layout),
        Artefact::Server => server::program(layout),
    }
}
