//! How often results that look alike are right; see [`bilevo_bench::calibrate`].

fn main() -> anyhow::Result<()> {
    let options = bilevo_bench::calibrate::Options::read(std::env::args().skip(1))?;
    bilevo_bench::calibrate::print(&options, &mut std::io::stdout().lock())
}
