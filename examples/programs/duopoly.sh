# The duopoly as a shell script. A request {"id":7,"level":"lower","x":[5.0],"y":[2.5]} becomes the
# words: id 7 level lower x 5.0 y 2.5
while read -r line; do
    set -- $(printf %s "$line" | tr -c 'a-z0-9.+-' ' ')
    case $4 in upper) own=$6 ;; lower) own=$8 ;; esac
    value=$(awk "BEGIN { printf \"%.17g\", $own * (12 - $6 - $8) }")
    echo "{\"id\":$2,\"value\":$value}"
done
