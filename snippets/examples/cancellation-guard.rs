//! A transfer between two accounts that is given up halfway.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

struct Accounts {
    alice: u32,
    bob: u32,
}

async fn write_to_the_log() {
    sleep(Duration::from_secs(1)).await;
}

async fn transfer(accounts: &Mutex<Accounts>, amount: u32) {
    let mut accounts = accounts.lock().await;
    accounts.alice -= amount;
    write_to_the_log().await;
    accounts.bob += amount;
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let accounts = Mutex::new(Accounts { alice: 100, bob: 0 });
    let limit = Duration::from_millis(10);
    if timeout(limit, transfer(&accounts, 40)).await.is_err() {
        println!("the transfer took too long");
    }
    match accounts.try_lock() {
        Ok(accounts) => {
            println!("alice has {}, bob has {}", accounts.alice, accounts.bob);
        }
        Err(_) => println!("the mutex is still locked"),
    }
}
