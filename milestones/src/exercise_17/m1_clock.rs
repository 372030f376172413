//! Time jumps, and nothing uses it yet.

super::given! {}
super::without_queue! {}
super::without_wire! {}
