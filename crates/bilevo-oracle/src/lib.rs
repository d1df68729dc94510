//! Holds tests only, those of the ranking network that need heavy tools: whole trainings against
//! candle, a library that differentiates automatically, and a count of allocations. It is a crate
//! of its own so that nobody who builds or tests the others compiles these tools.
