// SPDX-License-Identifier: GPL-2.0-only
use std::panic;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

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

const NAP: Duration = Duration::from_micros(200);

struct Napper;

impl Drop for Napper {
    fn drop(&mut self) {
        thread::sleep(NAP);
    }
}

#[inline(never)]
fn panics(depth: u32) -> u32 {
    let _napper = Napper;
    if depth == 0 {
        panic::resume_unwind(Box::new(depth));
    }
    panics(depth - 1) + 1
}

// For ever, briefly each time: in what a panic drops on its way, in callbacks, and in a wait.
fn nap_for_ever() {
    let pair = (Mutex::new(false), Condvar::new());
    let mut numbers = [4, 2, 3, 1];
    loop {
        assert!(panic::catch_unwind(|| panics(5)).is_err());
        numbers.reverse();
        numbers.sort_by(|a, b| {
            thread::sleep(NAP);
            a.cmp(b)
        });
        let open = pair.0.lock().unwrap();
        drop(pair.1.wait_timeout(open, NAP));
    }
}

fn main() {
    if std::env::args().nth(1).map_or(false, |how| how == "naps") {
        thread::spawn(nap_for_ever);
        nap_for_ever();
    }
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = Arc::clone(&pair);
    let thread = thread::spawn(move || wait_in(&other, 5));
    println!("{}", thread.join().unwrap());
}
