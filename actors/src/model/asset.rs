//! What is traded, by its canonical code.

use std::fmt;

/// Holds the canonical code of an asset: 1 to 16 characters of `A-Z` and `0-9`, kept in place and copied freely.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Asset([u8; Asset::LEN_MAX]);

/// Says why a text is no asset code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an asset code is 1 to 16 characters of A-Z and 0-9")]
pub struct AssetError;

impl Asset {
    /// The longest code, in characters.
    pub const LEN_MAX: usize = 16;

    /// Reads a code in any case. Old codes are not mapped here: that is the business of whoever knows where the text came from.
    ///
    /// # Errors
    /// [`AssetError`] where the text is empty, longer than [`Asset::LEN_MAX`], or has another character.
    pub fn new(text: &str) -> Result<Self, AssetError> {
        let bytes = text.as_bytes();
        let mut code = [0; Self::LEN_MAX];
        let room = code.get_mut(..bytes.len()).ok_or(AssetError)?;
        if bytes.is_empty() {
            return Err(AssetError);
        }
        for (to, from) in room.iter_mut().zip(bytes) {
            if !from.is_ascii_alphanumeric() {
                return Err(AssetError);
            }
            *to = from.to_ascii_uppercase();
        }
        Ok(Self(code))
    }

    /// Gives the code as text.
    pub fn as_str(&self) -> &str {
        let (code, len) = self.padded();
        // Only ASCII is ever stored, so the fallback is never taken.
        code.get(..len).and_then(|code| std::str::from_utf8(code).ok()).unwrap_or_default()
    }

    /// Gives the code with zeros behind it, and its length.
    #[inline]
    pub(crate) fn padded(&self) -> (&[u8; Self::LEN_MAX], usize) {
        let zeros = u128::from_le_bytes(self.0).leading_zeros() / 8;
        (&self.0, Self::LEN_MAX.saturating_sub(zeros as usize))
    }
}

impl PartialEq<str> for Asset {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Asset {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Display for Asset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Asset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_upper_case_ascii_letters_and_digits() {
        assert_eq!(Asset::new("btc").unwrap().as_str(), "BTC");
        assert_eq!(Asset::new("1000SATS").unwrap(), "1000SATS");
        assert_eq!(Asset::new("ABCDEFGHIJKLMNOP").unwrap().as_str(), "ABCDEFGHIJKLMNOP");
        for bad in ["", "ABCDEFGHIJKLMNOPQ", "B TC", "B-C", "牛来", "é", "\0"] {
            assert_eq!(Asset::new(bad), Err(AssetError), "{bad:?}");
        }
    }
}
