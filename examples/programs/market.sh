# A solver as engineers have them: reads an input deck, works, writes a report.
# usage: sh market.sh DECK REPORT
awk '$1 == "producer" { own = $2 } $1 == "price" { price = $2 - $4 - $6 }
     END { printf "market report\n  price  = %.17g\n  profit = %.17g\n", price, own * price }' "$1" > "$2"
