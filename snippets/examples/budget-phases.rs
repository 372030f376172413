//! A stride that was found for cheap items meets expensive ones. The time is
//! made up: only the strides are real.

use std::iter::repeat_n;

const SLICE_NS: u64 = 1_000_000;
const READING_NS: u64 = 25;
const CHEAP_NS: u64 = 20;
const EXPENSIVE_NS: u64 = 200_000;

/// How often the clock was read, and the longest slice in nanoseconds.
fn slices(costs_ns: impl Iterator<Item = u64>, longest: u64) -> (u64, u64) {
    let (mut readings, mut longest_slice_ns) = (0, 0);
    let (mut stride, mut passed, mut stride_ns, mut slice_ns) = (1, 0, 0, 0);
    for cost_ns in costs_ns {
        slice_ns += cost_ns;
        stride_ns += cost_ns;
        passed += 1;
        if passed < stride {
            continue;
        }
        readings += 1;
        // How many such items fit into a sixteenth of the slice?
        let fitting = stride * (SLICE_NS / 16) / stride_ns;
        stride = fitting.clamp(1, longest.min(2 * stride));
        (passed, stride_ns) = (0, 0);
        if slice_ns >= SLICE_NS {
            longest_slice_ns = longest_slice_ns.max(slice_ns);
            (slice_ns, stride) = (0, 1);
        }
    }
    (readings, longest_slice_ns)
}

fn main() {
    const CHEAP: u64 = 120_000;
    println!("longest stride  the clock takes  the longest slice");
    for longest in [1, 16, 256, 4_096] {
        let cheap = repeat_n(CHEAP_NS, CHEAP as usize);
        let (readings, _) = slices(cheap.clone(), longest);
        let (_, slice_ns) =
            slices(cheap.chain(repeat_n(EXPENSIVE_NS, 9_000)), longest);
        let clock_ns = (readings * READING_NS) as f64;
        let part = clock_ns / (clock_ns + (CHEAP * CHEAP_NS) as f64);
        let (part, slice_ms) = (100.0 * part, slice_ns as f64 / 1e6);
        println!("{longest:14}  {part:13.1} %  {slice_ms:14.1} ms");
    }
}
