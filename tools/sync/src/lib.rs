//! std, loom or shuttle behind one name.
