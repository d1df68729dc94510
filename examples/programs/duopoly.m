% The duopoly in Octave 7 or later.
while true
  try
    ask = jsondecode(input("", "s")); % fgetl would wait for the next request
  catch
    break % no more requests
  end
  own = ask.y;
  if strcmp(ask.level, "upper")
    own = ask.x;
  end
  printf("{\"id\":%d,\"value\":%.17g}\n", ask.id, own * (12 - ask.x - ask.y));
  fflush(stdout);
end
