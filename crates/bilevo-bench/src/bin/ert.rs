//! Solved runs and expected running times of a method; see [`bilevo_bench::ert`].

fn main() -> anyhow::Result<()> {
    let options = bilevo_bench::ert::Options::read(std::env::args().skip(1))?;
    bilevo_bench::ert::print(&options, &mut std::io::stdout().lock())
}
