//! Secrets are found in all that may stand around them, and what only looks like one is not.

#[cfg(test)]
mod found;
#[cfg(test)]
mod kinds;
#[cfg(test)]
mod near;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod token;
