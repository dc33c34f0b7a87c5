mod round;
