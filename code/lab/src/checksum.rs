//! A checksum, against damage and against numbers changed by hand.

/// The 64-bit FNV-1a hash of `bytes`.
///
/// ```
/// assert_eq!(lab::checksum::fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
/// ```
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
