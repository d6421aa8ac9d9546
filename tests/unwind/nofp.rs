// SPDX-License-Identifier: GPL-2.0-only
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

#[inline(never)]
fn wait_in(pair: &(Mutex<bool>, Condvar), depth: u32) -> u32 {
    if depth > 0 {
        return wait_in(pair, depth - 1) + 1;
    }
    let mut open = pair.0.lock().unwrap();
    while !*open {
        open = pair.1.wait(open).unwrap();
    }
    depth
}

fn main() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = Arc::clone(&pair);
    let thread = thread::spawn(move || wait_in(&other, 5));
    println!("{}", thread.join().unwrap());
}
