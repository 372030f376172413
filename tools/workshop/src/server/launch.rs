//! The link that is handed to the browser. Other users of the machine can see
//! with which arguments a program was started, so this link must not have the
//! token in it. Its secret works once, and leads to the link that has the token.

use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::call::Refusal;
use super::token::Token;
use crate::problem::Problem;

/// The way in, for the first client.
pub struct Launch {
    secret: Mutex<Option<Token>>,
    /// The page to open and the token, as they follow the address.
    target: String,
}

impl Launch {
    /// Creates the way to `target`, and returns the path of its link.
    ///
    /// # Errors
    ///
    /// When the system has no random numbers.
    pub fn new(target: String) -> Result<(Self, String), Problem> {
        let secret = Token::new()?;
        let path = format!("open/{}", secret.as_str());
        let secret = Mutex::new(Some(secret));
        Ok((Self { secret, target }, path))
    }

    /// Returns the target if this is the secret, and never again.
    fn redeem(&self, candidate: &str) -> Option<&str> {
        let mut secret = self.secret.lock().unwrap_or_else(PoisonError::into_inner);
        secret.take_if(|secret| secret.matches(candidate.as_bytes()))?;
        Some(&self.target)
    }
}

/// Sends the browser on.
pub async fn open(State(launch): State<Arc<Launch>>, Path(secret): Path<String>) -> Response {
    match launch.redeem(&secret) {
        Some(target) => {
            let location = [(header::LOCATION, target)];
            (StatusCode::SEE_OTHER, location).into_response()
        }
        None => Refusal::new(StatusCode::GONE, "this link is good only once")
            .help("open the link printed in your terminal")
            .into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::Launch;

    #[test]
    fn a_secret_is_good_once_and_a_guess_never() {
        let (launch, path) = Launch::new("/#token=x".into()).unwrap();
        let secret = path.strip_prefix("open/").unwrap();
        assert_eq!(launch.redeem(""), None);
        assert_eq!(launch.redeem(&secret[1..]), None);
        assert_eq!(launch.redeem(secret), Some("/#token=x"));
        assert_eq!(launch.redeem(secret), None);
    }
}
