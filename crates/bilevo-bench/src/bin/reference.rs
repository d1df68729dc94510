//! Best known values of random problems; see [`bilevo_bench::reference`].

fn main() -> anyhow::Result<()> {
    bilevo_bench::reference::print(std::env::args().skip(1), &mut std::io::stdout().lock())
}
