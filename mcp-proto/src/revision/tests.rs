mod flags;
