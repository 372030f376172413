//! The first program to run.

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let greeting = async { "Hello from a future" };
    println!("{}", greeting.await);
}
