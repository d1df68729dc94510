* The leader pays (cost) to make room; the follower packs what it likes best, of which the leader earns a share.
NAME packing
OBJSENSE
    MAX
ROWS
 N profit
 L budget
 L room
 L pairs
COLUMNS
 M1 'MARKER' 'INTORG'
 rooms profit -2 budget 1
 rooms room -3
 fee profit 3 budget 1.5
 fee pairs 1
 a profit 4 room 2
 a pairs 1
 b profit 1 room 1
 b pairs 1
 c profit 5 room 3
 M2 'MARKER' 'INTEND'
RHS
 rhs budget 7 room 1
 rhs pairs 4
BOUNDS
 UP bnd rooms 4
 UP bnd fee 2
 UP bnd a 3
 UP bnd b 3
 BV bnd c
ENDATA
