//! Two positions, shortly before and after they have wrapped.

fn main() {
    let next: u32 = u32::MAX - 1;
    let tail = next.wrapping_add(5);
    println!("next is {next}, and five items further on tail is {tail}");
    println!("tail > next: {}", tail > next);
    println!("from next to tail: {}", tail.wrapping_sub(next));

    let old_tail = next.wrapping_sub(1);
    let distance = old_tail.wrapping_sub(next);
    println!("from next to an older tail: {distance}");
    println!("the same with a sign: {}", distance as i32);
}
