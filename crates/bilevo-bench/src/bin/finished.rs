//! How often finished runs are right, and whether they say so when they are not; see
//! [`bilevo_bench::finished`].

fn main() -> anyhow::Result<()> {
    let options = bilevo_bench::finished::Options::read(std::env::args().skip(1))?;
    bilevo_bench::finished::print(&options, &mut std::io::stdout().lock())
}
