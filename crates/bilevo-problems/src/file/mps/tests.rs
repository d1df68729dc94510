use super::*;

const MPS: &str = "NAME t\nROWS\n N c\n L r1\n G r2\n E r3\nCOLUMNS\n M 'MARKER' 'INTORG'\n x c 1 r1 2\n x r3 1\n M 'MARKER' 'INTEND'\n y(1) c -1 r1 1.5\n y(1) r2 1 r3 -1\nRHS\n r r1 6 r2 -1\n r c -4\nRANGES\n g r1 2\nBOUNDS\n UP b x 5\n MI b y(1)\nENDATA\n";
const AUX: &str = "N 1\nM 2\nLC 1\nLR 0\nLR 1\nLO 1\nOS -1\n";

fn written(mps: &str, aux: &str) -> Result<String, Mistake> {
    let mut instance = rows::read(mps)?;
    let lower = auxiliary::read(aux, &instance)?;
    bounds::tighten(&mut instance, &lower);
    write::problem("t", &instance, &lower)
}

#[test]
fn rows_ranges_bounds_and_names_are_kept() {
    // y is between -1 (r2) and (6 - 2 * 0) / 1.5 (r1): its own rows bound it.
    let wanted = "name = \"t\"\n\n[upper]\nminimize = \"x - y_1_ + 4\"\nvariables = { x = { integer = [0.0, 5.0] } }\n\
                  subject_to = [\"x - y_1_ == 0\"]\n\n[lower]\nmaximize = \"y_1_\"\nvariables = { y_1_ = [-1.0, 4.0] }\n\
                  subject_to = [\"2*x + 1.5*y_1_ >= 4\", \"2*x + 1.5*y_1_ <= 6\", \"y_1_ >= -1\"]\n";
    assert_eq!(written(MPS, AUX).unwrap(), wanted);
    assert!(super::super::parse("t", wanted, &mut |_| Err(String::new())).is_ok());
    let named = "@NUMVARS\n1\n@VARSBEGIN\ny(1) -1\n@VARSEND\n@CONSTRSBEGIN\nr1\nr2\n@CONSTRSEND\n";
    let other = wanted.replace("maximize = \"y_1_\"", "minimize = \"-y_1_\"");
    assert_eq!(written(MPS, named).unwrap(), other);
}

#[test]
fn a_row_of_the_leader_bounds_the_leader_alone() {
    let mps = "ROWS\n N c\n L up\nCOLUMNS\n x up 1\n y up 1\nRHS\n r up 8\nENDATA\n";
    let error = written(mps, "LC 1\nLO 1\n").unwrap_err();
    assert!(error.message.contains("`y` has no finite bounds: 0 to inf"), "{error:?}");
    let bound = mps.replace("ENDATA", "BOUNDS\n UP b y 3\nENDATA");
    assert!(written(&bound, "LC 1\nLO 1\n").unwrap().contains("x = [0.0, 8.0]"), "8 - 0");
}

#[test]
fn mistakes_are_told_with_their_line_and_a_way_out() {
    for (mps, aux, line, message) in [
        (MPS.replace("ENDATA\n", ""), AUX.into(), 0, "before ENDATA"),
        (MPS.replace("x c 1 r1 2", "x c 1 r9 2"), AUX.into(), 9, "no row `r9`"),
        (MPS.replace("r1 2\n x", "r1 two\n x"), AUX.into(), 9, "`two` is not a number"),
        (MPS.replace(" L r1", " Q r1"), AUX.into(), 4, "`Q` is no kind of row"),
        (MPS.replace(" L r1", " L c"), AUX.into(), 4, "two rows `c`"),
        (MPS.replace("UP b x 5", "UP b z 5"), AUX.into(), 20, "no column `z`"),
        (MPS.replace("RANGES", "QUADOBJ"), AUX.into(), 17, "`QUADOBJ` is no section"),
        (MPS.into(), AUX.replace("LC 1", "LC 2"), 3, "`2` is no column"),
        (MPS.into(), AUX.replace("LR 1\n", ""), 0, "`M` says 2, but there are 1"),
        (MPS.into(), AUX.replace("LO 1\n", ""), 0, "1 `LC` lines and 0 `LO` lines"),
        (MPS.into(), AUX.replace("OS -1", "IC 3"), 7, "interdiction"),
        (MPS.into(), String::new(), 0, "no variable of the follower"),
        (MPS.into(), "@VARSBEGIN\nz 1\n".to_string(), 2, "no column `z`"),
    ] {
        let error = written(&mps, &aux).unwrap_err();
        assert_eq!(error.line, line, "{error:?}");
        assert!(error.message.contains(message) && !error.hint.is_empty(), "{error:?}");
    }
}

#[test]
fn what_is_no_mps_file_does_not_panic() {
    for end in 0..MPS.len() {
        let _ = written(&MPS[..end], AUX);
        let _ = written(&MPS[end..], AUX);
    }
    for end in 0..AUX.len() {
        let _ = written(MPS, &AUX[..end]);
    }
    let _ = written("ROWS\n N\nCOLUMNS\n x\nRHS\n a\nBOUNDS\n UP\nENDATA\n", "LC\n@\n");
}
