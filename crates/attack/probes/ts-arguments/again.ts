say("next_run", "allowed");
