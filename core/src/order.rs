//! Sorting. A generic sort is compiled anew for every type, which is kilobytes of wasm a time; here
//! one that sorts positions does it for all.

use std::cmp::Ordering;

/// Sorts; what compares equal stays in its order.
pub(crate) fn sort<T>(items: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    let order = positions(items.len(), &|a, b| match (items.get(a), items.get(b)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    });
    let mut unsorted: Vec<Option<T>> = std::mem::take(items).into_iter().map(Some).collect();
    items.extend(
        order
            .into_iter()
            .filter_map(|at| unsorted.get_mut(at)?.take()),
    );
}

/// The positions up to `count` in the order of what stands there.
fn positions(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..count).collect();
    positions.sort_unstable_by(|a, b| compare(*a, *b).then(a.cmp(b)));
    positions
}

#[cfg(test)]
mod tests {
    use super::sort;

    #[test]
    fn equal_items_keep_their_order() {
        let mut items: Vec<(u32, u32)> = (0..100).map(|number| (number % 3, number)).collect();
        sort(&mut items, |a, b| b.0.cmp(&a.0));
        let mut stable: Vec<(u32, u32)> = (0..100).map(|number| (number % 3, number)).collect();
        stable.sort_by_key(|item| std::cmp::Reverse(item.0));
        assert_eq!(items, stable);
    }
}
