* The example of Moore and Bard (1990) in whole numbers: the relaxed optimum rounds to nothing good.
NAME          MOOREBARD
ROWS
 N  COST
 L  R1
 L  R2
 L  R3
 L  R4
COLUMNS
    MARKER    'MARKER'  'INTORG'
    x         COST      -1.0   R1        -25.0
    x         R2          1.0   R3         2.0
    x         R4         -2.0
    y         COST      -10.0  R1        20.0
    y         R2          2.0   R3        -1.0
    y         R4        -10.0
    MARKER    'MARKER'  'INTEND'
RHS
    RHS       R1         30.0   R2        10.0
    RHS       R3         15.0   R4       -15.0
BOUNDS
 UP BND       x          10.0
 UP BND       y           5.0
ENDATA
