/// Whether a query may look only at keys up to its own position, or at both sides.
///
/// A bias needs to know: a causal one has nothing to say about the future, a bidirectional one
/// must spend part of its resolution on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Decoders: only keys at or before the query count.
    Causal,
    /// Encoders: keys on both sides count.
    Bidirectional,
}
